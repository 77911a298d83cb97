"""Measure keyword, vector and hybrid search on SciFact: nDCG@10, R@10 and R@100.

`python -m quaere.evals.retrieval DATA_FOLDER` cuts every abstract into passages as the product does, ranks
passages, takes a document at its best passage, and prints a table. Vectors are kept by the text they encode.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..tools import postings, vector
from ..tools.analyze import terms
from ..tools.embed import Encoder, open_encoder
from ..tools.errors import QuaereError
from ..tools.index import IndexSettings, shaping
from ..tools.keyword import K1, B, Keyword
from ..tools.parse import parse
from ..tools.rank import RRF_K, fuse
from ..tools.split import split
from ..tools.writer import encoder_input, input_key
from .datasets import RetrievalSet, Text, data_folder, read_scifact

DEPTH = 300
"""Passages of each channel: enough for a hundred documents of two or three passages."""

MEASURES = ("nDCG@10", "R@10", "R@100")
BATCH = 64

Ranking = Sequence[str]
Rankings = Mapping[str, Ranking]
"""Document ids, best first, by query id."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A passage of a document, with the context that is indexed before it."""

    document: str
    prefix: str
    text: str


@dataclass(frozen=True, slots=True)
class Shape:
    """How passages are ranked: BM25's k1 and b, passages a channel, constant of the fusion."""

    k1: float = K1
    b: float = B
    depth: int = DEPTH
    fusion_k: int = RRF_K


@dataclass(frozen=True, slots=True)
class Index:
    """Passages by id (from 1) with both of their indexes; `matrix` is None without an encoder."""

    pieces: Sequence[Piece]
    keyword: Keyword
    matrix: vector.Matrix | None
    allowed: NDArray[np.bool_]


def measure(
    data: RetrievalSet, index: Index, encoder: Encoder | None, shape: Shape
) -> dict[str, list[float]]:
    """Return the figures of each channel and of their fusion, in the order of MEASURES."""
    found: dict[str, dict[str, Ranking]] = {}
    for id, query in data.queries.items():
        for channel, ids in search(index, query, encoder, shape).items():
            found.setdefault(channel, {})[id] = pool(ids, index.pieces)
    return {channel: judge(rankings, data) for channel, rankings in found.items()}


def search(index: Index, query: str, encoder: Encoder | None, shape: Shape) -> dict[str, list[int]]:
    """Return the passage ids of each channel and of their fusion, best first."""
    found = {"keyword": [id for id, _ in index.keyword.search(terms(query), shape.depth)]}
    if encoder is None or index.matrix is None:
        return found
    near = index.matrix.search(encoder.encode_query(query), index.allowed, shape.depth)
    found["vector"] = [id for id, _ in near]
    return {**found, "hybrid": [hit.id for hit in fuse(found, k=shape.fusion_k)]}


def pool(ids: Sequence[int], pieces: Sequence[Piece]) -> list[str]:
    """Return the documents of passages, each where its best passage stands."""
    return list(dict.fromkeys(pieces[id - 1].document for id in ids))


def judge(rankings: Rankings, data: RetrievalSet) -> list[float]:
    """Return the mean of each measure over all queries that have judgements."""
    import ir_measures

    wanted = [ir_measures.parse_measure(name) for name in MEASURES]
    run = {
        id: {document: -float(rank) for rank, document in enumerate(ranking)}
        for id, ranking in rankings.items()
    }
    judgements = {id: dict(found) for id, found in data.judgements.items()}
    figures = ir_measures.calc_aggregate(wanted, judgements, run)
    return [float(figures[one]) for one in wanted]


def build(pieces: Sequence[Piece], vectors: NDArray[np.float32] | None, shape: Shape) -> Index:
    """Return passages with a keyword index in memory and their vectors."""
    db = sqlite3.connect(":memory:")
    db.executescript(postings.SCHEMA)
    texts = (terms(encoder_input(piece.prefix, piece.text)) for piece in pieces)
    postings.write_segment(db, [(id, id, found) for id, found in enumerate(texts, 1)])
    allowed = np.arange(len(pieces) + 1) > 0
    matrix = None if vectors is None else vector.Matrix(np.flatnonzero(allowed), vectors)
    return Index(pieces, Keyword(db, allowed, shape.k1, shape.b), matrix, allowed)


def passages(documents: Sequence[Text], encoder: Encoder | None) -> Iterator[Piece]:
    """Yield the passages the product would cut of each document, its title as the heading."""
    shape = shaping(IndexSettings(), encoder)
    for document in documents:
        parsed = parse(f"# {document.title}\n\n{document.body}\n".encode(), f"{document.id}.md")
        for cut in split(parsed, shape.count, shape.limits).passages:
            yield Piece(document.id, cut.prefix, parsed.text[cut.start : cut.end])


def whole(documents: Sequence[Text]) -> Iterator[Piece]:
    """Yield each document as one passage, of which the encoder reads no more than it can."""
    yield from (Piece(document.id, document.title, document.body) for document in documents)


def encode(pieces: Sequence[Piece], encoder: Encoder, cache: Path) -> NDArray[np.float32]:
    """Return the vector of each passage; those encoded before come from the cache folder."""
    cache.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(cache / "vectors.db") as db:
        db.executescript(vector.SCHEMA.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"))
        known = dict(db.execute("SELECT key, vector FROM vectors WHERE space = ?", (encoder.fingerprint,)))
        keys = [input_key(piece.prefix, piece.text) for piece in pieces]
        waiting = {key: piece for key, piece in zip(keys, pieces, strict=True) if key not in known}
        for done, batch in enumerate(_batches(waiting)):
            if done % 20 == 0:
                print(f"encoding {done * BATCH} of {len(waiting)}", file=sys.stderr)
            known |= _encode_batch(db, encoder, batch)
    return np.frombuffer(b"".join(known[key] for key in keys), "<f4").reshape(len(keys), -1)


def _batches(waiting: Mapping[bytes, Piece]) -> Iterator[dict[bytes, Piece]]:
    """Yield passages of like length together, so that little of a batch is padding."""
    keys = sorted(waiting, key=lambda key: len(waiting[key].text))
    for at in range(0, len(keys), BATCH):
        yield {key: waiting[key] for key in keys[at : at + BATCH]}


def _encode_batch(
    db: sqlite3.Connection, encoder: Encoder, batch: Mapping[bytes, Piece]
) -> dict[bytes, bytes]:
    inputs = [encoder_input(piece.prefix, piece.text) for piece in batch.values()]
    vectors = [row.astype("<f4").tobytes() for row in encoder.encode_documents(inputs)]
    made = dict(zip(batch, vectors, strict=True))
    db.executemany(
        "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)",
        [(encoder.fingerprint, key, value) for key, value in made.items()],
    )
    db.commit()
    return made


def table(figures: Mapping[str, Sequence[float]]) -> str:
    """Return the figures as a Markdown table."""
    lines = [f"| search | {' | '.join(MEASURES)} |", "|---|" + "---|" * len(MEASURES)]
    lines += [f"| {name} | {' | '.join(f'{x:.4f}' for x in row)} |" for name, row in figures.items()]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table of one part of SciFact."""
    given = _parser().parse_args(arguments)
    try:
        data = read_scifact(data_folder(given.folder), given.part)
        encoder = open_encoder()
        pieces = list(whole(data.documents) if given.whole else passages(data.documents, encoder))
        vectors = encode(pieces, encoder, Path(given.cache)) if encoder else None
    except QuaereError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    shape = Shape(given.k1, given.b, given.depth, given.fusion_k)
    figures = measure(data, build(pieces, vectors, shape), encoder, shape)
    print(
        f"{data.name}: {len(data.queries)} queries, {len(data.documents)} documents, {len(pieces)} passages"
    )
    print(table(figures))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m quaere.evals.retrieval", description=__doc__)
    parser.add_argument("folder", nargs="?", help="folder of the data sets (or set QUAERE_DATA)")
    parser.add_argument("--part", default="test", help="test, or train to choose parameters on")
    parser.add_argument("--whole", action="store_true", help="take each abstract as one passage")
    parser.add_argument("--cache", default=".bench", help="folder where vectors are kept")
    parser.add_argument("--k1", type=float, default=K1)
    parser.add_argument("--b", type=float, default=B)
    parser.add_argument("--depth", type=int, default=DEPTH, help="passages each channel gives")
    parser.add_argument("--fusion-k", type=int, default=RRF_K)
    return parser


if __name__ == "__main__":
    sys.exit(main())
