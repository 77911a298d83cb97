"""Every store is damaged on purpose: the check of that store fails, and where a repair exists it mends it."""

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest
from counting_encoder import CountingEncoder
from quaere.tools import disk, place_checks, vector_checks
from quaere.tools.analyze import terms
from quaere.tools.checks import EVERYTHING, SAMPLE, some
from quaere.tools.checkup import LOOKS, check, repair
from quaere.tools.chroma import keep_chroma
from quaere.tools.chroma_door import door_of
from quaere.tools.corpus import Corpus
from quaere.tools.errors import BusyError, WorkspaceError
from quaere.tools.evidence import OWNER, Filter
from quaere.tools.lock import writer_lock
from quaere.tools.sync import IndexSettings, add_source, sync_all
from quaere.tools.vector_checks import matrix_files

TEXTS = {
    "badge.md": "# Badge\n\nA badge costs 12 EUR. It opens door 3.\n\n# Loss\n\nA lost badge is blocked at once.\n",
    "delivery.md": "# Delivery\n\nDelivery takes 4 days.\n",
    "plain.txt": "Visitors sign in at door 2.\n",
}


@pytest.fixture
def docs(tmp_path):
    root = tmp_path / "docs"
    root.mkdir()
    for name, text in TEXTS.items():
        (root / name).write_text(text)
    return root


@pytest.fixture
def folder(tmp_path, docs):
    """An index of three files with vectors and a matrix."""
    corpus = Corpus.create(tmp_path / ".quaere")
    add_source(corpus, str(docs))
    synced(corpus)
    searched(corpus)
    corpus.close()
    return tmp_path / ".quaere"


def synced(corpus):
    return sync_all(corpus, CountingEncoder(), IndexSettings())


def searched(corpus):
    reader = corpus.reader(OWNER, Filter())
    found = {path: reader.keyword(terms(path), 9) for path in ("badges", "doors", "delivery")}
    return found, reader.vector(CountingEncoder().encode_query("badge"), 9)


def damage(folder, *statements):
    with closing(sqlite3.connect(folder / "corpus.db")) as db, db:
        for statement in statements:
            db.execute(statement)


def states(checkup):
    return {name: finding.state for name, finding in checkup.findings.items()}


def test_a_sound_index_passes_every_check(folder):
    checkup = check(folder, CountingEncoder())
    assert set(states(checkup).values()) == {"ok"}
    assert checkup.is_sound
    assert list(checkup.findings) == list(LOOKS)


def test_a_checkup_changes_nothing(folder):
    with closing(sqlite3.connect(folder / "corpus.db")) as db:
        before = list(db.iterdump())
        check(folder, CountingEncoder())
        assert list(db.iterdump()) == before


DAMAGES = {
    "a document shows a version that is not there": (
        "documents",
        "UPDATE documents SET current = 99 WHERE path = 'badge.md'",
    ),
    "a document shows a version of another": (
        "documents",
        "UPDATE documents SET current = 2 WHERE path = 'badge.md'",
    ),
    "two versions of a document live": (
        "documents",
        "INSERT INTO versions SELECT 77, document, text, title, content_hash, media_type, parser, splitter, size,"
        " mtime_ns, ctime_ns, observed_ns, valid_from, valid_until, born, died, 0, 0, warnings, superseded_by"
        " FROM versions WHERE id = 1",
    ),
    "a deleted document has a living version": (
        "documents",
        "UPDATE documents SET current = NULL WHERE path = 'badge.md'",
    ),
    "a document belongs to no source": ("documents", "DELETE FROM sources"),
    "a text is gone": ("texts", "DELETE FROM texts WHERE id = 1"),
    "a text was altered": ("texts", "UPDATE texts SET body = replace(body, '12', '13')"),
    "a passage is gone": ("passages", "DELETE FROM passages WHERE id = 1"),
    "a passage is out of order": ("passages", "UPDATE passages SET ordinal = 5 WHERE id = 2"),
    "a passage ends behind its text": ("passages", 'UPDATE passages SET "end" = 9999 WHERE id = 1'),
    "a passage has the key of another": (
        "passages",
        "UPDATE passages SET input_key = (SELECT input_key FROM passages WHERE id = 1) WHERE id = 2",
    ),
    "a sentence lies outside its passage": (
        "passages",
        "UPDATE passages SET sentences = replace(sentences, '[[', '[[9') WHERE id = 1",
    ),
    "sentences cannot be read": ("passages", "UPDATE passages SET sentences = '[[[1,2' WHERE id = 1"),
    "a passage belongs to no version": ("passages", "UPDATE passages SET version = 99 WHERE id = 4"),
    "the keyword index lacks a document": (
        "keyword index",
        "DELETE FROM postings WHERE segment = 1",
        "DELETE FROM segments WHERE id = 1",
    ),
    "the keyword index lacks a term": ("keyword index", "DELETE FROM postings WHERE term = 'door'"),
    "a term stands for another": (
        "keyword index",
        "UPDATE postings SET term = 'window' WHERE term = 'door' AND segment = 1",
    ),
    "lists of no segment": ("keyword index", "UPDATE postings SET segment = 9 WHERE segment = 1"),
    "the keyword index holds a passage twice": (
        "keyword index",
        "INSERT INTO segments SELECT 9, passages, lengths, documents FROM segments WHERE id = 1",
    ),
    "a posting list is cut short": (
        "keyword index",
        "UPDATE postings SET passages = substr(passages, 1, length(passages) - 1)",
    ),
    "a posting list lacks counts": ("keyword index", "UPDATE postings SET counts = x'' WHERE term = 'door'"),
    "the lengths of passages are cut short": ("keyword index", "UPDATE segments SET lengths = x'0100'"),
    "the keyword index names another version": (
        "keyword index",
        "UPDATE segments SET documents = (SELECT documents FROM segments WHERE id = 3) WHERE id = 2",
    ),
    "a vector is cut short": ("vectors", "UPDATE vectors SET vector = substr(vector, 1, 8)"),
    "one vector is of another size": (
        "vectors",
        "UPDATE vectors SET vector = substr(vector, 1, 4) WHERE key = (SELECT min(key) FROM vectors)",
    ),
    "a vector is zero": (
        "vectors",
        "UPDATE vectors SET vector = zeroblob(length(vector)) WHERE key = (SELECT min(key) FROM vectors)",
    ),
    "a vector is that of another text": (
        "vectors",
        "UPDATE vectors SET vector = (SELECT vector FROM vectors ORDER BY key DESC LIMIT 1)",
    ),
}


@pytest.mark.parametrize("what", DAMAGES)
def test_what_is_damaged_is_found(folder, what):
    name, *statements = DAMAGES[what]
    damage(folder, *statements)
    checkup = check(folder, CountingEncoder())
    assert name in checkup.failed
    assert checkup.findings[name].way_out
    assert not checkup.is_sound


@pytest.mark.parametrize(
    "what", [what for what, (name, *_) in DAMAGES.items() if name in ("documents", "keyword index")]
)
def test_relations_and_keyword_index_are_mended_at_once(folder, what):
    damage(folder, *DAMAGES[what][1:])
    checkup = repair(folder, CountingEncoder())
    assert checkup.failed == []
    assert checkup.repaired
    assert check(folder, CountingEncoder()).is_sound


@pytest.mark.parametrize(
    "what",
    [what for what, (name, *_) in DAMAGES.items() if name in ("texts", "passages")],
)
def test_damaged_texts_and_passages_are_read_again_by_the_next_sync(folder, what):
    damage(folder, *DAMAGES[what][1:])
    checkup = repair(folder, CountingEncoder())
    assert any("to be read again by the next `quaere sync`" in done for done in checkup.repaired)
    with closing(Corpus.open(folder)) as corpus:
        assert synced(corpus).changed >= 1
        reader = corpus.reader(OWNER, Filter())
        ids = np.flatnonzero(reader.allowed).tolist()
        assert sum("12 EUR" in reading.text for reading in reader.readings(ids).values()) == 1
    assert check(folder, None).failed == []


@pytest.mark.parametrize("what", ["one vector is of another size", "a vector is zero"])
def test_unsound_vectors_are_dropped_and_encoded_again_by_the_next_sync(folder, what):
    damage(folder, *DAMAGES[what][1:])
    checkup = repair(folder, CountingEncoder())
    assert checkup.findings["vectors"].state == "warning"
    with closing(Corpus.open(folder)) as corpus:
        synced(corpus)
    assert check(folder, CountingEncoder()).findings["vectors"].state == "ok"


def test_a_search_of_a_damaged_keyword_index_names_the_repair(folder):
    damage(folder, *DAMAGES["a posting list is cut short"][1:])
    with closing(Corpus.open(folder)) as corpus, pytest.raises(WorkspaceError, match="doctor --repair"):
        searched(corpus)


def test_a_rebuilt_keyword_index_ranks_as_before(folder):
    with closing(Corpus.open(folder)) as corpus:
        before = searched(corpus)
    damage(folder, "DELETE FROM postings", "DELETE FROM segments")
    repair(folder, CountingEncoder())
    with closing(Corpus.open(folder)) as corpus:
        assert searched(corpus) == before


def test_a_matrix_that_differs_from_the_vectors_is_found_and_removed(folder):
    damage(folder, "UPDATE vectors SET vector = (SELECT vector FROM vectors ORDER BY key DESC LIMIT 1)")
    assert check(folder, None).failed == ["matrix"]
    assert repair(folder, None).failed == []
    assert matrix_files(folder) == []


def test_a_matrix_with_passages_that_are_no_more_is_found(folder):
    damage(folder, "DELETE FROM passages WHERE id = 1")
    assert "matrix" in check(folder, None).failed


def test_a_matrix_that_cannot_be_read_is_a_warning_for_it_is_made_anew(folder):
    [path] = matrix_files(folder)
    path.write_bytes(path.read_bytes()[:-4])
    assert check(folder, None).findings["matrix"].state == "warning"


def test_a_damaged_page_is_found(folder):
    with closing(sqlite3.connect(folder / "corpus.db")) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        page = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'versions_document'").fetchone()[0]
    with (folder / "corpus.db").open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 512)
    checkup = check(folder, None)
    assert checkup.findings["pages"].state == "failed"
    assert "backup" in checkup.findings["pages"].way_out


@pytest.mark.parametrize("content", [None, b"", b"not a database\n" * 50])
def test_a_file_that_cannot_be_opened_is_one_finding(tmp_path, content):
    if content is not None:
        (tmp_path / "corpus.db").write_bytes(content)
    checkup = check(tmp_path, None)
    assert checkup.failed == ["pages"]
    assert checkup.findings["pages"].way_out


def test_missing_vectors_and_versions_that_wait_are_warnings(folder):
    damage(folder, "DELETE FROM vectors WHERE key = (SELECT min(key) FROM vectors)")
    checkup = check(folder, CountingEncoder())
    assert checkup.findings["vectors"].state == "warning"
    assert "quaere sync" in checkup.findings["vectors"].way_out
    damage(
        folder,
        "INSERT INTO versions SELECT 77, document, text, title, content_hash, media_type, parser, splitter, size,"
        " mtime_ns, ctime_ns, observed_ns, valid_from, valid_until, born, 0, 0, 0, warnings, superseded_by"
        " FROM versions WHERE id = 1",
    )
    assert check(folder, None).findings["encoder change"].state == "warning"


def test_a_folder_open_to_others_is_closed_by_the_repair(folder):
    folder.chmod(0o755)
    assert check(folder, None).findings["permissions"].state == "warning"
    assert repair(folder, None).findings["permissions"].state == "ok"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_source_that_is_away_and_files_that_failed_are_warnings(folder, docs):
    (docs / "empty.md").write_text("")
    with closing(Corpus.open(folder)) as corpus:
        synced(corpus)
    finding = check(folder, None).findings["files"]
    assert finding.state == "warning"
    assert "empty.md" in finding.found
    docs.rename(docs.with_name("elsewhere"))
    finding = check(folder, None).findings["sources"]
    assert (finding.state, "quaere remove" in finding.way_out) == ("warning", True)


HOLD = """
import sys
from pathlib import Path
from quaere.tools.lock import writer_lock
with writer_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_another_writer_is_told_and_keeps_a_repair_out(folder, monkeypatch):
    command = [sys.executable, "-c", HOLD, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "held\n"
        finding = check(folder, None).findings["writers"]
        assert (finding.state, f"pid {child.pid}" in finding.found) == ("warning", True)
        with pytest.raises(BusyError), writer_lock(folder, 0):
            pass
        child.kill()
    assert check(folder, None).findings["writers"].state == "ok"


def test_a_network_disk_is_a_warning_with_the_way_out(folder, tmp_path, monkeypatch):
    table = tmp_path / "mountinfo"
    table.write_text(f"36 35 0:32 / {tmp_path} rw - nfs4 server:/x rw\n")
    monkeypatch.setattr(disk, "MOUNTS", table)
    finding = check(folder, None).findings["disk"]
    assert (finding.state, "nfs4" in finding.found) == ("warning", True)
    assert "disk of this machine" in finding.way_out


def test_a_disk_that_is_nearly_full_is_a_warning(folder, monkeypatch):
    monkeypatch.setattr(place_checks, "LITTLE_SPACE", 10**18)
    assert check(folder, None).findings["disk"].state == "warning"


def test_a_sample_of_many_is_the_same_each_time_and_in_order():
    assert some(range(EVERYTHING)) == list(range(EVERYTHING))
    sample = some(range(EVERYTHING + 1))
    assert len(sample) == SAMPLE
    assert sample == sorted(sample) == some(range(EVERYTHING + 1))


@pytest.fixture
def with_chroma(folder):
    """The index with a Chroma collection in step with it."""
    with closing(Corpus.open(folder)) as corpus:
        keep_chroma(corpus, CountingEncoder().fingerprint)
    yield folder
    with door_of(folder).shut():
        pass


def test_a_collection_in_step_is_compared_and_its_recall_measured(with_chroma):
    finding = check(with_chroma, CountingEncoder()).findings["chroma"]
    assert finding.state == "ok"
    assert "100.0% of the 50 nearest found" in finding.found


def test_a_collection_that_is_behind_is_a_warning_and_kept_by_a_repair(with_chroma, docs):
    (docs / "new.md").write_text("Visitors wear a badge.\n")
    with closing(Corpus.open(with_chroma)) as corpus:
        synced(corpus)
    checkup = repair(with_chroma, CountingEncoder())
    assert checkup.findings["chroma"].state == "warning"
    assert (with_chroma / "chroma").exists()


def test_a_damaged_collection_fails_and_is_dropped_by_a_repair(with_chroma):
    os.truncate(with_chroma / "chroma" / "chroma.sqlite3", 5000)
    checkup = check(with_chroma, None)
    assert checkup.failed == ["chroma"]
    mended = repair(with_chroma, None)
    assert mended.is_sound
    assert any(said.startswith("chroma: removed") for said in mended.repaired)
    assert not (with_chroma / "chroma").exists()


def test_a_collection_that_proposes_too_few_of_the_nearest_fails(with_chroma, monkeypatch):
    monkeypatch.setattr(vector_checks, "measure_recall", lambda folder: 0.98)
    finding = check(with_chroma, None).findings["chroma"]
    assert (finding.state, "98.0%" in finding.found) == ("failed", True)


def test_terms_of_an_earlier_analysis_are_left_to_the_next_sync(folder):
    damage(
        folder,
        "UPDATE versions SET splitter = replace(splitter, 'analyze/', 'analyze/0')",
        "UPDATE postings SET term = 'window' WHERE term = 'door' AND segment = 1",
    )
    assert check(folder, None).findings["keyword index"].state == "ok"
    with closing(Corpus.open(folder)) as corpus:
        assert synced(corpus).changed == 3
    assert check(folder, None).is_sound


def test_the_note_of_a_killed_writer_is_told_and_goes(folder):
    (folder / "writer.json").write_text('{"pid": 0, "since": "2026-01-01T00:00:00Z"}')
    assert "had left its note" in check(folder, None).findings["writers"].found
    assert not (folder / "writer.json").exists()
    assert "had left" not in repair(folder, None).findings["writers"].found
