"""Kill -9 at random moments: nothing acknowledged is lost, nothing is half there, the next sync completes."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import settings
from kill_encoders import ENCODERS
from kill_texts import text_of
from kill_witness import Witness, afresh, rankings, whole
from quaere.tools.checkup import check
from quaere.tools.chroma import keep_chroma
from quaere.tools.chroma_check import compare
from quaere.tools.chroma_stamp import FOLDER
from quaere.tools.corpus import Corpus
from quaere.tools.purge import finish_purge
from quaere.tools.sync import IndexSettings, add_source, sync_all

SUPPORT = Path(__file__).parents[1] / "support"
WORKER = Path(__file__).with_name("worker.py")

KILLS = settings.default.max_examples // 5
"""20 in the tests, 200 in a soak, over all kinds."""

KINDS = {"files": 10, "chroma": 5, "purge": 5}
"""Of 20 kills, how many are of a worker that only indexes, one that keeps Chroma too, and one that purges."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_kill_at_any_moment_loses_nothing_and_leaves_nothing_half(tmp_path, kind):
    folder, chance, witness = tmp_path / ".quaere", random.Random(f"{kind} {KILLS}"), Witness()
    (tmp_path / "docs").mkdir()
    with closing(Corpus.create(folder)) as corpus:
        add_source(corpus, str(tmp_path / "docs"))
    for kill in range(KILLS * KINDS[kind] // 20):
        run_and_kill(tmp_path, chance, kind, witness)
        try:
            stands(tmp_path, witness, kill)
            if chance.random() < 0.5:
                completes(tmp_path, witness, kill)
        except AssertionError as error:
            error.add_note(f"after kill {kill} of {kind} while {witness.encoder!r} was configured")
            raise


def test_a_kill_while_the_encoder_changes_leaves_one_whole_space(tmp_path):
    folder, chance, witness = tmp_path / ".quaere", random.Random(f"encoders {KILLS}"), Witness()
    (tmp_path / "docs").mkdir()
    texts = {f"f{n}.md": text_of(chance) for n in range(12)}
    for name, text in texts.items():
        (tmp_path / "docs" / name).write_text(text)
    with closing(Corpus.create(folder)) as corpus:
        add_source(corpus, str(tmp_path / "docs"))
        sync_all(corpus, ENCODERS["one"], IndexSettings())
    wanted = {name: afresh(texts, tmp_path / name, name) for name in ENCODERS}
    witness.go_on(texts, texts)
    for kill in range(KILLS // 2):
        run_and_kill(tmp_path, chance, "encoders", witness)
        assert whole(folder) == texts
        with closing(Corpus.open(folder)) as corpus:
            ready, total = corpus.vectors_ready(corpus.space)
            assert (ready, rankings(corpus, corpus.space)) == (total, wanted[corpus.space]), f"kill {kill}"
    with closing(Corpus.open(folder)) as corpus:
        for name in ENCODERS:
            assert sync_all(corpus, ENCODERS[name], IndexSettings()).vectors_missing == 0
            assert (corpus.space, rankings(corpus, name)) == (name, wanted[name])


def stands(place, witness, kill):
    """Assert that everything told is there, nothing is half there, and the doctor finds nothing wrong."""
    folder, found = place / ".quaere", whole(place / ".quaere")
    witness.check(found)
    if witness.encoded is not None:
        space, done = witness.encoded
        with closing(Corpus.open(folder)) as corpus:
            assert corpus.vectors_ready(space)[0] >= done
    if finish_purge(folder):
        found = whole(folder)
        witness.check(found)
    witness.go_on(found, on_disk(place))
    checkup = check(folder, None)
    assert {name: checkup.findings[name].found for name in checkup.failed} == {}
    still_searched(folder, found, place / f"fresh{kill}")


def run_and_kill(place, chance, kind, witness):
    """Let a worker tell some steps, kill it a moment later, and hear what it had told by then.

    Half of the workers kill themselves, at a statement of SQL.
    """
    statement = chance.choice([0, int(10 ** chance.uniform(1, 3.5))])
    command = [sys.executable, str(WORKER), str(place), str(chance.random()), kind, str(statement)]
    environment = {"PYTHONPATH": str(SUPPORT), "ANONYMIZED_TELEMETRY": "False"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as worker:
        if not statement:
            for _ in range(chance.randint(1, 150)):
                witness.hear(worker.stdout.readline())
            time.sleep(chance.random() * chance.choice([0.0, 0.01, 0.1]))
            worker.send_signal(signal.SIGKILL)
        for line in worker.stdout:
            if line.endswith("\n"):
                witness.hear(line)
    assert worker.returncode == -signal.SIGKILL


def on_disk(place):
    return {path.name: path.read_text() for path in (place / "docs").glob("*.md")}


def still_searched(folder, found, fresh):
    """Assert that the space that is searched is whole, as far as documents were cut for it."""
    with closing(Corpus.open(folder)) as corpus:
        marks = {one.mark.rpartition(" ")[2] for one in corpus.known("docs").values()}
        if len(marks) != 1 or not found:
            return
        (cut_for,) = marks
        ready, total = corpus.vectors_ready(corpus.space) if corpus.space else (0, 1)
        with_vectors = cut_for == corpus.space and ready == total
        now = rankings(corpus, cut_for if with_vectors else None)
    assert now == afresh(found, fresh, cut_for, with_vectors)


def completes(place, witness, kill):
    """Assert that the next sync ends with what lies on disk, as if nothing had ever been killed."""
    folder, encoder, texts = place / ".quaere", ENCODERS[witness.encoder], on_disk(place)
    with closing(Corpus.open(folder)) as corpus:
        report = sync_all(corpus, encoder, IndexSettings())
        assert (report.failed, report.vectors_missing, corpus.space) == (0, 0, encoder.fingerprint)
        now = rankings(corpus, witness.encoder) if texts else []
        if (folder / FOLDER).exists():
            keep_chroma(corpus, encoder.fingerprint)
            assert compare(folder) == ()
    assert whole(folder) == texts
    assert now == (afresh(texts, place / f"again{kill}", witness.encoder) if texts else [])
    witness.go_on(texts, texts)
