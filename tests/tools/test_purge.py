"""After a purge no byte of the workspace holds what went, and what stays answers as if it had never been."""

import json
import signal
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from counting_encoder import CountingEncoder
from hypothesis import given, settings
from hypothesis import strategies as st
from quaere.tools import purge as purging
from quaere.tools.analyze import terms
from quaere.tools.checkup import check, repair
from quaere.tools.chroma import keep_chroma
from quaere.tools.chroma_door import door_of
from quaere.tools.corpus import Corpus
from quaere.tools.erasure import empty_log
from quaere.tools.errors import BusyError, UsageError
from quaere.tools.evidence import OWNER, Filter
from quaere.tools.index import IndexSettings
from quaere.tools.needles import Needles
from quaere.tools.purge import finish_purge, purge
from quaere.tools.removal import Choice, remove
from quaere.tools.samples import inside_values
from quaere.tools.scour import scour
from quaere.tools.sync import add_source, sync_all

SETTINGS = IndexSettings()
SECRET = (
    "The combination of the strongroom is zürich-4711, said Ottokar “the locksmith”.\nNobody wrote it down."
)
OPEN = "# Badge\n\nA badge costs 12 EUR. It opens the front door, not the strongroom.\n"


@pytest.fixture
def docs(tmp_path):
    root = tmp_path / "docs"
    root.mkdir()
    (root / "open-badge-tariff.md").write_text(OPEN)
    (root / "strongroom-memorandum.md").write_text(f"# Strongroom memorandum\n\n{SECRET}\n" * 3)
    return root


@pytest.fixture
def corpus(tmp_path, docs):
    with_corpus = Corpus.create(tmp_path / ".quaere")
    add_source(with_corpus, str(docs))
    synced(with_corpus)
    yield with_corpus
    with_corpus.close()


def synced(corpus, settings=SETTINGS):
    report = sync_all(corpus, CountingEncoder(), settings)
    reader = corpus.reader(OWNER, Filter())
    reader.vector(CountingEncoder().encode_query("badge"), 5)  # makes the matrix
    return report


def everything(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def holding(folder, text):
    """Return the files that hold a text, also as JSON writes it."""
    forms = {
        text.encode(),
        json.dumps(text)[1:-1].encode(),
        json.dumps(text, ensure_ascii=False)[1:-1].encode(),
    }
    return {name for name, data in everything(folder).items() if any(form in data for form in forms)}


TOLD = ("zürich-4711", "Ottokar", "Nobody wrote it down", "strongroom-memorandum", "Strongroom memorandum")


def test_nothing_of_a_purged_document_stays_and_the_receipt_says_where_was_looked(corpus, docs):
    assert all(holding(corpus.folder, told) for told in TOLD)
    (docs / "strongroom-memorandum.md").unlink()
    receipt = purge(corpus, Choice("docs", ("strongroom*",)), SETTINGS)
    assert receipt.is_clean
    assert receipt.removed["documents"] == receipt.removed["versions"] == receipt.removed["texts"] == 1
    assert receipt.removed["passages"] >= receipt.removed["vectors"] >= 1
    assert receipt.removed["terms"] > 3
    assert receipt.kept == ()
    assert any(name.startswith("vectors-") for name in receipt.deleted)
    assert receipt.bytes >= (corpus.folder / "corpus.db").stat().st_size
    assert all(receipt.samples[kind] for kind in ("text", "term", "name", "vector"))
    assert [told for told in TOLD if holding(corpus.folder, told)] == []
    assert holding(corpus.folder, "front door")
    assert check(corpus.folder, CountingEncoder()).is_sound


def test_the_log_is_empty_and_the_file_has_no_free_pages(corpus):
    purge(corpus, Choice("docs"), SETTINGS)
    assert not (corpus.folder / "corpus.db-wal").stat().st_size
    with corpus.reading() as db:
        assert db.execute("PRAGMA freelist_count").fetchone()[0] == 0


def test_what_a_file_held_before_it_changed_goes_and_what_it_holds_now_stays(corpus, docs):
    (docs / "strongroom-memorandum.md").write_text(
        "# Strongroom memorandum\n\nThe strongroom is empty now.\n"
    )
    synced(corpus)
    assert holding(corpus.folder, "Ottokar")
    receipt = purge(corpus, Choice("docs", ("strongroom*",)), SETTINGS)
    assert receipt.is_clean
    assert receipt.kept == ("strongroom-memorandum.md",)
    assert receipt.removed["documents"] == 0
    assert not holding(corpus.folder, "Ottokar")
    assert holding(corpus.folder, "The strongroom is empty now")
    assert corpus.reader(OWNER, Filter()).keyword(terms("empty"), 5)
    assert check(corpus.folder, CountingEncoder()).is_sound


def test_what_was_removed_or_deleted_before_can_still_be_purged(corpus, docs):
    (docs / "strongroom-memorandum.md").unlink()
    synced(corpus)
    remove(corpus, Choice("docs"), SETTINGS)
    assert holding(corpus.folder, "Ottokar")
    receipt = purge(corpus, Choice("docs"), SETTINGS)
    assert (receipt.is_clean, receipt.removed["documents"]) == (True, 2)
    assert not holding(corpus.folder, "Ottokar")
    with pytest.raises(UsageError, match="there is no source 'docs'"):
        purge(corpus, Choice("docs"), SETTINGS)


def test_a_whole_source_leaves_neither_its_folder_nor_its_paths(corpus, docs):
    purge(corpus, Choice("docs"), SETTINGS)
    assert not holding(corpus.folder, str(docs))
    assert not holding(corpus.folder, "open-badge-tariff")
    assert corpus.counts().documents == 0


def test_a_text_that_another_document_holds_too_stays_for_it(corpus, docs, tmp_path):
    (tmp_path / "copies").mkdir()
    (tmp_path / "copies" / "same.md").write_text((docs / "strongroom-memorandum.md").read_text())
    add_source(corpus, str(tmp_path / "copies"))
    synced(corpus)
    receipt = purge(corpus, Choice("docs"), SETTINGS)
    assert receipt.is_clean
    assert holding(corpus.folder, "Ottokar")
    assert not holding(corpus.folder, "front door")
    assert check(corpus.folder, CountingEncoder()).is_sound
    assert purge(corpus, Choice("copies"), SETTINGS).is_clean
    assert not holding(corpus.folder, "Ottokar")


def test_a_file_that_still_lies_in_the_folder_is_refused_with_the_way_out(corpus):
    before = everything(corpus.folder).keys()
    with pytest.raises(UsageError, match=r"would come back.*corpus\.exclude"):
        purge(corpus, Choice("docs", ("strongroom*",)), SETTINGS)
    assert holding(corpus.folder, "Ottokar")
    assert everything(corpus.folder).keys() == before
    receipt = purge(corpus, Choice("docs", ("strongroom*",)), IndexSettings(exclude=("strongroom*",)))
    assert receipt.is_clean
    assert not holding(corpus.folder, "Ottokar")


def test_records_that_hold_a_text_are_deleted_and_others_stay(corpus, docs):
    traces = corpus.folder / "traces"
    traces.mkdir()
    (traces / "run-1.jsonl").write_text(json.dumps({"quote": SECRET.partition(".")[0]}))
    (traces / "run-1.meta").write_text("{}")
    (traces / "run-2.jsonl").write_text(json.dumps({"quote": "A badge costs 12 EUR."}))
    (corpus.folder / "threads.db").write_bytes(b"\0" * 5000 + SECRET.encode())
    (docs / "strongroom-memorandum.md").unlink()
    receipt = purge(corpus, Choice("docs", ("strongroom*",)), SETTINGS)
    assert receipt.is_clean
    assert {"traces/run-1.jsonl", "traces/run-1.meta", "threads.db"} < set(receipt.deleted)
    assert [path.name for path in traces.iterdir()] == ["run-2.jsonl"]


def test_what_is_left_in_a_file_nobody_knows_is_found_until_it_is_gone(corpus, docs):
    (docs / "strongroom-memorandum.md").unlink()
    copy = corpus.folder / "copy of the index.bak"
    copy.write_bytes(b"\xff" * 1_000_003 + SECRET.encode())
    receipt = purge(corpus, Choice("docs", ("strongroom*",)), SETTINGS)
    assert [leak.file for leak in receipt.leaks] == ["copy of the index.bak"]
    assert not receipt.is_clean
    finding = check(corpus.folder, None).findings["purge"]
    assert (finding.state, "copy of the index.bak" in finding.found) == ("failed", True)
    with pytest.raises(UsageError, match=r"left in copy of the index\.bak; delete what holds them first"):
        purge(corpus, Choice("docs"), SETTINGS)
    copy.unlink()
    checkup = repair(corpus.folder, None)
    assert checkup.is_sound
    assert any(said.startswith("purge: ") for said in checkup.repaired)
    assert check(corpus.folder, None).findings["purge"].state == "ok"


def test_the_search_fails_when_rows_were_left(corpus, docs, monkeypatch):
    """The search must be able to fail: without erasing it finds texts, terms and names in the database."""
    (docs / "strongroom-memorandum.md").unlink()
    monkeypatch.setattr(purging, "erase", lambda db: None)
    receipt = purge(corpus, Choice("docs", ("strongroom*",)), SETTINGS)
    [leak] = receipt.leaks
    assert leak.file == "corpus.db"
    assert set(leak.samples) == {"text", "term", "name", "vector"}


@pytest.mark.parametrize("table", ["texts", "passages", "versions", "documents"])
def test_the_search_fails_when_one_table_was_left(corpus, docs, monkeypatch, table):
    (docs / "strongroom-memorandum.md").unlink()
    original = purging.erase

    def leave_out(db):
        db.execute(f"CREATE TEMP TABLE kept AS SELECT * FROM {table}")
        original(db)
        db.execute(f"DELETE FROM {table}")
        db.execute(f"INSERT INTO {table} SELECT * FROM temp.kept")

    monkeypatch.setattr(purging, "erase", leave_out)
    receipt = purge(corpus, Choice("docs", ("strongroom*",)), SETTINGS)
    assert not receipt.is_clean


WORDS = st.text('abcdefghijklmnopqrstuvwxyzäöüß“\\"', min_size=3, max_size=12)
BODIES = (
    st.lists(WORDS, min_size=4, max_size=40).map(" ".join).filter(lambda body: any(map(str.isalpha, body)))
)


@settings(max_examples=settings.default.max_examples // 5)
@given(st.data())
def test_any_documents_leave_no_byte_and_no_influence(data):
    staying = data.draw(st.lists(BODIES, min_size=1, max_size=4, unique=True))
    going = data.draw(st.lists(BODIES, min_size=1, max_size=4, unique=True))
    earlier = data.draw(st.lists(BODIES, max_size=2, unique=True))
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        bodies = {f"stays-{n}.txt": text for n, text in enumerate(staying)}
        fresh = indexed(home / "fresh", bodies)
        first = bodies | {f"goes-{n}.txt": text for n, text in enumerate([*going, *earlier])}
        purged = indexed(home / "purged", first)
        for path in (home / "purged" / "docs").glob("goes-*"):
            path.unlink()
        synced(purged)
        receipt = purge(purged, Choice("docs", ("goes-*",)), SETTINGS)
        assert receipt.is_clean
        stays = "\0".join(staying)
        gone = {window for text in [*going, *earlier] for window in windows(text) if window not in stays}
        assert {window for window in gone if holding(purged.folder, window)} == set()
        for query in [*staying, *going]:
            assert ranked(purged, query) == ranked(fresh, query)
        assert check(purged.folder, CountingEncoder()).is_sound
        fresh.close()
        purged.close()


def indexed(home, bodies):
    (home / "docs").mkdir(parents=True)
    for name, body in bodies.items():
        (home / "docs" / name).write_text(body)
    corpus = Corpus.create(home / ".quaere")
    add_source(corpus, str(home / "docs"))
    synced(corpus)
    return corpus


def windows(text, size=12):
    return (
        {text[at : at + size] for at in range(max(1, len(text) - size + 1))} if len(text) >= size else set()
    )


def ranked(corpus, query):
    reader = corpus.reader(OWNER, Filter())
    keyword = reader.keyword(terms(query), 20)
    vector = reader.vector(CountingEncoder().encode_query(query), 20)
    readings = reader.readings([id for id, _ in (*keyword, *vector)])
    named = [
        [(-score, readings[id].document.path, readings[id].text) for id, score in one]
        for one in (keyword, vector)
    ]
    return [sorted(one) for one in named]


KILLED = """
import os, signal, sys
from pathlib import Path
from quaere.tools import purge as purging
from quaere.tools.corpus import Corpus
from quaere.tools.index import IndexSettings
from quaere.tools.removal import Choice

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

setattr(purging, sys.argv[2], die)
with_corpus = Corpus.open(Path(sys.argv[1]))
purging.purge(with_corpus, Choice("docs", ("strongroom*",)), IndexSettings())
"""

STEPS = ("erase", "compact", "drop_chroma", "living", "scour", "_settle")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("finish", ["repair", "purge"])
def test_a_purge_killed_at_any_step_is_finished_by_the_next_one(corpus, docs, step, finish):
    (docs / "strongroom-memorandum.md").unlink()
    folder = corpus.folder
    corpus.close()
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder), step], check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL
    again = Corpus.open(folder)
    assert again.reader(OWNER, Filter()).keyword(terms("Ottokar"), 5) == []
    assert check(folder, None).findings["purge"].state == "failed"
    if finish == "repair":
        assert repair(folder, CountingEncoder()).is_sound
    else:
        with pytest.raises(UsageError, match="no document of 'docs' fits"):
            purge(again, Choice("docs", ("strongroom*",)), SETTINGS)
    assert [told for told in TOLD if holding(folder, told)] == []
    assert check(folder, CountingEncoder()).is_sound
    assert finish_purge(folder) is None
    again.close()


def test_what_lives_again_by_the_time_a_purge_is_finished_stays(corpus, docs, monkeypatch):
    (docs / "strongroom-memorandum.md").unlink()

    def stop(folder, db):
        if purging.purge_note(db):
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(purging, "_finish", stop)
        with pytest.raises(KeyboardInterrupt):
            purge(corpus, Choice("docs", ("strongroom*",)), SETTINGS)
    (docs / "strongroom-memorandum.md").write_text(
        "# Strongroom memorandum\n\nThe strongroom is empty now.\n"
    )
    synced(corpus)
    receipt = finish_purge(corpus.folder)
    assert receipt.is_clean
    assert not holding(corpus.folder, "Ottokar")
    assert corpus.reader(OWNER, Filter()).keyword(terms("empty"), 5)
    assert check(corpus.folder, CountingEncoder()).is_sound


def test_a_reader_of_the_old_state_keeps_a_purge_unfinished_and_is_named(corpus, docs, monkeypatch):
    (docs / "strongroom-memorandum.md").unlink()
    monkeypatch.setattr(purging, "compact", lambda db: purging.empty_log(db, 0.1))
    with closing(sqlite3.connect(corpus.folder / "corpus.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM texts").fetchone()
        with pytest.raises(BusyError, match="another process still reads"):
            purge(corpus, Choice("docs", ("strongroom*",)), SETTINGS)
        assert corpus.reader(OWNER, Filter()).keyword(terms("Ottokar"), 5) == []
    monkeypatch.undo()
    assert finish_purge(corpus.folder).is_clean
    assert not holding(corpus.folder, "Ottokar")


def test_looking_through_the_workspace_keeps_the_locks_of_this_process(corpus):
    """Closing the database by another way than SQLite's would give them up."""
    with corpus.write() as writer:
        _ = writer.revision
        scour(corpus.folder, Needles())
        with closing(sqlite3.connect(corpus.folder / "corpus.db", timeout=0)) as other:
            code = f"import sqlite3; sqlite3.connect({str(corpus.folder / 'corpus.db')!r}, timeout=0).execute('BEGIN IMMEDIATE')"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, text=True)
            assert "locked" in done.stderr
            assert other is not None


def test_a_purge_of_nothing_but_failures_needs_no_document(corpus, docs):
    (docs / "empty.md").write_text("")
    synced(corpus)
    (docs / "empty.md").unlink()
    receipt = purge(corpus, Choice("docs", ("empty.md",)), SETTINGS)
    assert receipt.is_clean
    assert corpus.failures("docs") == {}


def test_vectors_of_living_passages_are_those_from_before(corpus, docs):
    reader = corpus.reader(OWNER, Filter(paths=("open*",)))
    before = reader.vector(CountingEncoder().encode_query("badge"), 5)
    (docs / "strongroom-memorandum.md").unlink()
    purge(corpus, Choice("docs", ("strongroom*",)), SETTINGS)
    after = corpus.reader(OWNER, Filter()).vector(CountingEncoder().encode_query("badge"), 5)
    assert after == before
    assert np.isclose(sum(score for _, score in after), sum(score for _, score in before))


def test_a_chroma_collection_goes_and_holds_nothing_of_it_when_it_is_made_again(corpus, docs):
    keep_chroma(corpus, CountingEncoder().fingerprint)
    (docs / "strongroom-memorandum.md").unlink()
    receipt = purge(corpus, Choice("docs", ("strongroom*",)), SETTINGS)
    assert receipt.is_clean
    assert {"chroma", "chroma.json"} <= set(receipt.deleted)
    assert not (corpus.folder / "chroma").exists()
    keep_chroma(corpus, CountingEncoder().fingerprint)
    assert [told for told in TOLD if holding(corpus.folder, told)] == []
    with door_of(corpus.folder).shut():
        assert check(corpus.folder, None).findings["purge"].state == "ok"


def test_a_term_spelt_by_two_values_of_a_row_is_no_leak(corpus):
    """SQLite writes `title` and `content_hash` without anything between them."""
    empty_log(sqlite3.connect(corpus.folder / "corpus.db"))
    with corpus.reading() as db:
        title, hash = db.execute("SELECT title, content_hash FROM versions ORDER BY title DESC").fetchone()
        needles = Needles()
        needles.add("term", [f"{title[-4:]}{hash[:4]}".encode(), title[:8].encode()])
        doubts = {"corpus.db": partial(inside_values, db)}
        assert [leak.samples for leak in scour(corpus.folder, needles).leaks] == [{"term": 2}]
        assert [leak.samples for leak in scour(corpus.folder, needles, doubts).leaks] == [{"term": 1}]
