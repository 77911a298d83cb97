"""Fuse rankings by reciprocal ranks, and group passages that say the same."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .analyze import identifiers, terms

RRF_K = 60
"""Constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""

SHINGLE = 3
"""Index terms of a shingle."""

SAME = 0.9
"""Jaccard similarity of shingles from which two texts say the same, if nothing that matters differs."""

_NEGATION = re.compile(
    r"\b(?:not|no|never|without|neither|nor|none|cannot|except|unless|only|\w+n['’]t)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Fused:
    """A fused hit with every rank (from 1) that contributed."""

    id: int
    score: float
    ranks: Mapping[str, int] = field(default_factory=dict)


def fuse(
    rankings: Mapping[str, Sequence[int]], k: int = RRF_K, weights: Mapping[str, float] | None = None
) -> list[Fused]:
    """Return the sum of weight / (k + rank) of each id, best first, ties by id.

    An id that stands twice in a ranking counts where it stands first.
    """
    ranks: dict[int, dict[str, int]] = defaultdict(dict)
    for channel, ids in rankings.items():
        for rank, id in enumerate(ids, 1):
            ranks[id].setdefault(channel, rank)
    given = weights or {}
    fused = [
        Fused(id, sum(given.get(channel, 1.0) / (k + found[channel]) for channel in sorted(found)), found)
        for id, found in ranks.items()
    ]
    return sorted(fused, key=lambda hit: (-hit.score, hit.id))


def cluster(texts: Sequence[str]) -> list[list[int]]:
    """Group the indices of texts that say the same, in order; the first of a group stands for it.

    Texts are only grouped when their identifiers, numbers and negations agree exactly.
    """
    marks = [_mark(text) for text in texts]
    shingles = [_shingles(text) for text in texts]
    groups: list[list[int]] = []
    for i in range(len(texts)):
        twin = next(
            (g for g in groups if marks[g[0]] == marks[i] and _alike(shingles[g[0]], shingles[i])), None
        )
        if twin is None:
            groups.append([i])
        else:
            twin.append(i)
    return groups


def _alike(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> bool:
    shared, either = len(one & other), len(one | other)
    return either == 0 or shared / either >= SAME


def _mark(text: str) -> tuple[tuple[str, ...], ...]:
    """Return what may not differ between texts that say the same."""
    found = terms(text)
    numbers = tuple(sorted(term for term in found if any(c.isdigit() for c in term)))
    negations = tuple(sorted(word.casefold() for word in _NEGATION.findall(text)))
    return numbers, negations, tuple(sorted(identifiers(text)))


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    found = terms(text)
    width = min(SHINGLE, len(found))
    return frozenset(tuple(found[i : i + width]) for i in range(len(found) - width + 1) if width)
