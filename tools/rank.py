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
    r"\b(?:not|no|never|without|neither|nor|none|nobody|nothing|cannot|except|excluding|unless|until|only|"
    r"hardly|rarely|\w+n['’]t)\b",
    re.IGNORECASE,
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

    A text joins a group only when the first one holds all its words in almost the same order, and when
    numbers, identifiers and negations agree one by one: what a reader could learn from it is not lost.
    """
    looks = [_look(text) for text in texts]
    groups: list[list[int]] = []
    for i, look in enumerate(looks):
        twin = next((group for group in groups if _says_all(looks[group[0]], look)), None)
        if twin is None:
            groups.append([i])
        else:
            twin.append(i)
    return groups


@dataclass(frozen=True, slots=True)
class _Look:
    """A text as it is compared: `exact` holds what may not differ, in order."""

    words: frozenset[str]
    shingles: frozenset[tuple[str, ...]]
    exact: tuple[tuple[str, ...], ...]


def _look(text: str) -> _Look:
    found = terms(text)
    numbers = tuple(term for term in found if any(c.isdigit() for c in term))
    negations = tuple(word.casefold() for word in _NEGATION.findall(text))
    width = min(SHINGLE, len(found))
    shingles = frozenset(tuple(found[i : i + width]) for i in range(len(found) - width + 1) if width)
    return _Look(frozenset(found), shingles, (numbers, negations, tuple(identifiers(text))))


def _says_all(one: _Look, other: _Look) -> bool:
    """Tell whether nothing is lost when one text stands for the other; order and identity matter."""
    if one.exact != other.exact or not other.words <= one.words:
        return False
    either = len(one.shingles | other.shingles)
    return either == 0 or len(one.shingles & other.shingles) / either >= SAME
