"""BM25 over posting lists in SQLite: `rank_bm25.BM25Okapi` with its arrays replaced by the stored lists.

The parent reads every document's dictionary for every term of a query; here only the posting lists of the
query's terms are read. The idf is the non-negative one, ln(1 + (N - n + 0.5) / (n + 0.5)) (Robertson and
Zaragoza 2009), so that a term in half of a small corpus still counts. N, n and the average length are those
of the passages allowed, so what may not be read has no influence on the ranking.
"""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from .postings import Ids, read_lengths, read_list, read_segments

K1 = 1.2
B = 0.75

REMEMBERED = 2_000_000
"""Postings kept in memory (24 bytes each): the questions of a conversation share most of their terms."""

LONG = 0.01
"""Share of the passages from which a list is long enough to ask first whether it must be added up."""

FAR = 5
"""Times a list is longer than the passages left, from which they are looked up in it."""

SLACK = 1 - 1e-9
"""What sums in another order can be off by."""

Weights = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class _List:
    """The allowed passages that hold a term, its counts, its idf and the most it can add to a score."""

    passages: Places
    counts: Ids
    idf: float
    most: float


class Keyword(BM25Okapi):  # type: ignore[misc]  # rank_bm25 carries no types
    """Score the allowed passages of a corpus; `allowed` is a mask by passage id."""

    def __init__(
        self, db: sqlite3.Connection, allowed: NDArray[np.bool_], k1: float = K1, b: float = B
    ) -> None:
        self._db = db
        self._allowed = allowed
        self.k1 = k1
        self.b = b
        self._segments = read_segments(db)
        lengths = read_lengths(db, len(allowed))
        self._all_allowed = bool(allowed[lengths > 0].all())
        self.corpus_size = int(allowed.sum())
        total = float(lengths[allowed].sum())
        self.avgdl = total / self.corpus_size if self.corpus_size else 0.0
        self._norms = self.k1 * (1 - self.b + self.b * lengths / self.avgdl) if total else lengths
        self._least_norm = float(self._norms[allowed].min()) if self.corpus_size else 0.0
        self._known: dict[str, _List] = {}
        self._weights: dict[str, Weights] = {}
        self._remembered = 0

    def search(self, terms: Sequence[str], k: int) -> list[tuple[int, float]]:
        """Return up to k (passage id, score > 0) by score, ties by id."""
        if k <= 0:
            return []
        able = self._able(terms, k)
        scores = self._exact(terms, able)
        order = np.lexsort((able, -scores))[:k]
        return [(int(able[i]), float(scores[i])) for i in order]

    def get_scores(self, query: Sequence[str]) -> Weights:
        """Return the score of each allowed passage in the order of ids, as the parent class does."""
        scores = np.zeros(len(self._allowed))
        for term in query:
            np.add.at(scores, self._list(term).passages, self._weighed(term))
        return scores[self._allowed]

    def get_batch_scores(self, query: Sequence[str], doc_ids: Sequence[int]) -> list[float]:
        """Return the scores of some allowed passages by their place in the order of ids."""
        scores: list[float] = self.get_scores(query)[list(doc_ids)].tolist()
        return scores

    def document_frequency(self, terms: Sequence[str]) -> dict[str, int]:
        """Return in how many allowed passages each term stands."""
        return {term: len(self._list(term).passages) for term in terms}

    def _able(self, terms: Sequence[str], k: int) -> Places:
        """Return the passages that can be among the best k, ascending; a term asked twice counts twice."""
        times = Counter(terms)
        bounds = {term: self._list(term).most * n for term, n in times.items()}
        scores, open_ = np.zeros(len(self._allowed)), sum(bounds.values())
        able: Places | None = None
        for term in sorted(bounds, key=lambda term: (-bounds[term], term)):
            found = self._list(term)
            if able is None and len(found.passages) > LONG * self.corpus_size:
                able = _still_able(scores, np.flatnonzero(scores > 0), k, open_)
            if able is not None and len(found.passages) > FAR * len(able):
                scores[able] += times[term] * self._weights_of(found, able)
            else:
                for _ in range(times[term]):
                    np.add.at(scores, found.passages, self._weighed(term))
            open_ = max(0.0, open_ - bounds[term])
            if able is not None:
                able = _still_able(scores, able, k, open_)
        left = np.flatnonzero(scores > 0) if able is None else able
        return left[scores[left] >= _kth_best(scores[left], k) * SLACK]

    def _weights_of(self, found: _List, passages: Places) -> Weights:
        """Return what a term adds to the scores of some passages, ascending by id; 0 where it is not."""
        weights = np.zeros(len(passages))
        if len(found.passages):
            at = np.minimum(np.searchsorted(found.passages, passages), len(found.passages) - 1)
            holds = np.flatnonzero(found.passages[at] == passages)
            weights[holds] = self._weight(found, found.counts[at[holds]], passages[holds])
        return weights

    def _exact(self, terms: Sequence[str], passages: Places) -> Weights:
        """Return the scores of some passages, ascending by id, added up in the order of the parent class."""
        scores = np.zeros(len(passages))
        for term in terms:
            scores += self._weights_of(self._list(term), passages)
        return scores

    def _weighed(self, term: str) -> Weights:
        """Return what a term adds to the score of each passage that holds it."""
        if term not in self._weights:
            found = self._list(term)
            self._weights[term] = self._weight(found, found.counts, found.passages)
        return self._weights[term]

    def _weight(self, found: _List, counts: Ids, passages: Places) -> Weights:
        times = counts.astype(np.float64)
        weights: Weights = found.idf * (times * (self.k1 + 1) / (times + self._norms.take(passages)))
        return weights

    def _list(self, term: str) -> _List:
        if term not in self._known:
            found = self._read(term)
            self._remembered += len(found.passages)
            if self._remembered > REMEMBERED:
                self._known.clear()
                self._weights.clear()
                self._remembered = len(found.passages)
            self._known[term] = found
        return self._known[term]

    def _read(self, term: str) -> _List:
        stored, counts = read_list(self._db, term, self._segments)
        passages = stored.astype(np.int64)
        if (passages[1:] < passages[:-1]).any():  # the ids of segments may overlap
            order = np.argsort(passages, kind="stable")
            passages, counts = passages[order], counts[order]
        if not self._all_allowed or (len(passages) and passages[-1] >= len(self._allowed)):
            inside = passages[: np.searchsorted(passages, len(self._allowed))]
            kept = np.flatnonzero(self._allowed.take(inside))
            passages, counts = passages[kept], counts[kept]
        idf = math.log(1 + (self.corpus_size - len(passages) + 0.5) / (len(passages) + 0.5))
        most = int(counts.max()) if len(counts) else 0
        return _List(
            passages, counts, idf, idf * most * (self.k1 + 1) / (most + self._least_norm) if most else 0.0
        )


def _still_able(scores: Weights, able: Places, k: int, open_: float) -> Places | None:
    """Return those that can be among the best k when `open_` is the most a score still grows.

    None when passages that no term was found in yet can be among them too.
    """
    reached = scores[able]
    floor = _kth_best(reached, k) * SLACK
    return able[reached >= floor - open_] if open_ < floor or not open_ else None


def _kth_best(scores: Weights, k: int) -> float:
    """Return the k-th best of scores above zero, zero where there are fewer."""
    return float(np.partition(scores, len(scores) - k)[len(scores) - k]) if len(scores) >= k else 0.0
