import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from counting_encoder import CountingEncoder
from quaere.tools import plan
from quaere.tools.analyze import terms
from quaere.tools.corpus import Corpus
from quaere.tools.embed import open_encoder
from quaere.tools.errors import UsageError
from quaere.tools.evidence import OWNER, Filter
from quaere.tools.sync import IndexSettings, add_source, sync_all, sync_source

SETTINGS = IndexSettings()


@pytest.fixture
def corpus(tmp_path):
    opened = Corpus.create(tmp_path / ".quaere")
    yield opened
    opened.close()


@pytest.fixture
def docs(tmp_path):
    root = tmp_path / "docs"
    root.mkdir()
    (root / "badge.md").write_text("# Badge\n\nA badge costs 12 EUR.\n")
    (root / "delivery.md").write_text("# Delivery\n\nDelivery takes 4 days.\n")
    (root / "plain.txt").write_text("Visitors sign in at door 2.\n")
    return root


def sync(corpus, encoder=None, settings=SETTINGS, progress=None):
    report = sync_all(corpus, encoder, settings, progress)
    counted = report.new + report.changed + report.renamed + report.unchanged + report.failed + report.pending
    assert report.seen == counted
    return report


def add(corpus, root, encoder=None):
    add_source(corpus, str(root))
    return sync(corpus, encoder)


def texts(corpus):
    reader = corpus.reader(OWNER, Filter())
    ids = np.flatnonzero(reader.allowed).tolist()
    return {reading.document.path: reading.text.strip() for reading in reader.readings(ids).values()}


def bytes_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_add_indexes_every_file_and_the_sums_add_up(corpus, docs):
    report = add(corpus, docs)
    assert (report.seen, report.new, report.failed) == (3, 3, 0)
    assert set(texts(corpus)) == {"badge.md", "delivery.md", "plain.txt"}
    assert "12 EUR" in texts(corpus)["badge.md"]
    assert corpus.reader(OWNER, Filter()).keyword(terms("badges"), 5)


def test_second_sync_writes_nothing(tmp_path, corpus, docs):
    encoder = CountingEncoder()
    (docs / "broken.txt").write_bytes(b"")
    add(corpus, docs, encoder)
    revision = corpus.revision
    corpus.close()
    before = bytes_of(tmp_path / ".quaere")
    again = Corpus.open(tmp_path / ".quaere")
    report = sync(again, encoder)
    assert (report.unchanged, report.failed, report.new + report.changed + report.deleted) == (3, 1, 0)
    assert again.revision == revision
    again.close()
    assert bytes_of(tmp_path / ".quaere") == before


def test_a_changed_file_is_read_again_even_within_one_clock_tick(corpus, docs):
    add(corpus, docs)
    before = (docs / "badge.md").stat()
    (docs / "badge.md").write_text("# Badge\n\nA badge costs 13 EUR.\n")
    os.utime(docs / "badge.md", ns=(before.st_atime_ns, before.st_mtime_ns))
    report = sync(corpus)
    assert (report.changed, report.unchanged) == (1, 2)
    assert "13 EUR" in texts(corpus)["badge.md"]


def test_a_touched_file_is_unchanged_and_makes_no_revision(corpus, docs):
    add(corpus, docs)
    revision = corpus.revision
    os.utime(docs / "badge.md", ns=(1, 1))
    assert sync(corpus).unchanged == 3
    assert corpus.revision == revision


def test_a_deleted_file_is_gone_at_once(corpus, docs):
    add(corpus, docs)
    (docs / "badge.md").unlink()
    report = sync(corpus)
    assert (report.seen, report.deleted, report.unchanged) == (2, 1, 2)
    assert set(texts(corpus)) == {"delivery.md", "plain.txt"}


def test_a_renamed_file_keeps_its_id_and_is_not_encoded_again(corpus, docs):
    encoder = CountingEncoder()
    add(corpus, docs, encoder)
    ids = {d.path: d.id for d in corpus.reader(OWNER, Filter()).documents()}
    encoder.encoded.clear()
    (docs / "moved").mkdir()
    (docs / "badge.md").rename(docs / "moved/badge.md")
    (docs / "delivery.md").rename(docs / "terms.md")
    report = sync(corpus, encoder)
    assert (report.renamed, report.new, report.deleted, report.unchanged) == (2, 0, 0, 1)
    assert encoder.encoded == []
    now = {d.path: d.id for d in corpus.reader(OWNER, Filter()).documents()}
    assert now == {
        "moved/badge.md": ids["badge.md"],
        "terms.md": ids["delivery.md"],
        "plain.txt": ids["plain.txt"],
    }


def test_a_renamed_file_titled_by_its_name_gets_the_new_title(corpus, docs):
    add(corpus, docs)
    (docs / "plain.txt").rename(docs / "visitors.txt")
    report = sync(corpus)
    assert (report.renamed, report.deleted) == (1, 0)
    (document,) = [d for d in corpus.reader(OWNER, Filter()).documents() if d.path == "visitors.txt"]
    assert document.id == 3
    assert "plain" not in document.title


def test_two_equal_candidates_are_no_rename(corpus, docs):
    shutil.copy(docs / "badge.md", docs / "copy.md")
    add(corpus, docs)
    (docs / "badge.md").rename(docs / "b1.md")
    (docs / "copy.md").rename(docs / "b2.md")
    report = sync(corpus)
    assert (report.renamed, report.new, report.deleted) == (0, 2, 2)


def test_files_that_fail_are_listed_once_each_and_tried_again(corpus, docs):
    (docs / "empty.md").write_bytes(b"")
    (docs / "noise.txt").write_bytes(random.Random(1).randbytes(2048))
    report = add(corpus, docs)
    assert (report.seen, report.new) == (5, 3)
    assert [path for path, _ in report.failures] == ["empty.md", "noise.txt"]
    assert all(reason and "\n" not in reason for _, reason in report.failures)
    assert sorted(corpus.failures("docs")) == ["empty.md", "noise.txt"]
    (docs / "empty.md").write_text("Now it has words.\n")
    (docs / "noise.txt").unlink()
    report = sync(corpus)
    assert (report.new, report.failed, report.deleted) == (1, 0, 0)
    assert corpus.failures("docs") == {}


def test_a_failure_is_not_read_again_when_that_is_not_wanted(corpus, docs):
    (docs / "empty.md").write_bytes(b"")
    add(corpus, docs)
    report = sync(corpus, settings=IndexSettings(retry=False))
    assert [path for path, _ in report.failures] == ["empty.md"]
    (docs / "empty.md").write_text("Words.\n")
    assert sync(corpus, settings=IndexSettings(retry=False)).new == 1


def test_a_file_that_becomes_unreadable_keeps_its_last_version_and_says_so(corpus, docs):
    add(corpus, docs)
    (docs / "badge.md").write_bytes(b"")
    report = sync(corpus)
    assert (report.failed, report.deleted) == (1, 0)
    assert any("badge.md" in warning and "stays searchable" in warning for warning in report.warnings)
    assert "12 EUR" in texts(corpus)["badge.md"]
    (docs / "badge.md").write_text("# Badge\n\nA badge costs 12 EUR.\n")
    assert sync(corpus).unchanged == 3
    assert corpus.failures("docs") == {}


def test_an_oversized_file_is_a_failure_with_its_limit(corpus, docs):
    add_source(corpus, str(docs))
    with (docs / "huge.txt").open("wb") as out:
        out.truncate(5_000_000_000)
    report = sync(corpus, settings=IndexSettings(max_file_bytes=2_000_000))
    assert report.failures == (("huge.txt", "larger than 2 MB"),)


def test_a_missing_root_deletes_nothing(corpus, docs):
    add(corpus, docs)
    docs.rename(docs.with_name("away"))
    report = sync(corpus)
    assert report.missing == ("docs",)
    assert report.deleted == report.seen == 0
    assert corpus.counts().documents == 3
    docs.mkdir()  # what is left of a folder when its disk is unmounted
    assert sync(corpus).missing == ("docs",)
    assert corpus.counts().documents == 3
    docs.rmdir()
    docs.with_name("away").rename(docs)
    assert sync(corpus).unchanged == 3


def test_a_folder_that_goes_away_while_it_is_read_keeps_its_documents(corpus, docs):
    add(corpus, docs)
    for name in ("badge.md", "delivery.md", "plain.txt"):
        (docs / name).write_text("# Other\n\nOther words.\n")

    def take_away(stage, done, total, detail):
        if docs.exists():
            docs.rename(docs.with_name("away"))

    report = sync(corpus, progress=take_away)
    assert (report.changed, report.pending, report.failed, report.deleted) == (1, 2, 0, 0)
    assert report.missing == ("docs",)
    assert any("went away while it was read" in warning for warning in report.warnings)
    assert corpus.counts().documents == 3
    docs.with_name("away").rename(docs)
    assert (sync(corpus).changed, corpus.failures("docs")) == (2, {})


def test_a_folder_that_goes_away_during_the_walk_deletes_nothing(corpus, docs, monkeypatch):
    add(corpus, docs)
    walk = plan.scan

    def walk_then_lose(*given):
        docs.rename(docs.with_name("away"))
        docs.mkdir()
        return walk(docs, *given[1:])

    monkeypatch.setattr(plan, "scan", walk_then_lose)
    assert (sync(corpus).deleted, corpus.counts().documents) == (0, 3)


def test_a_folder_that_was_emptied_is_emptied_here_too(corpus, docs):
    add(corpus, docs)
    for file in docs.iterdir():
        file.unlink()
    assert sync(corpus).deleted == 3
    assert corpus.counts().documents == 0


def test_a_folder_that_cannot_be_entered_keeps_its_documents():
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "docs/closed").mkdir(parents=True)
        (root / "docs/open.md").write_text("Outside words.\n")
        (root / "docs/closed/in.md").write_text("Inside words.\n")
        corpus = Corpus.create(root / ".quaere")
        add(corpus, root / "docs")
        corpus.close()
        (root / "docs/closed").chmod(0)
        for path in (root, root / ".quaere", *(root / ".quaere").iterdir()):
            path.chmod(0o777)
        report = as_nobody(lambda: sync_once(root / ".quaere"))
        (root / "docs/closed").chmod(0o755)
    assert (report.deleted, report.unchanged) == (0, 1)
    assert any("closed" in warning for warning in report.warnings)


def test_a_file_without_read_permission_is_a_failure_with_that_reason():
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "docs").mkdir()
        (root / "docs/good.md").write_text("Good words.\n")
        (root / "docs/locked.txt").write_text("Locked words.\n")
        (root / "docs/locked.txt").chmod(0)
        corpus = Corpus.create(root / ".quaere")
        add_source(corpus, str(root / "docs"))
        corpus.close()
        for path in (root, root / ".quaere", *(root / ".quaere").iterdir()):
            path.chmod(0o777)
        report = as_nobody(lambda: sync_once(root / ".quaere"))
    assert (report.seen, report.new) == (2, 1)
    assert report.failures == (("locked.txt", "no permission to read it"),)


def sync_once(folder):
    opened = Corpus.open(folder)
    report = sync(opened)
    opened.close()
    return report


def as_nobody(act):
    """Run as a user who may not read everything, which root may."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        return act()
    finally:
        os.seteuid(user)


def test_changed_settings_split_every_file_again(corpus, docs):
    add(corpus, docs)
    report = sync(corpus, settings=IndexSettings(passage_tokens=100))
    assert (report.changed, report.unchanged) == (3, 0)
    assert len({known.mark for known in corpus.known("docs").values()}) == 1
    assert sync(corpus, settings=IndexSettings(passage_tokens=100)).unchanged == 3


def test_a_new_encoder_splits_again_and_none_keeps_what_is_there(corpus, docs):
    add(corpus, docs, CountingEncoder("one"))
    assert sync(corpus).unchanged == 3
    assert sync(corpus, CountingEncoder("one")).unchanged == 3
    report = sync(corpus, CountingEncoder("two"))
    assert (report.changed, report.vectors_missing) == (3, 0)
    assert corpus.space == "two"


def test_excluding_a_file_removes_it(corpus, docs):
    add(corpus, docs)
    report = sync(corpus, settings=IndexSettings(exclude=("*.txt",)))
    assert (report.seen, report.deleted) == (2, 1)


def test_stopped_encoding_goes_on_with_what_is_missing(corpus, docs, monkeypatch):
    monkeypatch.setattr("quaere.tools.index.BATCH", 1)
    stopping = CountingEncoder(stop_after=1)
    report = add(corpus, docs, stopping)
    assert report.interrupted
    assert report.new == 3
    assert report.vectors_ready == 1
    assert report.vectors_missing == report.passages - 1
    assert any("quaere sync" in warning for warning in report.warnings)
    going_on = CountingEncoder()
    report = sync(corpus, going_on)
    assert (report.interrupted, report.vectors_missing) == (False, 0)
    assert len(going_on.encoded) == report.passages - 1


def test_stopping_between_files_keeps_those_that_are_done(corpus, docs):
    def stop(stage, done, total, detail):
        if done == 2:
            raise KeyboardInterrupt

    add_source(corpus, str(docs))
    report = sync(corpus, progress=stop)
    assert (report.interrupted, report.new, report.pending) == (True, 2, 1)
    assert corpus.counts().documents == 2
    assert sync(corpus).new == 1


def test_the_default_encoder_makes_documents_findable_by_meaning(corpus, docs):
    encoder = open_encoder(None)
    report = add(corpus, docs, encoder)
    assert (report.vectors_ready, report.vectors_missing) == (report.passages, 0)
    assert report.encoder_seconds > 0
    reader = corpus.reader(OWNER, Filter())
    (best, _), *_ = reader.vector(encoder.encode_query("How long until my parcel arrives?"), 3)
    assert reader.readings([best])[best].document.path == "delivery.md"


def test_progress_of_encoding_ends_at_the_total_when_passages_repeat(corpus, tmp_path):
    seen = []
    for n in range(4):
        (tmp_path / f"docs{n}").mkdir()
        (tmp_path / f"docs{n}/same.md").write_text("# Same\n\nThe same words.\n")
        add_source(corpus, str(tmp_path / f"docs{n}"))
    encoder = CountingEncoder()
    sync(corpus, encoder, progress=lambda *event: seen.append(event))
    assert len(encoder.encoded) == 1
    assert [event for event in seen if event[0] == "encode"] == [("encode", 4, 4, "")]


def test_progress_names_stage_and_file(corpus, docs):
    seen = []
    add_source(corpus, str(docs))
    sync(corpus, CountingEncoder(), progress=lambda *event: seen.append(event))
    assert [event for event in seen if event[0] == "read"] == [
        ("read", 1, 3, "badge.md"),
        ("read", 2, 3, "delivery.md"),
        ("read", 3, 3, "plain.txt"),
    ]
    assert seen[-1][0] == "encode"
    assert seen[-1][1] == seen[-1][2]


def test_several_sources_are_told_apart(tmp_path, corpus, docs):
    other = tmp_path / "sub/docs"
    other.mkdir(parents=True)
    (other / "x.md").write_bytes(b"")
    add_source(corpus, str(docs))
    second = add_source(corpus, str(other))
    assert second.id == "docs-2"
    assert sync(corpus).failures[0][0] == "docs-2/x.md"
    summary = {one.id: one for one in corpus.overview()}
    assert (summary["docs"].documents, summary["docs-2"].documents) == (3, 0)
    assert summary["docs-2"].failures[0][0] == "x.md"
    assert sync_source(corpus, "docs", None, SETTINGS).seen == 3


def test_one_file_can_be_a_source(corpus, docs):
    report = add(corpus, docs / "badge.md")
    assert (report.new, list(texts(corpus))) == (1, ["badge.md"])
    assert corpus.reader(OWNER, Filter()).standing([1]) == {1: "same"}


def test_the_same_folder_again_is_the_same_source(corpus, docs, monkeypatch):
    first = add_source(corpus, str(docs))
    monkeypatch.setenv("HOME", str(docs.parent))
    assert add_source(corpus, "~/docs/../docs/") == first
    monkeypatch.chdir(docs)
    assert add_source(corpus, ".") == first


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("docs/none", "is not there"),
        ("docs/badge.md", "lies in source"),
        (".", "holds source"),
        (".quaere", "own folder"),
    ],
)
def test_a_location_that_cannot_be_a_source_is_refused(corpus, docs, monkeypatch, location, words):
    monkeypatch.chdir(docs.parent)
    add_source(corpus, "docs")
    with pytest.raises(UsageError, match=words):
        add_source(corpus, location)
    assert len(corpus.sources()) == 1


def test_an_unknown_source_is_a_usage_error(corpus):
    with pytest.raises(UsageError, match="quaere sources"):
        sync_source(corpus, "none", None, SETTINGS)


def test_a_workspace_inside_its_source_is_not_indexed(tmp_path, corpus, docs):
    add(corpus, tmp_path)
    assert all(not path.startswith(".quaere") for path in texts(corpus))


CHILD = """
import sys
from pathlib import Path
from quaere.tools.corpus import Corpus
from quaere.tools.sync import IndexSettings, sync_all
def acknowledge(stage, done, total, detail):
    print(stage, detail, flush=True)
sync_all(Corpus.open(Path(sys.argv[1])), None, IndexSettings(), acknowledge)
"""


def whole(folder):
    """Assert that no document is half there, and return the living paths with their texts."""
    opened = Corpus.open(folder)
    db = sqlite3.connect(folder / "corpus.db")
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    living = db.execute(
        """SELECT d.path, v.id, v.first_passage, v.passages
           FROM documents d JOIN versions v ON v.id = d.current"""
    ).fetchall()
    assert db.execute("SELECT count(*) FROM versions WHERE died IS NULL").fetchone() == (len(living),)
    indexed = set()
    for (passages,) in db.execute("SELECT passages FROM segments"):
        indexed.update(np.frombuffer(passages, "<u4").tolist())
    for _, version, first, count in living:
        ids = [
            row[0] for row in db.execute("SELECT id FROM passages WHERE version = ? ORDER BY id", (version,))
        ]
        assert ids == list(range(first, first + count))
        assert ids
        assert indexed.issuperset(ids)
    db.close()
    reader = opened.reader(OWNER, Filter())
    found = {
        document.path: reader.readings(reader.document_passages(document.id)[:1]).popitem()[1].text
        for document in reader.documents()
    }
    opened.close()
    return found


def test_a_kill_loses_nothing_acknowledged_and_leaves_nothing_half(tmp_path):
    root, folder, chance = tmp_path / "docs", tmp_path / ".quaere", random.Random(7)
    root.mkdir()
    corpus = Corpus.create(folder)
    add_source(corpus, str(root))
    corpus.close()
    kept = {}
    for round in range(5):
        for n in range(60):
            (root / f"f{n:02}.md").write_text(f"round{round} text{n}. " + "word and more. " * 200)
        command = [sys.executable, "-c", CHILD, str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            lines = [child.stdout.readline() for _ in range(chance.randint(1, 30))]
            time.sleep(chance.random() / 50)
            child.send_signal(signal.SIGKILL)
            lines += child.stdout.readlines()
        acknowledged = {line.split()[1] for line in lines if line.endswith("\n") and line.startswith("read ")}
        kept = whole(folder)
        assert acknowledged
        assert all(f"round{round} " in kept[path] for path in acknowledged)
    last = Corpus.open(folder)
    sync(last)
    assert all("round4 " in text for text in whole(folder).values())
    assert last.counts().documents == 60
    last.close()
