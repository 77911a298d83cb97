"""Two processes on one workspace: writers take turns, readers never wait and see whole documents only."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from quaere.tools.corpus import Corpus
from quaere.tools.errors import BusyError
from quaere.tools.evidence import OWNER, Filter, Span
from quaere.tools.lock import writer_lock
from quaere.tools.sync import IndexSettings, add_source, sync_all

SUPPORT = Path(__file__).parents[1] / "support"
WORKER = Path(__file__).with_name("worker.py")

SYNC = """
import sys
from dataclasses import asdict
import json
from pathlib import Path
from quaere.tools.corpus import Corpus
from quaere.tools.sync import IndexSettings, add_source, sync_all, sync_source
corpus = Corpus.create(Path(sys.argv[1]))
sys.stdin.readline()
if len(sys.argv) > 2:
    source = add_source(corpus, sys.argv[2])
    report = sync_source(corpus, source.id, None, IndexSettings())
else:
    report = sync_all(corpus, None, IndexSettings())
corpus.close()
print(json.dumps(asdict(report)))
"""


@pytest.fixture
def docs(tmp_path):
    for name in ("docs", "more"):
        (tmp_path / name).mkdir()
        for n in range(40):
            (tmp_path / name / f"{name}{n}.md").write_text(f"# {name} {n}\n\nWord{n} stands in {name}.\n")
    return tmp_path / "docs"


def at_once(folder, *locations):
    """Run several syncs, or adds of these locations, at the same time and return their reports."""
    children = [
        subprocess.Popen(
            [sys.executable, "-c", SYNC, str(folder), *location],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for location in locations
    ]
    for child in children:
        child.stdin.write("go\n")
        child.stdin.flush()
    told = [child.communicate()[0] for child in children]
    assert [child.returncode for child in children] == [0] * len(children)
    return [json.loads(one) for one in told]


def test_two_adds_at_once_both_succeed(tmp_path, docs):
    reports = at_once(tmp_path / ".quaere", [str(docs)], [str(tmp_path / "more")])
    assert [report["new"] for report in reports] == [40, 40]
    with closing(Corpus.open(tmp_path / ".quaere")) as corpus:
        assert [source.id for source in corpus.sources()] == ["docs", "more"]
        assert corpus.counts().documents == 80


def test_the_same_folder_added_twice_at_once_is_indexed_once(tmp_path, docs):
    reports = at_once(tmp_path / ".quaere", [str(docs)], [str(docs)], [str(docs)])
    assert sorted(report["new"] for report in reports) == [0, 0, 40]
    assert sorted(report["unchanged"] for report in reports) == [0, 40, 40]
    with closing(Corpus.open(tmp_path / ".quaere")) as corpus:
        assert len(corpus.sources()) == 1


def test_two_syncs_at_once_do_the_work_once(tmp_path, docs):
    with closing(Corpus.create(tmp_path / ".quaere")) as corpus:
        add_source(corpus, str(docs))
    reports = at_once(tmp_path / ".quaere", [], [])
    assert sorted(report["new"] for report in reports) == [0, 40]


def test_a_sync_that_waits_in_vain_says_one_sentence_and_exits_with_1(tmp_path, docs):
    with closing(Corpus.create(tmp_path / ".quaere")) as corpus:
        add_source(corpus, str(docs))
    with writer_lock(tmp_path / ".quaere"):
        command = [sys.executable, "-c", "from quaere.agent.cli import main; main()", "sync"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout == ""
    (said,) = done.stderr.splitlines()
    assert f"pid {os.getpid()}, since " in said
    assert "try again when it has finished" in said


def test_a_search_goes_on_while_another_process_holds_the_lock(tmp_path, docs):
    with closing(Corpus.create(tmp_path / ".quaere")) as corpus:
        add_source(corpus, str(docs))
        sync_all(corpus, None, IndexSettings())
    command = [sys.executable, "-c", SYNC, str(tmp_path / ".quaere")]
    with (
        writer_lock(tmp_path / ".quaere"),
        closing(Corpus.open(tmp_path / ".quaere")) as corpus,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as waiting,
    ):
        waiting.stdin.write("go\n")
        waiting.stdin.flush()
        assert len(corpus.reader(OWNER, Filter()).keyword(["word7"], 9)) == 1
        waiting.kill()


def test_readers_see_whole_documents_while_another_process_changes_them(tmp_path):
    (tmp_path / "docs").mkdir()
    with closing(Corpus.create(tmp_path / ".quaere")) as corpus:
        add_source(corpus, str(tmp_path / "docs"))
    command = [sys.executable, str(WORKER), str(tmp_path), "readers", "files", "0"]
    environment = {"PYTHONPATH": str(SUPPORT)}
    with (
        subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment) as worker,
        closing(Corpus.open(tmp_path / ".quaere")) as corpus,
    ):
        revisions = set()
        while len(revisions) < 40:
            assert worker.poll() is None
            reader = corpus.reader(OWNER, Filter())
            revisions.add(reader.revision)
            looks_whole(reader)
        worker.send_signal(signal.SIGKILL)


def looks_whole(reader):
    """Assert that each document a reader sees is complete, and twice the same.

    One that is deleted between two looks is gone from the second: a tombstone blocks at once.
    """
    for document in reader.documents():
        version = reader.version(document.id)
        ids = reader.document_passages(document.id)
        readings = reader.readings(ids)
        if version is None or not readings:
            continue
        text = reader.cut(Span(version.id, 0, 10**9))
        assert list(readings) == ids
        assert text == "" or text.startswith("# About tok")
        assert all(one.text in text or not text for one in readings.values())
    ids = np.flatnonzero(reader.allowed).tolist()
    found = {id for id, _ in reader.keyword(["about"], len(ids) + 9)}
    assert found <= set(ids)


def test_a_writer_that_holds_the_database_itself_is_named_too(tmp_path, docs):
    with (
        closing(Corpus.create(tmp_path / ".quaere", busy_seconds=0.1)) as corpus,
        closing(Corpus.open(tmp_path / ".quaere", busy_seconds=0.1)) as other,
    ):
        add_source(corpus, str(docs))
        with corpus.write(), pytest.raises(BusyError, match="another process writes"):
            sync_all(other, None, IndexSettings())
