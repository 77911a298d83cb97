"""Run a model exported to ONNX: texts to token ids to vectors, without torch or transformers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .errors import EncoderError

Vectors = NDArray[np.float32]
Role = Literal["document", "query"]

GRAPH = "model.onnx"
TOKENIZER = "tokenizer.json"
MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What must be known beside the graph: `max_tokens` counts special tokens, `sizes` bytes by file name."""

    dimension: int
    max_tokens: int
    prompts: Mapping[str, str]
    inputs: tuple[str, ...]
    pad: int
    sizes: Mapping[str, int]


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest of an exported model, None when the export is not there or not whole."""
    try:
        data = json.loads((folder / MANIFEST).read_text("utf-8"))
        manifest = Manifest(**{**data, "inputs": tuple(data["inputs"])})
        sizes = {name: (folder / name).stat().st_size for name in manifest.sizes}
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return manifest if sizes == manifest.sizes else None


class OnnxModel:
    """Hold an exported model in memory; it may be used from several threads at once."""

    def __init__(self, folder: Path, threads: int) -> None:
        manifest = read_manifest(folder)
        if manifest is None:
            raise EncoderError(f"the exported encoder in {folder} is damaged; delete that folder")
        self._manifest = manifest
        self._session = _session(folder / GRAPH, threads)
        self._tokenizer = _tokenizer(folder / TOKENIZER)
        self.dimension = manifest.dimension
        self.max_tokens = manifest.max_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text as a document."""
        return [len(ids) for ids in self._ids(texts, "document")]

    def run(self, texts: Sequence[str], role: Role) -> Vectors:
        """Return the unit vectors (n, dimension) of one batch, each text cut at max_tokens."""
        ids = [_cut(one, self.max_tokens) for one in self._ids(texts, role)]
        shape = (len(ids), max(map(len, ids)))
        tokens = np.full(shape, self._manifest.pad, np.int64)
        mask = np.zeros(shape, np.int64)
        for row, one in enumerate(ids):
            tokens[row, : len(one)] = one
            mask[row, : len(one)] = 1
        given = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        vectors: Vectors = self._session.run(None, {name: given[name] for name in self._manifest.inputs})[0]
        return vectors

    def _ids(self, texts: Sequence[str], role: Role) -> list[list[int]]:
        prompt = self._manifest.prompts[role]
        return [one.ids for one in self._tokenizer.encode_batch_fast([prompt + text for text in texts])]


def _cut(ids: list[int], most: int) -> list[int]:
    """Cut a text and keep its closing special token, as the tokenizer's own truncation does."""
    return ids if len(ids) <= most else [*ids[: most - 1], ids[-1]]


def _session(graph: Path, threads: int) -> Any:  # noqa: ANN401  (onnxruntime has no types)
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    # Waiting threads that spin take the cores from everything else that runs on a small machine.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    except (state.Fail, state.InvalidGraph, state.InvalidProtobuf, state.NotImplemented) as error:
        raise EncoderError(f"the exported encoder {graph} is damaged; delete its folder") from error


def _tokenizer(file: Path) -> Any:  # noqa: ANN401  (tokenizers' own type is looser)
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(file))
