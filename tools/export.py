"""Export a sentence-transformers model once to ONNX, with its own pooling, normalisation and prompts.

The graph maps token ids to unit vectors, so at run time neither torch nor sentence-transformers is loaded.
An export is kept only when it gives the vectors of the original on a few texts; a model that is built
otherwise, or differs, runs in sentence-transformers itself.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from .errors import EncoderError
from .onnx_model import GRAPH, MANIFEST, TOKENIZER, Manifest, OnnxModel, read_manifest
from .torch_model import document_prompt, load_model, quiet, token_bound
from .weights import cache_folder, identity

EXPORT_VERSION = 2
"""Raised when the files of an export change; older ones are then made again."""

OPSET = 17
REFUSED = "not-exportable"
KNOWN_MODULES = {"Transformer", "Pooling", "Dense", "Normalize"}

CLOSENESS = 1e-4
"""How far the cosine of exported and original vectors may be from 1."""

SAMPLES = (
    "A short text.",
    "Where does the 2nd parcel wait, and who signed § 12(3) of the contract on 4 May 1998?",
    "An order is shipped from the warehouse on the next working day. " * 12,
    "ERR-4042",
)

_EXPORTER_GAVE_UP = (
    RuntimeError,
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    AssertionError,
    EncoderError,
)


def exported(folder: Path) -> Path | None:
    """Return the folder of the exported model, made now if need be; None when there can be none.

    That is: the model is not exportable, or the cache cannot be written.
    """
    target = cache_folder() / "encoders" / f"{identity(folder)}.{EXPORT_VERSION}"
    if read_manifest(target) is not None:
        return target
    if (target / REFUSED).exists():
        return None
    return _export(folder, target)


def discard(target: Path) -> None:
    """Remove an export that turned out to be damaged."""
    shutil.rmtree(target, ignore_errors=True)


def _export(folder: Path, target: Path) -> Path | None:
    """Export into a draft folder that takes its place whole; of two exports at once the first one stays."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=target.parent, prefix=".draft-"))
    except OSError:
        return None
    try:
        model = load_model(folder)
        with quiet():
            _write_or_refuse(model, draft)
        if read_manifest(target) is None:
            discard(target)
        with contextlib.suppress(OSError):
            draft.rename(target)
        return target if read_manifest(target) is not None else None
    except OSError:
        return None
    finally:
        discard(draft)


def _write_or_refuse(model: Any, draft: Path) -> None:  # noqa: ANN401  (SentenceTransformer)
    """Write the export, or the reason why there is none."""
    try:
        why = _write(model, draft)
    except _EXPORTER_GAVE_UP as error:
        why = f"{type(error).__name__}: {error}"
    if why:
        for path in draft.iterdir():
            path.unlink()
        (draft / REFUSED).write_text(f"{why}\n", "utf-8")


def _write(model: Any, draft: Path) -> str:  # noqa: ANN401  (SentenceTransformer)
    """Write graph, tokenizer and manifest; return why the model is not exportable, or nothing."""
    names = [type(module).__name__ for module in model.children()]
    if names[:1] != ["Transformer"] or set(names) - KNOWN_MODULES:
        return f"its modules are {', '.join(names)}"
    tokenizer = getattr(model.tokenizer, "backend_tokenizer", None)
    if tokenizer is None:
        return "its tokenizer has no fast form"
    inputs = tuple(name for name in model.tokenizer.model_input_names if name in _OFFERED)
    _write_graph(model, inputs, draft / GRAPH)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.save(str(draft / TOKENIZER))
    _write_manifest(model, inputs, draft)
    return _difference(model, draft)


_OFFERED = ("input_ids", "attention_mask", "token_type_ids")


def _write_graph(model: Any, inputs: tuple[str, ...], path: Path) -> None:  # noqa: ANN401
    import torch

    sample = model.tokenizer(["a sample text", "another"], padding=True, return_tensors="pt")
    with torch.no_grad():
        torch.onnx.export(
            _pooled(model, inputs),
            tuple(sample[name] for name in inputs),
            str(path),
            input_names=list(inputs),
            output_names=["vectors"],
            dynamic_axes={**{name: {0: "batch", 1: "tokens"} for name in inputs}, "vectors": {0: "batch"}},
            dynamo=False,
            opset_version=OPSET,
        )


def _pooled(model: Any, inputs: tuple[str, ...]) -> Any:  # noqa: ANN401  (torch module)
    """Return one module that runs the transformer, what follows it in the model, and normalisation."""
    import torch

    first, *rest = model.children()
    transformer = first.auto_model
    transformer.set_attn_implementation("eager")

    class Pooled(torch.nn.Module):  # type: ignore[misc]  # mypy does not follow torch
        def __init__(self) -> None:
            super().__init__()
            self.transformer = transformer
            self.rest = torch.nn.ModuleList(rest)

        def forward(self, *tensors: Any) -> Any:  # noqa: ANN401
            given = dict(zip(inputs, tensors, strict=True))
            hidden = self.transformer(**given, return_dict=True).last_hidden_state
            features = {"token_embeddings": hidden, "attention_mask": given["attention_mask"]}
            for module in self.rest:
                features = module(features)
            return torch.nn.functional.normalize(features["sentence_embedding"], p=2.0, dim=1)

    return Pooled().eval()


def _write_manifest(model: Any, inputs: tuple[str, ...], draft: Path) -> None:  # noqa: ANN401
    manifest = Manifest(
        dimension=int(model.get_embedding_dimension()),
        max_tokens=token_bound(model),
        prompts={"query": (model.prompts or {}).get("query") or "", "document": document_prompt(model)},
        inputs=inputs,
        pad=int(model.tokenizer.pad_token_id or 0),
        sizes={path.name: path.stat().st_size for path in draft.iterdir()},
    )
    (draft / MANIFEST).write_text(json.dumps(asdict(manifest)), "utf-8")


def _difference(model: Any, draft: Path) -> str:  # noqa: ANN401  (SentenceTransformer)
    """Return how the export differs from the original on the samples, or nothing."""
    texts, again = list(SAMPLES), OnnxModel(draft, 1)
    wanted = np.vstack(
        [
            model.encode_document(texts, normalize_embeddings=True, show_progress_bar=False),
            model.encode_query(texts, normalize_embeddings=True, show_progress_bar=False),
        ]
    )
    found = np.vstack([again.run(texts, "document"), again.run(texts, "query")])
    if wanted.shape != found.shape:
        return f"vectors of {found.shape[1]} dimensions instead of {wanted.shape[1]}"
    worst = float((wanted * found).sum(axis=1).min())
    return "" if worst >= 1 - CLOSENESS else f"a cosine of {worst:.5f} to the original"
