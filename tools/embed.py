"""Encode texts to unit vectors: ONNX Runtime over an exported model, or sentence-transformers itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .errors import EncoderError
from .export import Manifest, exported, read_manifest
from .weights import find_weights, weights_hash

Vectors = NDArray[np.float32]
Done = Callable[[int], None]

BATCH_TOKENS = 4096
"""Tokens of a batch at most, padding included: long texts go in small batches, short ones in large ones."""

THREADS = 2


class Encoder(Protocol):
    """Encode texts to unit vectors of one space; `fingerprint` names the space."""

    @property
    def fingerprint(self) -> str:
        """Return what names the space: weights, configuration and export."""

    @property
    def dimension(self) -> int:
        """Return the length of a vector."""

    @property
    def max_tokens(self) -> int:
        """Return how many tokens a text may have, special tokens included."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text as a document, special tokens and prompt included."""

    def encode_documents(self, texts: Sequence[str], done: Done | None = None) -> Vectors:
        """Return unit vectors (n, dimension); `done` is told how many texts are encoded after each batch."""

    def encode_query(self, text: str) -> Vectors:
        """Return the unit vector (dimension,) of a query, cut at max_tokens."""


def open_encoder(name: str | None = None, threads: int = THREADS) -> Encoder | None:
    """Return the encoder of a model folder or name (None: the default); None when no weights are installed."""
    folder = find_weights(name)
    if folder is None:
        return None
    graph = exported(folder)
    return OnnxEncoder(graph, threads) if graph is not None else TorchEncoder(folder, threads)


class OnnxEncoder:
    """Run an exported model; neither torch nor transformers is imported."""

    def __init__(self, folder: Path, threads: int = THREADS) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        self._manifest: Manifest = read_manifest(folder)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._query = lru_cache(maxsize=256)(self._encode_query)
        self.fingerprint = f"onnx{self._manifest.version}:{folder.name}"
        self.dimension = self._manifest.dimension
        self.max_tokens = self._manifest.max_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text as a document."""
        prompt = self._manifest.document_prompt
        return [len(one.ids) for one in self._tokenizer.encode_batch_fast([prompt + text for text in texts])]

    def encode_documents(self, texts: Sequence[str], done: Done | None = None) -> Vectors:
        """Return unit vectors (n, dimension); texts longer than max_tokens are cut."""
        prompt = self._manifest.document_prompt
        ids = [
            self._cut(one.ids) for one in self._tokenizer.encode_batch_fast([prompt + text for text in texts])
        ]
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        finished = 0
        for batch in batches([len(one) for one in ids]):
            vectors[batch] = self._run([ids[i] for i in batch])
            finished += len(batch)
            if done:
                done(finished)
        return vectors

    def encode_query(self, text: str) -> Vectors:
        """Return the unit vector of a query."""
        return self._query(text)

    def _encode_query(self, text: str) -> Vectors:
        ids = self._tokenizer.encode(self._manifest.query_prompt + text).ids
        vector: Vectors = self._run([self._cut(ids)])[0]
        vector.flags.writeable = False
        return vector

    def _cut(self, ids: list[int]) -> list[int]:
        """Cut a text at max_tokens and keep its closing special token, as the tokenizer's own truncation does."""
        return ids if len(ids) <= self.max_tokens else [*ids[: self.max_tokens - 1], ids[-1]]

    def _run(self, ids: Sequence[Sequence[int]]) -> Vectors:
        width = max(len(one) for one in ids)
        tokens = np.zeros((len(ids), width), np.int64)
        mask = np.zeros((len(ids), width), np.int64)
        for row, one in enumerate(ids):
            tokens[row, : len(one)] = one
            mask[row, : len(one)] = 1
        given = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        feed = {name: given[name] for name in self._manifest.inputs}
        vectors: Vectors = self._session.run(None, feed)[0]
        return vectors


def batches(lengths: Sequence[int], most: int = BATCH_TOKENS) -> list[list[int]]:
    """Return batches of indices by length, each of at most `most` padded tokens (or one text)."""
    order = sorted(range(len(lengths)), key=lambda i: (lengths[i], i))
    found: list[list[int]] = []
    for i in order:
        if found and (len(found[-1]) + 1) * lengths[i] <= most:
            found[-1].append(i)
        else:
            found.append([i])
    return found


class TorchEncoder:
    """Run a model that cannot be exported in sentence-transformers itself."""

    def __init__(self, folder: Path, threads: int = THREADS) -> None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        import torch
        from sentence_transformers import SentenceTransformer

        torch.set_num_threads(threads)
        try:
            self._model = SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        except (OSError, ValueError) as error:
            raise EncoderError(
                f"{folder} is no sentence-transformers model: {str(error).splitlines()[0]}"
            ) from error
        self.fingerprint = f"torch:{weights_hash(folder)[:24]}"
        self.dimension = int(self._model.get_embedding_dimension() or 0)
        self.max_tokens = int(self._model.max_seq_length or 512)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text as a document."""
        found = self._model.tokenizer(list(texts), truncation=False)["input_ids"]
        return [len(ids) for ids in found]

    def encode_documents(self, texts: Sequence[str], done: Done | None = None) -> Vectors:
        """Return unit vectors (n, dimension)."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        vectors: Vectors = self._model.encode_document(
            list(texts), normalize_embeddings=True, show_progress_bar=False
        )
        if done:
            done(len(texts))
        return vectors.astype(np.float32)

    def encode_query(self, text: str) -> Vectors:
        """Return the unit vector of a query."""
        vector: Vectors = self._model.encode_query(text, normalize_embeddings=True, show_progress_bar=False)
        return vector.astype(np.float32)
