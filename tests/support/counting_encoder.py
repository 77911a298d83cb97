"""An encoder small enough to see through: lengths and letters, and what was encoded in which order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

LETTERS = "aeiourtnsldm"


class CountingEncoder:
    """Encode texts to small unit vectors and remember each text that was encoded; tokens are words."""

    def __init__(
        self,
        fingerprint: str = "counting",
        stop_after: int | None = None,
        max_tokens: int = 256,
        dimension: int = 4,
    ) -> None:
        self.fingerprint = self.name = fingerprint
        self.stop_after = stop_after
        self.max_tokens = max_tokens
        self.dimension = dimension
        self.encoded: list[str] = []

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) + 2 for text in texts]

    def encode_documents(
        self, texts: Sequence[str], done: Callable[[int], None] | None = None
    ) -> NDArray[np.float32]:
        """Encode; KeyboardInterrupt, as from ctrl-C, once `stop_after` texts are encoded."""
        if self.stop_after is not None and len(self.encoded) >= self.stop_after:
            raise KeyboardInterrupt
        self.encoded += texts
        return np.array([self.encode_query(text) for text in texts])

    def encode_query(self, text: str) -> NDArray[np.float32]:
        counts = [text.count(letter) for letter in LETTERS[: self.dimension - 1]]
        raw = np.array([1, *counts], np.float32)
        return raw / np.linalg.norm(raw)
