"""Measure keyword search against rank-bm25, bm25s and tantivy on made passages, all in one run.

Usage: python -m quaere.evals.keyword_speed [--sizes 10000 100000] [--queries 20]
Passages have 100 words on the mean, drawn from 200,000 by Zipf's law, and now and then an identifier. Every
engine answers the same queries one after another, k = 10, on one thread; times are processor milliseconds.
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rank_bm25 import BM25Okapi

from ..tools.keyword import Keyword
from ..tools.postings import merge_segments, write_segment
from ..tools.schema import create_file

VOCABULARY = 200_000
MEAN_WORDS = 100
K = 10
K1, B = 1.5, 0.75
"""The constants of rank-bm25 and bm25s, so that all score alike; tantivy's k1 is fixed at 1.2."""

TERMS = (3, 8, 20)
COMMON, MIDDLE = 50, 5_000
"""Ranks of words below which they are as common as stop words, and below which they are not rare."""

FILE = 50
"""Passages of one file, which are written in a segment of their own."""

Words = Sequence[str]
Ranking = list[int]
Search = Callable[[Words], Ranking]


@dataclass(frozen=True, slots=True)
class Made:
    """Passages as lists of words, and queries by their number of terms."""

    passages: list[list[str]]
    queries: Mapping[int, list[list[str]]]


@dataclass(slots=True)
class Timing:
    """What one engine took: seconds to build, processor milliseconds of each query by number of terms."""

    build: float
    first: float = 0.0
    queries: dict[int, list[float]] = field(default_factory=dict)
    rankings: dict[int, list[Ranking]] = field(default_factory=dict)


class Formula(BM25Okapi):  # type: ignore[misc]  # rank_bm25 carries no types
    """Score as rank-bm25 does, with the non-negative idf (Robertson and Zaragoza 2009)."""

    def _calc_idf(self, nd: Mapping[str, int]) -> None:
        self.idf = {
            word: float(np.log(1 + (self.corpus_size - n + 0.5) / (n + 0.5))) for word, n in nd.items()
        }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one table for each size."""
    parser = argparse.ArgumentParser(prog="keyword_speed", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--queries", type=int, default=20, help="queries of each length")
    given = parser.parse_args(arguments)
    for size in given.sizes:
        made = make(size, given.queries)
        timings = {name: measure(engine, made) for name, engine in ENGINES.items()}
        print_table(size, timings)
        print(f"ids and order equal to the formula: {_equal(made, timings['quaere'])}\n")


def make(size: int, queries: int) -> Made:
    """Return passages and queries, always the same for the same numbers."""
    chance = np.random.default_rng(7)
    weights = 1 / np.arange(1, VOCABULARY + 1)
    lengths = np.maximum(5, chance.normal(MEAN_WORDS, 30, size).astype(int))
    drawn = chance.choice(VOCABULARY, int(lengths.sum()), p=weights / weights.sum())
    passages = [[f"w{word}" for word in part] for part in np.split(drawn, np.cumsum(lengths)[:-1])]
    for at in range(0, size, 50):
        passages[at].append(f"errx{at // 100:07d}")
    return Made(passages, {n: [_query(chance, n, size) for _ in range(queries)] for n in TERMS})


def _query(chance: np.random.Generator, terms: int, size: int) -> list[str]:
    """Return a query of common, middling and rare words and one identifier."""
    share = max(1, (terms * 2) // 5)
    common = chance.integers(0, COMMON, share)
    middle = chance.integers(COMMON, MIDDLE, share)
    rare = chance.integers(MIDDLE, VOCABULARY, terms - 2 * share - 1)
    words = [f"w{word}" for part in (common, middle, rare) for word in part]
    return [*words, f"errx{int(chance.integers(0, size // 100)):07d}"]


@contextmanager
def quaere(passages: Sequence[Words]) -> Iterator[Search]:
    """Index by our posting lists in a file, fifty passages a document."""
    with tempfile.TemporaryDirectory(prefix="quaere-bench-") as name:
        path = Path(name) / "corpus.db"
        create_file(path)
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("BEGIN")
        for at in range(0, len(passages), FILE):
            rows = [(at + i + 1, at // FILE, words) for i, words in enumerate(passages[at : at + FILE])]
            write_segment(db, rows)
            if at % 5_000 == 0:
                merge_segments(db)
        merge_segments(db)
        db.execute("COMMIT")
        allowed = np.ones(len(passages) + 1, bool)
        allowed[0] = False
        keyword = Keyword(db, allowed, K1, B)
        yield lambda words: [id - 1 for id, _ in keyword.search(words, K)]
        db.close()


@contextmanager
def rank_bm25(passages: Sequence[Words]) -> Iterator[Search]:
    """Index by rank-bm25 itself."""
    yield _best_of(BM25Okapi(passages, k1=K1, b=B))


def _best_of(scorer: Any) -> Search:  # noqa: ANN401  (rank_bm25 carries no types)
    def search(words: Words) -> Ranking:
        scores = scorer.get_scores(words)
        order = np.lexsort((np.arange(len(scores)), -scores))[:K]
        return [int(i) for i in order if scores[i] > 0]

    return search


@contextmanager
def bm25s(passages: Sequence[Words]) -> Iterator[Search]:
    """Index by bm25s with its numpy scorer."""
    import bm25s as library

    scorer = library.BM25(k1=K1, b=B, method="lucene")
    scorer.index(passages, show_progress=False)
    yield lambda words: [int(i) for i in scorer.retrieve([list(words)], k=K, show_progress=False)[0][0]]


@contextmanager
def tantivy(passages: Sequence[Words]) -> Iterator[Search]:
    """Index by tantivy in a folder, split at white space."""
    import tantivy as library

    schema = library.SchemaBuilder()
    schema.add_text_field("body", tokenizer_name="whitespace", index_option="freq")
    schema.add_integer_field("number", stored=True, fast=True)
    with tempfile.TemporaryDirectory(prefix="quaere-bench-") as name:
        index = library.Index(schema.build(), path=name)
        writer = index.writer(200_000_000, 1)
        for number, words in enumerate(passages):
            writer.add_document(library.Document(number=number, body=" ".join(words)))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        searcher = index.searcher()

        def search(words: Words) -> Ranking:
            query = index.parse_query(" ".join(words), ["body"])
            return [searcher.doc(found)["number"][0] for _, found in searcher.search(query, K).hits]

        yield search


ENGINES: Mapping[str, Callable[[Sequence[Words]], Any]] = {
    "quaere": quaere,
    "rank-bm25": rank_bm25,
    "bm25s": bm25s,
    "tantivy": tantivy,
}


def measure(engine: Callable[[Sequence[Words]], Any], made: Made) -> Timing:
    """Build an engine's index and answer every query once; the very first one is timed apart."""
    began = time.perf_counter()
    with engine(made.passages) as search:
        timing = Timing(time.perf_counter() - began)
        timing.first = _timed(search, made.queries[TERMS[0]][0])[0]
        for n, queries in made.queries.items():
            found = [_timed(search, words) for words in queries]
            timing.queries[n] = [seconds * 1000 for seconds, _ in found]
            timing.rankings[n] = [ranking for _, ranking in found]
    return timing


def _timed(search: Search, words: Words) -> tuple[float, Ranking]:
    began = time.process_time()
    found = search(words)
    return time.process_time() - began, found


def print_table(size: int, timings: Mapping[str, Timing]) -> None:
    """Print what each engine took, and how many times longer than ours with 8 terms."""
    columns = " | ".join(f"{n} terms p50 / p95 ms" for n in TERMS)
    print(f"\n{size:,} passages\n| engine | build s | first query ms | {columns} | against quaere, 8 terms |")
    print(f"|{'---|' * (len(TERMS) + 4)}")
    ours = statistics.median(timings["quaere"].queries[8])
    for name, timing in timings.items():
        cells = " | ".join(_spread(timing.queries[n]) for n in TERMS)
        ratio = statistics.median(timing.queries[8]) / ours
        print(f"| {name} | {timing.build:.1f} | {timing.first * 1000:.1f} | {cells} | {ratio:.2f} × |")


def _spread(times: Sequence[float]) -> str:
    return f"{statistics.median(times):.2f} / {float(np.percentile(times, 95)):.2f}"


def _equal(made: Made, ours: Timing) -> str:
    """Return for how many queries our ids stand in the order of the formula, scored by rank-bm25's code."""
    search = _best_of(Formula(made.passages, k1=K1, b=B))
    expected = [search(words) for n in TERMS for words in made.queries[n]]
    found = [ranking for n in TERMS for ranking in ours.rankings[n]]
    equal = sum(one == other for one, other in zip(expected, found, strict=True))
    return f"{equal} of {len(expected)} queries"


if __name__ == "__main__":
    main()
