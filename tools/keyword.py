"""BM25 over posting lists in SQLite: `rank_bm25.BM25Okapi` with its arrays replaced by the stored lists.

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

from .postings import Ids, read_lengths, read_list

K1 = 1.2
B = 0.75

REMEMBERED = 1024
"""Posting lists kept in memory: the questions of a conversation share most of their terms."""


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
        if k <= 0:
            return []
        scores = self._scores(terms)
        hits = np.flatnonzero(scores)  # only hits are sorted: most passages score 0
        if len(hits) > k:
            floor = np.partition(scores[hits], len(hits) - k)[len(hits) - k]
            hits = hits[scores[hits] >= floor]
        order = hits[np.lexsort((hits, -scores[hits]))][:k]
        return [(int(id), float(scores[id])) for id in order]

    def get_scores(self, query: Sequence[str]) -> NDArray[np.float64]:
        """Return the score of each allowed passage in the order of ids, as the parent class does."""
        return self._scores(query)[self._allowed]

    def get_batch_scores(self, query: Sequence[str], doc_ids: Sequence[int]) -> list[float]:
        """Return the scores of some allowed passages by their place in the order of ids."""
        scores: list[float] = self.get_scores(query)[list(doc_ids)].tolist()
        return scores

    def document_frequency(self, terms: Sequence[str]) -> dict[str, int]:
        """Return in how many allowed passages each term stands."""
        return {term: len(self._list(term)[0]) for term in terms}

    def _scores(self, terms: Sequence[str]) -> NDArray[np.float64]:
        """Return the score of every passage by id, added up term by term in the order of the parent class.

        A term asked twice counts twice.
        """
        scores = np.zeros(len(self._allowed))
        weighed: dict[str, tuple[Ids, NDArray[np.float64]]] = {}
        for term in terms:
            if term not in weighed:
                weighed[term] = self._weighed(term)
            passages, weights = weighed[term]
            scores[passages] += weights
        return scores

    def _weighed(self, term: str) -> tuple[Ids, NDArray[np.float64]]:
        """Return the allowed passages that hold a term, and what it adds to the score of each."""
        passages, counts = self._list(term)
        if not len(passages):
            return passages, np.zeros(0)
        norm = 1 - self.b + self.b * self._lengths[passages] / self.avgdl
        return passages, self._idf(len(passages)) * (counts * (self.k1 + 1) / (counts + self.k1 * norm))

    def _list(self, term: str) -> tuple[Ids, Ids]:
        """Return the allowed passages that hold a term, with its counts."""
        if term not in self._known:
            passages, counts = read_list(self._db, term)
            inside = np.flatnonzero(passages < len(self._allowed))
            kept = inside[self._allowed[passages[inside]]]
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[term] = (passages[kept], counts[kept])
        return self._known[term]

    def _idf(self, found: int) -> float:
        return math.log(1 + (self.corpus_size - found + 0.5) / (found + 0.5))
