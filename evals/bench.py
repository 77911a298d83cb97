"""Everything that is measured, by one command: `python -m quaere.evals.bench DATA_FOLDER`.

Prints the tables of docs/benchmarks.md: the questions of docs_corpus, the start-up times, indexing, the
encoder against sentence-transformers, SciFact retrieval, and Chroma against the exact scan. The vectors of
the last two are kept by content hash.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from . import chroma_recall, encoder_speed, keyword_speed, questions, readers, retrieval

PARTS = ("docs", "keyword", "encoder", "scifact", "chroma")
RUNS = 5
"""Runs of each timed command; the median is printed."""

FOLDERS = ("csv", "docx", "html", "md", "pdf", "rst", "txt")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure everything, or the parts named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of the public data sets")
    parser.add_argument("--only", choices=PARTS, action="append")
    given = parser.parse_args(arguments)
    wanted = given.only or PARTS
    if "docs" in wanted:
        with _copied(given.data / "docs_corpus") as corpus:
            measure_docs(corpus, given.data / "docs_corpus" / "questions.jsonl")
    if "keyword" in wanted:
        keyword_speed.main([])
    if "encoder" in wanted:
        encoder_speed.main([str(given.data / "docs_corpus" / "md")])
    if "scifact" in wanted:
        retrieval.main([str(given.data)])
    if "chroma" in wanted:
        chroma_recall.main([str(given.data)])
    return 0


@contextmanager
def _copied(folder: Path) -> Iterator[Path]:
    """Give a workspace whose `docs` is a copy of the documents, without questions and notes."""
    with tempfile.TemporaryDirectory(prefix="quaere-bench-") as name:
        for kind in FOLDERS:
            shutil.copytree(folder / kind, Path(name) / "docs" / kind)
        yield Path(name)


def measure_docs(workspace: Path, asked: Path) -> None:
    """Index a copy of docs_corpus, ask its questions and time the commands a person waits for."""
    from ..agent.assemble import Agent

    with Agent.open(workspace) as agent:
        report = agent.add(workspace / "docs")
        again = agent.sync()
        outcomes = questions.ask_all(agent, questions.read_cases(asked))
    share = report.encoder_seconds / report.seconds
    print(
        f"{report.new} files, {report.passages} passages: {report.seconds:.0f} s, {share:.0%} in the encoder"
    )
    print(f"second sync {again.seconds:.2f} s, {again.unchanged} unchanged")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of indexing and asking {peak:.0f} MB")
    print(questions.summary(outcomes))
    notes = [note for one in outcomes for note in one.answer.footnotes]
    found = sum(readers.finds_quote(note, workspace / "docs" / note.document) for note in notes)
    print(f"quotes found again by independent readers: {found} of {len(notes)}")
    for name, command in _commands(workspace):
        print(f"{name}: median {statistics.median(_times(command)):.2f} s of {RUNS}")


def _commands(workspace: Path) -> list[tuple[str, Callable[[], object]]]:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}

    def run(*words: str) -> Callable[[], object]:
        line = [sys.executable, "-m", "quaere.agent.cli", *words]
        return lambda: subprocess.run(line, cwd=workspace, env=environment, capture_output=True, check=False)

    return [
        ("quaere --help", run("--help")),
        ("quaere ask", run("ask", "What is /opt reserved for under the FHS?")),
        ("quaere search", run("search", "archive_command")),
    ]


def _times(command: Callable[[], object]) -> list[float]:
    command()
    times = []
    for _ in range(RUNS):
        began = time.perf_counter()
        command()
        times.append(time.perf_counter() - began)
    return times


if __name__ == "__main__":
    sys.exit(main())
