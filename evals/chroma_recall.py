"""Measure Chroma against the exact scan: recall@50 and milliseconds a query, in one process.

`python -m quaere.evals.chroma_recall DATA_FOLDER` indexes docs_corpus and SciFact as `quaere add` does, keeps
Chroma in step and asks the questions of both sets through a reader with each engine. What is as near as the
exact 50th counts as found. Vectors are kept by the text they encode.
"""

from __future__ import annotations

import argparse
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..tools import vector
from ..tools.chroma import keep_chroma
from ..tools.chroma_door import door_of
from ..tools.chroma_search import ChromaSearch, propose
from ..tools.chroma_stamp import FOLDER, read_stamp
from ..tools.corpus import Corpus
from ..tools.embed import Done, Encoder, open_encoder
from ..tools.errors import QuaereError
from ..tools.evidence import NO_FILTER, OWNER
from ..tools.onnx_model import Vectors
from ..tools.reader import Ranking, Reader
from ..tools.sync import IndexSettings, add_source, sync_all
from ..tools.writer import input_key
from .datasets import data_folder, read_lines, read_scifact

K = 50
KINDS = ("csv", "docx", "html", "md", "pdf", "rst", "txt")


class RememberingEncoder:
    """An encoder that keeps what it encoded in a file, so that a set is encoded once."""

    def __init__(self, encoder: Encoder, cache: Path) -> None:
        cache.mkdir(parents=True, exist_ok=True)
        self._encoder = encoder
        self._db = sqlite3.connect(cache / "vectors.db")
        self._db.executescript(vector.SCHEMA.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"))
        self.fingerprint, self.name = encoder.fingerprint, encoder.name
        self.dimension, self.max_tokens = encoder.dimension, encoder.max_tokens
        self.count_tokens, self.encode_query = encoder.count_tokens, encoder.encode_query

    def encode_documents(self, texts: Sequence[str], done: Done | None = None) -> Vectors:
        """Return unit vectors, encoding only what was never encoded before."""
        keys = [input_key("", text) for text in texts]
        known = {key: row for key in keys if (row := self._known(key)) is not None}
        fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if fresh:
            made = self._encoder.encode_documents(list(fresh.values()), done)
            rows = [(self.fingerprint, key, made[at].astype("<f4").tobytes()) for at, key in enumerate(fresh)]
            with self._db:
                self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
            known |= {key: made[at] for at, key in enumerate(fresh)}
        return np.stack([known[key] for key in keys])

    def _known(self, key: bytes) -> Vectors | None:
        row = self._db.execute(
            "SELECT vector FROM vectors WHERE space = ? AND key = ?", (self.fingerprint, key)
        ).fetchone()
        return None if row is None else np.frombuffer(row[0], "<f4")


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured on one set; times in milliseconds a query and in seconds, sizes in MB."""

    name: str
    passages: int
    queries: int
    recall: float
    worst: float
    bare_recall: float
    exact_ms: float
    chroma_ms: float
    build_seconds: float
    megabytes: float

    def row(self) -> str:
        """Return a row of the table."""
        return (
            f"| {self.name} | {self.passages:,} | {self.queries} | {self.recall:.4f} | {self.worst:.2f} "
            f"| {self.bare_recall:.4f} | {self.exact_ms:.2f} | {self.chroma_ms:.2f} "
            f"| {self.build_seconds:.1f} | {self.megabytes:.0f} |"
        )


HEAD = (
    f"| set | passages | queries | recall@{K} | worst query | of Chroma asked for {K} only | exact ms | "
    "Chroma ms | built in s | MB |\n|---|---|---|---|---|---|---|---|---|---|"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table of both sets, or of those named."""
    parser = argparse.ArgumentParser(prog="python -m quaere.evals.chroma_recall", description=__doc__)
    parser.add_argument("folder", nargs="?", help="folder of the data sets (or set QUAERE_DATA)")
    parser.add_argument("--cache", default=".bench", help="folder where vectors are kept")
    parser.add_argument("--only", choices=sorted(SETS), action="append")
    given = parser.parse_args(arguments)
    try:
        encoder = open_encoder()
        if encoder is None:
            print("error: no encoder weights are installed", file=sys.stderr)
            return 1
        print(HEAD)
        for name in given.only or sorted(SETS):
            remembering = RememberingEncoder(encoder, Path(given.cache))
            print(measure(name, data_folder(given.folder), remembering).row(), flush=True)
    except QuaereError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def measure(name: str, data: Path, encoder: Encoder) -> Figures:
    """Index one set, keep Chroma in step and ask its questions through both engines."""
    with tempfile.TemporaryDirectory(prefix="quaere-bench-") as made:
        documents = Path(made) / "docs"
        questions = SETS[name](data, documents)
        with _indexed(Path(made), documents, encoder) as corpus:
            started = time.perf_counter()
            kept = keep_chroma(corpus, encoder.fingerprint)
            seconds = time.perf_counter() - started
            found = _ask(corpus, encoder, questions)
            size = sum(path.stat().st_size for path in (corpus.folder / FOLDER).rglob("*") if path.is_file())
    recalls, bare, exact_ms, chroma_ms = (np.array(column) for column in zip(*found, strict=True))
    return Figures(
        name=name,
        passages=kept.count,
        queries=len(questions),
        recall=float(recalls.mean()),
        worst=float(recalls.min()),
        bare_recall=float(bare.mean()),
        exact_ms=float(np.median(exact_ms)),
        chroma_ms=float(np.median(chroma_ms)),
        build_seconds=seconds,
        megabytes=size / 1e6,
    )


@contextmanager
def _indexed(home: Path, documents: Path, encoder: Encoder) -> Iterator[Corpus]:
    corpus = Corpus.create(home / ".quaere")
    try:
        add_source(corpus, str(documents))
        sync_all(corpus, encoder, IndexSettings())
        yield corpus
    finally:
        with door_of(corpus.folder).shut():
            corpus.close()


def _ask(
    corpus: Corpus, encoder: Encoder, questions: Sequence[str]
) -> list[tuple[float, float, float, float]]:
    """Return recall through the engine, recall of bare Chroma, and milliseconds of both, a question each."""
    exact = _reader(corpus, encoder, None)
    chroma = _reader(corpus, encoder, ChromaSearch(corpus.folder))
    queries = [encoder.encode_query(question) for question in questions]
    for reader in (exact, chroma):
        reader.vector(queries[0], K)
    found = []
    for query in queries:
        (truth, exact_ms), (ranking, chroma_ms) = _timed(exact, query), _timed(chroma, query)
        assert chroma.engine == "chroma"
        found.append((_share(truth, ranking), _bare(corpus, query, truth), exact_ms, chroma_ms))
    return found


def _reader(corpus: Corpus, encoder: Encoder, chroma: ChromaSearch | None) -> Reader:
    return corpus.reader(OWNER, NO_FILTER, ranking=Ranking(space=encoder.fingerprint, chroma=chroma))


def _timed(reader: Reader, query: Vectors) -> tuple[list[tuple[int, float]], float]:
    started = time.perf_counter()
    ranking = reader.vector(query, K)
    return ranking, (time.perf_counter() - started) * 1000


def _share(truth: Sequence[tuple[int, float]], ranking: Sequence[tuple[int, float]]) -> float:
    return sum(score >= truth[-1][1] for _, score in ranking) / len(truth)


def _bare(corpus: Corpus, query: Vectors, truth: Sequence[tuple[int, float]]) -> float:
    """Return the recall of Chroma alone, asked for no more than is wanted."""
    stamp = read_stamp(corpus.folder)
    assert stamp is not None
    with door_of(corpus.folder).reading(stamp) as opened:
        assert opened is not None
        proposed = set(propose(opened, query, K).tolist())
    return len({id for id, _ in truth} & proposed) / len(truth)


def _documents_and_questions(data: Path, documents: Path) -> list[str]:
    for kind in KINDS:
        shutil.copytree(data / "docs_corpus" / kind, documents / kind)
    return [row["question"] for row in read_lines(data / "docs_corpus" / "questions.jsonl")]


def _abstracts_and_claims(data: Path, documents: Path) -> list[str]:
    scifact = read_scifact(data)
    documents.mkdir()
    for text in scifact.documents:
        (documents / f"{text.id}.md").write_text(f"# {text.title}\n\n{text.body}\n", "utf-8")
    return list(scifact.queries.values())


SETS = {"docs_corpus": _documents_and_questions, "scifact": _abstracts_and_claims}


if __name__ == "__main__":
    sys.exit(main())
