"""Whether the embeddings of an attached collection were made by the configured encoder, by measurement.

A collection that names its embedding function may name another model than made its vectors, or none: so a
sample of its documents is encoded and compared with what is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .attached import Attached, Record
from .embed import Encoder
from .errors import EncoderError

SAMPLE = 16
"""Records that are encoded to compare."""

WAY_OUT = "set encoder.model to the model that made them"

LEAST_COSINE = 0.98
"""The median cosine of both vectors of a document from which one encoder made both: rounding, quantised
weights and another library's batches stay above, another model does not."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How well an encoder's vectors match those of a collection: the median cosine over `sample` records.

    `space` is the encoder's fingerprint, `function` what the collection says of its own; a `sample` of 0
    means that there was nothing to compare.
    """

    space: str
    dimension: int
    cosine: float
    sample: int
    function: str

    def detail(self) -> dict[str, Any]:
        """Return what is kept with the source."""
        return asdict(self)


def check_fit(collection: Attached, encoder: Encoder, name: str) -> Fit:
    """Return how an encoder fits a collection; EncoderError names both and the way out when it does not."""
    records = _sample(collection, encoder)
    dimension = len(records[0].vector) if records and records[0].vector is not None else encoder.dimension
    if dimension != encoder.dimension:
        raise EncoderError(
            f"collection {name!r} holds vectors of {dimension} dimensions{_names(collection)} and the "
            f"configured encoder is {encoder.name} ({encoder.dimension} dimensions); {WAY_OUT}"
        )
    cosine = _cosine(records, encoder)
    if records and cosine < LEAST_COSINE:
        raise EncoderError(
            f"the vectors of collection {name!r}{_names(collection)} are not those of the configured "
            f"encoder {encoder.name}: over {len(records)} records their median cosine is {cosine:.2f}, "
            f"{LEAST_COSINE} is needed; {WAY_OUT}"
        )
    return Fit(encoder.fingerprint, dimension, round(cosine, 4), len(records), collection.function)


def _sample(collection: Attached, encoder: Encoder) -> list[Record]:
    """Return records with text and embedding from three places, if there are such that it reads whole."""
    count = collection.count()
    pages = [collection.page(offset) for offset in sorted({0, count // 3, 2 * count // 3})]
    found = {one.id: one for page in pages for one in page if one.text and one.vector is not None}
    records = list(found.values())
    lengths = encoder.count_tokens([one.text or "" for one in records])
    whole = [one for one, tokens in zip(records, lengths, strict=True) if tokens <= encoder.max_tokens]
    return _spread(whole or records)


def _spread(records: Sequence[Record]) -> list[Record]:
    if not records:
        return []
    places = np.linspace(0, len(records) - 1, min(SAMPLE, len(records))).astype(int)
    return [records[at] for at in places]


def _cosine(records: Sequence[Record], encoder: Encoder) -> float:
    if not records:
        return 0.0
    ours = encoder.encode_documents([one.text or "" for one in records])
    theirs = np.stack([one.vector for one in records if one.vector is not None])
    return float(np.median((ours * theirs).sum(axis=1)))


def _names(collection: Attached) -> str:
    return f" (it names {collection.function})" if collection.function else ""
