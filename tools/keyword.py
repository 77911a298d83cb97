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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from .postings import Counts, Ids, read_lengths, read_list, read_segments

K1 = 1.2
B = 0.75

REMEMBERED = 4_000_000
"""Postings kept in memory, 5 to 13 bytes each: the questions of a conversation share most of their terms."""

LONG = 0.01
"""Share of the passages above which a list is long: it is added up only where looking it up is not enough."""

SLACK = 1 - 1e-9
"""What sums in another order can be off by."""

Weights = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class _List:
    """The allowed passages that hold a term, its counts, its idf and the most it can add to a score."""

    passages: Ids
    counts: Counts
    idf: float
    most: float


class Keyword(BM25Okapi):  # type: ignore[misc]  # rank_bm25 carries no types
    """Score the allowed passages of a corpus, in one thread; `allowed` is a mask by passage id."""

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
        self._sums = np.zeros(len(allowed))
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
            np.add.at(scores, self._list(term).passages.astype(np.intp), self._weighed(term))
        return scores[self._allowed]

    def get_batch_scores(self, query: Sequence[str], doc_ids: Sequence[int]) -> list[float]:
        """Return the scores of some allowed passages by their place in the order of ids."""
        scores: list[float] = self.get_scores(query)[list(doc_ids)].tolist()
        return scores

    def document_frequency(self, terms: Sequence[str]) -> dict[str, int]:
        """Return in how many allowed passages each term stands."""
        return {term: len(self._list(term).passages) for term in terms}

    def _able(self, terms: Sequence[str], k: int) -> Ids:
        """Return the passages that can be among the best k, ascending; a term asked twice counts twice."""
        times = Counter(terms)
        bounds = {term: self._list(term).most * n for term, n in times.items()}
        ranked = sorted(bounds, key=lambda term: (-bounds[term], term))
        long = [term for term in ranked if len(self._list(term).passages) > LONG * self.corpus_size]
        able, sums = self._summed([term for term in ranked if term not in long], times)
        open_ = sum(bounds[term] for term in long)
        for term in long:
            floor = _kth_best(sums, k) * SLACK
            if open_ < floor:
                near = sums >= floor - open_
                able, sums = able[near], sums[near]
                sums = sums + times[term] * self._weights_of(self._list(term), able)
            else:
                able, sums = self._widened(able, sums, term, times[term])
            open_ = max(0.0, open_ - bounds[term])
        return able[sums >= _kth_best(sums, k) * SLACK]

    def _summed(self, terms: Sequence[str], times: Mapping[str, int]) -> tuple[Ids, Weights]:
        """Return the passages that hold any of some terms, ascending, with what the terms add to each."""
        if not terms:
            return np.zeros(0, np.uint32), np.zeros(0)
        passages = np.concatenate([self._list(term).passages for term in terms])
        weights = np.concatenate([self._weighed(term) * times[term] for term in terms])
        order = np.argsort(passages, kind="stable")
        passages, weights = passages[order], weights[order]
        first = np.flatnonzero(np.append(True, passages[1:] != passages[:-1])[: len(passages)])
        return passages[first], np.add.reduceat(weights, first) if len(first) else weights

    def _widened(self, able: Ids, sums: Weights, term: str, times: int) -> tuple[Ids, Weights]:
        """Return the passages summed up so far and all those of a term, with the term added."""
        self._sums.fill(0)  # the same memory each time: fresh memory would cost more than the sums
        self._sums[able] = sums
        for _ in range(times):
            np.add.at(self._sums, self._list(term).passages.astype(np.intp), self._weighed(term))
        wider = np.flatnonzero(self._sums > 0)
        return wider.astype(np.uint32), self._sums[wider]

    def _weights_of(self, found: _List, passages: Ids) -> Weights:
        """Return what a term adds to the scores of some passages, ascending by id; 0 where it is not."""
        weights = np.zeros(len(passages))
        if len(found.passages):
            at = np.minimum(np.searchsorted(found.passages, passages), len(found.passages) - 1)
            holds = np.flatnonzero(found.passages[at] == passages)
            weights[holds] = self._weight(found, found.counts[at[holds]], passages[holds])
        return weights

    def _exact(self, terms: Sequence[str], passages: Ids) -> Weights:
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

    def _weight(self, found: _List, counts: Counts, passages: Ids) -> Weights:
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
        passages, counts = read_list(self._db, term, self._segments)
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


def _kth_best(scores: Weights, k: int) -> float:
    """Return the k-th best of scores above zero, zero where there are fewer."""
    return float(np.partition(scores, len(scores) - k)[len(scores) - k]) if len(scores) >= k else 0.0
