"""Export a sentence-transformers model once to ONNX, with its own pooling, normalisation and prompts.

The graph maps token ids to pooled vectors, so at run time neither torch nor sentence-transformers is loaded.
A model whose modules are not known here is not exported; it runs in sentence-transformers itself.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .weights import cache_folder, weights_hash

EXPORT_VERSION = 1
OPSET = 17


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the encoder must know beside the graph; `max_tokens` counts special tokens too."""

    dimension: int
    max_tokens: int
    query_prompt: str
    document_prompt: str
    inputs: tuple[str, ...]
    weights: str
    version: int = EXPORT_VERSION


def exported(folder: Path) -> Path | None:
    """Return the folder of the exported model, made now if need be; None when it cannot be exported."""
    digest = weights_hash(folder)
    target = cache_folder() / "encoders" / f"{digest[:24]}-{_config_mark(folder)}-v{EXPORT_VERSION}"
    if (target / "manifest.json").exists():
        return target
    if (target / "not-exportable").exists():
        return None
    return _export(folder, target, digest)


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of an exported model."""
    data = json.loads((folder / "manifest.json").read_text("utf-8"))
    return Manifest(**{**data, "inputs": tuple(data["inputs"])})


def _config_mark(folder: Path) -> str:
    """Return a mark of the small files that shape vectors: pooling, prompts, sequence length."""
    from hashlib import blake2b

    digest = blake2b(digest_size=6)
    for path in sorted(folder.rglob("*.json")):
        if path.name not in ("vocab.json", "tokenizer.json"):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _export(folder: Path, target: Path, digest: str) -> Path | None:
    """Export into a draft folder that takes its place whole; of two exports at once the first one stays."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=target.parent, prefix=".draft-"))
    try:
        with _quiet():
            done = _write(folder, draft, digest)
        if not done:
            (draft / "not-exportable").write_text("its modules are not known to quaere\n", "utf-8")
        with contextlib.suppress(OSError):
            draft.rename(target)
        return target if (target / "manifest.json").exists() else None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _write(folder: Path, draft: Path, digest: str) -> bool:
    """Write graph, tokenizer and manifest; False when the model has modules that are not known here."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
    pooled = _pooled(model)
    tokenizer = getattr(model.tokenizer, "backend_tokenizer", None)
    if pooled is None or tokenizer is None:
        return False
    inputs = _inputs(model)
    sample = model.tokenizer(["a sample text", "another"], padding=True, return_tensors="pt")
    batch = {0: "batch", 1: "tokens"}
    with torch.no_grad():
        torch.onnx.export(
            pooled,
            tuple(sample[name] for name in inputs),
            str(draft / "model.onnx"),
            input_names=list(inputs),
            output_names=["vectors"],
            dynamic_axes={**dict.fromkeys(inputs, batch), "vectors": {0: "batch"}},
            dynamo=False,
            opset_version=OPSET,
        )
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.save(str(draft / "tokenizer.json"))
    manifest = _manifest(model, inputs, digest)
    (draft / "manifest.json").write_text(json.dumps(asdict(manifest)), "utf-8")
    return True


def _manifest(model: Any, inputs: tuple[str, ...], digest: str) -> Manifest:  # noqa: ANN401  (SentenceTransformer)
    prompts = model.prompts or {}
    document = next((prompts[name] for name in ("document", "passage", "corpus") if prompts.get(name)), "")
    return Manifest(
        dimension=int(model.get_embedding_dimension()),
        max_tokens=int(model.max_seq_length or 512),
        query_prompt=prompts.get("query") or "",
        document_prompt=document,
        inputs=inputs,
        weights=digest,
    )


def _inputs(model: Any) -> tuple[str, ...]:  # noqa: ANN401  (SentenceTransformer)
    """Return the tensors the transformer takes, token ids and mask first."""
    names = ["input_ids", "attention_mask", "token_type_ids"]
    return tuple(name for name in names if name in model.tokenizer.model_input_names or name != names[2])


def _pooled(model: Any) -> Any:  # noqa: ANN401  (SentenceTransformer -> torch module)
    """Return one module that runs transformer, pooling, dense layers and normalisation; None when unknown."""
    import torch

    known = {"Transformer", "Pooling", "Normalize", "Dense"}
    modules = list(model.children())
    if (
        not modules
        or type(modules[0]).__name__ != "Transformer"
        or {type(m).__name__ for m in modules} - known
    ):
        return None
    transformer = modules[0].auto_model
    transformer.set_attn_implementation("eager")
    names = _inputs(model)

    class Pooled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.transformer = transformer
            self.rest = torch.nn.ModuleList(modules[1:])

        def forward(self, *tensors: Any) -> Any:  # noqa: ANN401  (tensors)
            given = dict(zip(names, tensors, strict=True))
            hidden = self.transformer(**given, return_dict=True).last_hidden_state
            features = {"token_embeddings": hidden, "attention_mask": given["attention_mask"]}
            for module in self.rest:
                features = module(features)
            return torch.nn.functional.normalize(features["sentence_embedding"], p=2.0, dim=1)

    return Pooled().eval()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep the exporter's progress bars, warnings and logs off the terminal."""
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            with contextlib.redirect_stdout(io.StringIO()):
                yield
    finally:
        logging.disable(level)
