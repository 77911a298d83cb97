"""BM25 over posting lists in SQLite: `rank_bm25.BM25Okapi` with its arrays replaced by what the corpus stores.

The parent reads every document's dictionary for every term of a query; here only the posting lists of the
query's terms are read. The idf is the non-negative one, ln(1 + (N - n + 0.5) / (n + 0.5)) (Robertson and
Zaragoza 2009), so that a term in half of a small corpus still counts. N, n and the average length are those
of the passages allowed, so what may not be read has no influence on the ranking.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from .postings import Ids, read_lengths, read_lists

K1 = 1.2
B = 0.75


class Keyword(BM25Okapi):  # type: ignore[misc]  # rank_bm25 carries no types
    """Score the allowed passages of a corpus; `allowed` is a mask by passage id."""

    def __init__(
        self, db: sqlite3.Connection, allowed: NDArray[np.bool_], k1: float = K1, b: float = B
    ) -> None:
        self._db = db
        self._allowed = allowed
        self.k1 = k1
        self.b = b
        self._lengths = read_lengths(db, len(allowed))
        self.corpus_size = int(allowed.sum())
        total = float(self._lengths[allowed].sum())
        self.avgdl = total / self.corpus_size if self.corpus_size else 0.0
        self._known: dict[str, tuple[Ids, Ids]] = {}

    def search(self, terms: Sequence[str], k: int) -> list[tuple[int, float]]:
        """Return up to k (passage id, score > 0) by score, ties by id."""
        scores = self._scores(terms)
        hits = np.flatnonzero(scores > 0)
        if len(hits) > k > 0:
            floor = np.partition(scores[hits], len(hits) - k)[len(hits) - k]
            hits = hits[scores[hits] >= floor]
        order = np.lexsort((hits, -scores[hits]))[: max(k, 0)]
        return [(int(i), float(scores[i])) for i in hits[order]]

    def get_scores(self, query: Sequence[str]) -> NDArray[np.float64]:
        """Return the score of each allowed passage in the order of ids, as the parent class does."""
        return self._scores(query)[self._allowed]

    def document_frequency(self, terms: Sequence[str]) -> dict[str, int]:
        """Return in how many allowed passages each term stands."""
        return {term: len(self._list(term)[0]) for term in terms}

    def _scores(self, terms: Sequence[str]) -> NDArray[np.float64]:
        """Return the score of every passage by id; a term asked twice counts twice, as in the parent."""
        scores = np.zeros(len(self._allowed))
        for term in terms:
            passages, counts = self._list(term)
            if len(passages):
                norm = 1 - self.b + self.b * self._lengths[passages] / self.avgdl
                scores[passages] += self._idf(len(passages)) * (
                    counts * (self.k1 + 1) / (counts + self.k1 * norm)
                )
        return scores

    def _list(self, term: str) -> tuple[Ids, Ids]:
        """Return the allowed passages that hold a term, with its counts."""
        if term not in self._known:
            passages, counts = read_lists(self._db, term)
            inside = passages < len(self._allowed)
            passages, counts = passages[inside], counts[inside]
            kept = self._allowed[passages]
            self._known[term] = (passages[kept], counts[kept])
        return self._known[term]

    def _idf(self, found: int) -> float:
        return math.log(1 + (self.corpus_size - found + 0.5) / (found + 0.5))
