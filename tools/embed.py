"""Encode texts to unit vectors: batches of like length, long texts whole, queries remembered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np

from .errors import EncoderError
from .export import discard, exported
from .onnx_model import OnnxModel, Role, Vectors
from .weights import DEFAULT_NAMES, cache_folder, find_weights, identity

Done = Callable[[int], None]
"""Told after each batch how many texts are encoded."""

SPACE_VERSION = 1
"""Part of the fingerprint; raised when the same model would give other vectors than before."""

BATCH_TOKENS = 1024
"""Tokens of a batch at most, padding included: what stays in a core's cache (see evals/encoder_speed.py)."""

QUERIES = 256
"""Queries whose vectors are remembered."""

THREADS = 2


class Encoder(Protocol):
    """Encode texts to unit vectors of one space; `fingerprint` names the space."""

    @property
    def fingerprint(self) -> str:
        """Return what names the space: weights, tokenizer, configuration."""

    @property
    def name(self) -> str:
        """Return the name or folder by which people know the model."""

    @property
    def dimension(self) -> int:
        """Return the length of a vector."""

    @property
    def max_tokens(self) -> int:
        """Return how many tokens a text may have, special tokens included."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text as a document, special tokens and prompt included."""

    def encode_documents(self, texts: Sequence[str], done: Done | None = None) -> Vectors:
        """Return unit vectors (n, dimension); nothing of a long text is left out."""

    def encode_query(self, text: str) -> Vectors:
        """Return the unit vector (dimension,) of a query, cut at max_tokens."""


class Model(Protocol):
    """Run one batch of texts; OnnxModel and TorchModel are the two there are."""

    dimension: int
    max_tokens: int

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text as a document."""

    def run(self, texts: Sequence[str], role: Role) -> Vectors:
        """Return the unit vectors (n, dimension) of one batch, each text cut at max_tokens."""


def open_encoder(name: str | None = None, threads: int = THREADS) -> Encoder | None:
    """Return the encoder of a model folder or name (None: the default); None when no weights are installed.

    The first call for a model exports it, which takes some seconds; later ones load the export.
    """
    folder = find_weights(name)
    if folder is None:
        return None
    fingerprint = f"{identity(folder)}-v{SPACE_VERSION}"
    model = _shared_model(str(cache_folder()), folder, threads, fingerprint)
    return BatchEncoder(model, fingerprint, name or DEFAULT_NAMES[0])


@lru_cache(maxsize=2)
def _shared_model(cache: str, folder: Path, threads: int, fingerprint: str) -> Model:
    """Return the model of a folder as it is now; the agents of one process share it, for it takes 100 MB."""
    return _open_model(folder, threads)


def _open_model(folder: Path, threads: int) -> Model:
    for _ in range(2):
        graph = exported(folder)
        if graph is None:
            break
        try:
            return OnnxModel(graph, threads)
        except EncoderError:
            discard(graph)
    from .torch_model import TorchModel

    return TorchModel(folder, threads)


class BatchEncoder:
    """Feed a model with batches; both models of one folder fill the same space."""

    def __init__(self, model: Model, fingerprint: str, name: str) -> None:
        self._model = model
        self._remembered_query = lru_cache(maxsize=QUERIES)(self._encode_query)
        self.fingerprint = fingerprint
        self.name = name
        self.dimension = model.dimension
        self.max_tokens = model.max_tokens

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text as a document."""
        return self._model.count_tokens(texts) if texts else []

    def encode_documents(self, texts: Sequence[str], done: Done | None = None) -> Vectors:
        """Return unit vectors (n, dimension); a text above max_tokens is the mean of its pieces."""
        pieces, lengths, owners = self._pieces(texts)
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        waiting = np.bincount(owners, minlength=len(texts))
        for batch in batches(lengths):
            owner = [owners[i] for i in batch]
            np.add.at(vectors, owner, self._model.run([pieces[i] for i in batch], "document"))
            np.subtract.at(waiting, owner, 1)
            if done:
                done(int((waiting == 0).sum()))
        if len(pieces) > len(texts):
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def encode_query(self, text: str) -> Vectors:
        """Return the unit vector of a query; it is read-only."""
        return self._remembered_query(text)

    def _encode_query(self, text: str) -> Vectors:
        # An argument of the command line may hold bytes that are no text; the tokenizer refuses them.
        vector: Vectors = self._model.run([text.encode("utf-8", "replace").decode()], "query")[0]
        vector.flags.writeable = False
        return vector

    def _pieces(self, texts: Sequence[str]) -> tuple[list[str], list[int], list[int]]:
        """Return pieces no longer than max_tokens, their lengths, and the text each belongs to."""
        whole = list(zip(texts, self.count_tokens(texts), strict=True))
        found: list[tuple[str, int, int]] = []
        for owner, (text, length) in enumerate(whole):
            found += [(*piece, owner) for piece in self._halved(text, length)]
        return [one[0] for one in found], [one[1] for one in found], [one[2] for one in found]

    def _halved(self, text: str, length: int) -> list[tuple[str, int]]:
        if length <= self.max_tokens or len(text) < 2:
            return [(text, length)]
        halves = _halves(text)
        counted = zip(halves, self.count_tokens(halves), strict=True)
        return [piece for half, tokens in counted for piece in self._halved(half, tokens)]


def _halves(text: str) -> tuple[str, str]:
    """Cut a text at the last space of its first half, or in the middle of a long word."""
    middle = len(text) // 2
    space = text.rfind(" ", len(text) // 4, middle)
    at = middle if space < 1 else space
    return text[:at], text[at:]


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
