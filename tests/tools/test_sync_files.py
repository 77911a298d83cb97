"""Whatever lies in a folder, a sync counts it, names it, skips it and tries it again; nothing stops it."""

from __future__ import annotations

import os
import socket
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quaere.tools.corpus import Corpus
from quaere.tools.evidence import NO_FILTER, OWNER
from quaere.tools.index import IndexSettings
from quaere.tools.sources import add_source
from quaere.tools.sync import sync_all


@pytest.fixture
def corpus(tmp_path):
    opened = Corpus.create(tmp_path / ".quaere")
    yield opened
    opened.close()


@pytest.fixture
def docs(tmp_path):
    root = tmp_path / "docs"
    root.mkdir()
    (root / "good.md").write_text("A badge costs 12 EUR.\n")
    return root


def sync(corpus, options=None):
    report = sync_all(corpus, None, options or IndexSettings())
    counted = report.new + report.changed + report.renamed + report.unchanged + report.failed + report.pending
    assert report.seen == counted
    return report


def add(corpus, root):
    add_source(corpus, str(root))
    return sync(corpus)


def texts(corpus):
    reader = corpus.reader(OWNER, NO_FILTER)
    ids = np.flatnonzero(reader.allowed).tolist()
    return {one.document.path: one.text.strip() for one in reader.readings(ids).values()}


def test_a_file_of_five_gigabytes_is_refused_by_its_size_alone(corpus, docs):
    with (docs / "huge.txt").open("wb") as out:
        out.truncate(5_000_000_000)
    tracemalloc.start()
    report = add(corpus, docs)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (report.seen, report.new, report.failures) == (2, 1, (("huge.txt", "larger than 100 MB"),))
    assert peak < 20_000_000
    (docs / "huge.txt").write_text("Now it is small.\n")
    assert sync(corpus).new == 1


def test_a_huge_file_that_may_be_a_renamed_one_is_not_read_for_it(corpus, docs):
    add(corpus, docs)
    (docs / "good.md").unlink()
    with (docs / "huge.md").open("wb") as out:
        out.truncate(5_000_000_000)
    report = sync(corpus)
    assert (report.seen, report.failed, report.deleted) == (1, 1, 1)


def test_links_are_counted_by_where_they_lead(corpus, docs, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_text("The safe opens at noon.\n")
    (docs / "sub").mkdir()
    (docs / "sub" / "up").symlink_to(docs)
    (docs / "a").symlink_to(docs / "b")
    (docs / "b").symlink_to(docs / "a")
    (docs / "out.md").symlink_to(tmp_path / "outside" / "secret.md")
    (docs / "outside").symlink_to(tmp_path / "outside")
    (docs / "dotdot").symlink_to("../outside/../outside")
    report = add(corpus, docs)
    assert (report.seen, report.new, report.skipped) == (1, 1, 6)
    assert sum("out of the folder" in warning for warning in report.warnings) == 3
    assert sum("leads nowhere" in warning for warning in report.warnings) == 2
    assert sum("round in a circle" in warning for warning in report.warnings) == 1
    assert texts(corpus) == {"good.md": "A badge costs 12 EUR."}


def test_a_file_that_becomes_a_link_out_of_the_folder_is_gone(corpus, docs, tmp_path):
    (tmp_path / "secret.md").write_text("The safe opens at noon.\n")
    add(corpus, docs)
    (docs / "good.md").unlink()
    (docs / "good.md").symlink_to(tmp_path / "secret.md")
    report = sync(corpus)
    assert (report.seen, report.deleted, report.skipped) == (0, 1, 1)
    assert texts(corpus) == {}


def test_pipes_sockets_and_devices_are_skipped_and_named(corpus, docs):
    os.mkfifo(docs / "pipe.md")
    (docs / "null.md").symlink_to("/dev/null")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(docs / "s.md"))
        report = add(corpus, docs)
    assert (report.seen, report.new, report.skipped) == (1, 1, 3)
    assert {"pipe.md: not a regular file", "s.md: not a regular file"} <= set(report.warnings)


def test_a_pipe_in_place_of_a_file_that_was_indexed_stops_nothing(corpus, docs):
    add(corpus, docs)
    (docs / "good.md").unlink()
    os.mkfifo(docs / "good.md")
    report = sync(corpus)
    assert (report.seen, report.deleted, report.skipped) == (0, 1, 1)


@pytest.mark.parametrize(
    "name", [b"caf\xe9.md", b"\xff\xfe.txt", b"a\nb.md", b"tab\t.md", b"\x1b[31mred.md", b" .md"]
)
def test_a_name_of_any_bytes_is_indexed_once_and_found_again(corpus, docs, name):
    (docs / os.fsdecode(name)).write_text("The spare key hangs in locker 31.\n")
    report = add(corpus, docs)
    assert (report.seen, report.new, report.failed) == (2, 2, 0)
    assert sync(corpus).unchanged == 2
    (docs / os.fsdecode(name)).write_text("The spare key hangs in locker 32.\n")
    assert sync(corpus).changed == 1
    assert "The spare key hangs in locker 32." in texts(corpus).values()
    (docs / os.fsdecode(name)).unlink()
    assert sync(corpus).deleted == 1


def test_two_names_that_are_shown_alike_are_not_mixed_up(corpus, docs):
    (docs / os.fsdecode(b"caf\xe9.md")).write_text("One.\n")
    (docs / r"caf\xe9.md").write_text("Two.\n")
    report = add(corpus, docs)
    assert (report.seen, report.new, report.skipped) == (2, 2, 1)
    assert any("two names look the same" in warning for warning in report.warnings)


def test_a_file_that_grows_while_it_is_read_is_tried_again(corpus, docs, monkeypatch):
    growing = docs / "growing.log"
    growing.write_text("The pump runs.\n")
    look = os.fstat

    def look_and_write(descriptor):
        found = look(descriptor)
        if found.st_ino == growing.stat().st_ino:
            with growing.open("a") as out:
                out.write("The pump runs on.\n")
        return found

    with monkeypatch.context() as writer:
        writer.setattr(os, "fstat", look_and_write)
        report = add(corpus, docs)
    assert (report.seen, report.new, report.failures) == (
        2,
        1,
        (("growing.log", "being written while it was read"),),
    )
    growing.write_text("The pump was switched off at noon.\n")
    assert sync(corpus).new == 1
    assert corpus.failures("docs") == {}


def test_binary_files_are_refused_whatever_their_name(corpus, docs):
    for name in ("a.md", "a.csv", "a.json", "a.py", "a.rst", "a.log", "a.html", "README"):
        (docs / name).write_bytes(bytes(range(256)) * 40)
    report = add(corpus, docs)
    assert (report.seen, report.new, report.failed) == (9, 1, 8)
    assert {reason for _, reason in report.failures} == {"binary, not text"}


def test_broken_json_is_indexed_with_a_warning_that_names_the_place(corpus, docs):
    (docs / "a.json").write_text('{"pump": {"weight": 12,\n "colour" "red"}}')
    report = add(corpus, docs)
    assert (report.new, report.failed) == (2, 0)
    assert "a.json: not valid JSON at line 2, column 11 (expecting ':' delimiter); read as text from there on" in report.warnings  # fmt: skip


def test_only_files_of_a_parser_that_changed_are_read_again(corpus, docs, monkeypatch):
    (docs / "a.csv").write_text("drink,price\ntea,3\n")
    (docs / "a.json").write_text('{"drink": "tea"}')
    add(corpus, docs)
    from quaere.tools import parse

    monkeypatch.setitem(parse._VERSIONS, "table", 99)
    report = sync(corpus)
    assert (report.changed, report.unchanged) == (1, 2)
    assert sync(corpus).unchanged == 3


NAMES = st.sampled_from(["a.md", "b.txt", "c.csv", "d.json", "e.jsonl", "f.py", "g.rst", "h.log", "i.html", "j.docx", "k.pdf", "l"])  # fmt: skip


@settings(max_examples=25)
@given(st.lists(st.dictionaries(NAMES, st.binary(max_size=60), max_size=6), min_size=1, max_size=3))
def test_whatever_files_hold_the_counts_add_up_and_the_last_sync_is_still(tmp_path_factory, states):
    folder = tmp_path_factory.mktemp("any")
    (folder / "docs").mkdir()
    corpus = Corpus.create(folder / ".quaere")
    add_source(corpus, str(folder / "docs"))
    for files in states:
        for path in (folder / "docs").iterdir():
            path.unlink()
        for name, data in files.items():
            (folder / "docs" / name).write_bytes(data)
        report = sync(corpus)
        assert report.seen == len(files)
        again = sync(corpus)
        assert (again.new, again.changed, again.renamed, again.deleted) == (0, 0, 0, 0)
        failing = {path for path, _ in again.failures}
        assert set(texts(corpus)) - failing == set(files) - failing
    corpus.close()
