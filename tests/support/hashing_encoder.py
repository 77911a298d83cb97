"""An encoder whose vectors point anywhere, equal for equal texts: as many passages as a test wants, at once."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from counting_encoder import CountingEncoder
from numpy.typing import NDArray


class HashingEncoder(CountingEncoder):
    """Encode a text to the random unit vector that its hash names."""

    def __init__(self, fingerprint: str = "hashing", dimension: int = 24, max_tokens: int = 256) -> None:
        super().__init__(fingerprint, max_tokens=max_tokens, dimension=dimension)

    def encode_query(self, text: str) -> NDArray[np.float32]:
        seed = int.from_bytes(blake2b(f"{self.fingerprint} {text}".encode(), digest_size=8).digest())
        raw = np.random.default_rng(seed).standard_normal(self.dimension).astype(np.float32)
        return raw / np.linalg.norm(raw)

    def encode_documents(self, texts: Sequence[str], done: object = None) -> NDArray[np.float32]:
        self.encoded += texts
        return np.array([self.encode_query(text) for text in texts])
