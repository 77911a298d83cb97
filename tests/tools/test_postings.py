"""Segments merge by size and lose nothing but what died; the transaction is the caller's."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quaere.tools.postings import (
    FANOUT,
    SCHEMA,
    merge_segments,
    pack,
    pack_list,
    read_lengths,
    read_list,
    unpack,
    unpack_list,
    write_segment,
)

Contents = dict[str, dict[int, int]]


@pytest.fixture
def db() -> sqlite3.Connection:
    return open_index()


def open_index() -> sqlite3.Connection:
    made = sqlite3.connect(":memory:", isolation_level=None)
    made.executescript(SCHEMA + "CREATE TABLE versions(id INTEGER PRIMARY KEY, died INTEGER);")
    return made


def put(db: sqlite3.Connection, version: int, passages: dict[int, list[str]]) -> None:
    db.execute("INSERT INTO versions VALUES (?, NULL)", (version,))
    write_segment(db, [(id, version, terms) for id, terms in passages.items()])


def contents(db: sqlite3.Connection, terms: str) -> Contents:
    found = {term: read_list(db, term) for term in terms}
    return {
        term: dict(zip(ids.tolist(), counts.tolist(), strict=True)) for term, (ids, counts) in found.items()
    }


def segments(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT count(*) FROM segments").fetchone()[0])


def test_lists_hold_passages_in_order_with_counts(db: sqlite3.Connection) -> None:
    put(db, 1, {2: ["x", "y", "x"], 1: ["y"]})
    assert contents(db, "xyz") == {"x": {2: 2}, "y": {1: 1, 2: 1}, "z": {}}
    assert read_list(db, "y")[0].tolist() == [1, 2]
    assert read_lengths(db, 4).tolist() == [0, 1, 3, 0]
    assert read_lengths(db, 2).tolist() == [0, 1]


def test_what_the_caller_rolls_back_was_never_written(db: sqlite3.Connection) -> None:
    put(db, 1, {1: ["x"]})
    db.execute("BEGIN")
    put(db, 2, {2: ["x"]})
    db.execute("ROLLBACK")
    assert contents(db, "x") == {"x": {1: 1}}


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.lists(st.lists(st.sampled_from("abc"), max_size=5), min_size=1, max_size=14), max_size=40),
    st.data(),
)
def test_merging_keeps_every_living_passage(documents: list[list[list[str]]], data: st.DataObject) -> None:
    db = open_index()
    expected: dict[int, dict[int, list[str]]] = {}
    next_id = 1
    for version, document in enumerate(documents, 1):
        expected[version] = {next_id + at: found for at, found in enumerate(document)}
        put(db, version, expected[version])
        next_id += len(document)
        if data.draw(st.integers(0, 4)) == 0:
            gone = data.draw(st.sampled_from(sorted(expected)))
            expected.pop(gone)
            db.execute("UPDATE versions SET died = 1 WHERE id = ?", (gone,))
        if data.draw(st.integers(0, 6)) == 0:
            merge_segments(db)
    merge_segments(db)
    living = {id: found for passages in expected.values() for id, found in passages.items()}
    for term in "abc":
        passages, counts = read_list(db, term)
        held = {id: n for id, n in zip(passages.tolist(), counts.tolist(), strict=True) if id in living}
        assert held == {id: found.count(term) for id, found in living.items() if term in found}
        assert len(set(passages.tolist())) == len(passages)
    lengths = read_lengths(db, next_id)
    assert all(lengths[id] == len(found) for id, found in living.items())


def test_merging_leaves_fewer_segments_than_the_fan_out_a_size(db: sqlite3.Connection) -> None:
    for version in range(1, 1235):
        put(db, version, {version: ["x"]})
        if version % FANOUT == 0:
            merge_segments(db)
    assert merge_segments(db) == 0
    assert segments(db) < 4 * FANOUT
    assert contents(db, "x") == {"x": dict.fromkeys(range(1, 1235), 1)}


def test_many_small_segments_are_merged_a_part_at_a_time(db: sqlite3.Connection) -> None:
    for version in range(1, 601):
        put(db, version, {version: ["x"]})
    assert merge_segments(db) >= 600
    assert segments(db) < 4 * FANOUT
    assert contents(db, "x") == {"x": dict.fromkeys(range(1, 601), 1)}


def test_merged_segments_forget_what_died(db: sqlite3.Connection) -> None:
    for version in range(1, FANOUT + 1):
        put(db, version, {version: ["x", "old" if version == 1 else "new"]})
    db.execute("UPDATE versions SET died = 1 WHERE id = 1")
    assert merge_segments(db) == FANOUT
    assert read_list(db, "x")[0].tolist() == list(range(2, FANOUT + 1))
    assert db.execute("SELECT count(*) FROM postings WHERE term = 'old'").fetchone()[0] == 0


def test_segments_whose_passages_all_died_leave_nothing(db: sqlite3.Connection) -> None:
    for version in range(1, FANOUT + 1):
        put(db, version, {version: ["x"]})
    db.execute("UPDATE versions SET died = 1")
    merge_segments(db)
    assert segments(db) == db.execute("SELECT count(*) FROM postings").fetchone()[0] == 0


def test_passages_written_out_of_order_come_out_in_order(db: sqlite3.Connection) -> None:
    for version in range(FANOUT, 0, -1):
        put(db, version, {version: ["x"]})
    merge_segments(db)
    assert read_list(db, "x")[0].tolist() == list(range(1, FANOUT + 1))


@given(st.lists(st.integers(0, 2**32 - 1)))
def test_packed_integers_come_back_little_endian(values: list[int]) -> None:
    assert unpack(pack(values)).tolist() == values
    assert pack(np.array(values, np.uint32)) == pack(values)
    assert pack([1]) == b"\x01\x00\x00\x00"


@given(
    ids=st.sets(st.integers(1, 200_000), min_size=1, max_size=300),
    count=st.sampled_from([1, 7, 255, 256, 70_000]),
)
def test_lists_come_back_as_they_were_packed(ids: set[int], count: int) -> None:
    passages = np.array(sorted(ids), np.uint32)
    counts = np.resize(np.array([1, 3, count], np.uint32), len(passages))
    read = unpack_list(*pack_list(passages, counts))
    assert [part.tolist() for part in read] == [passages.tolist(), counts.tolist()]


def test_a_posting_takes_five_bytes() -> None:
    ids = np.arange(1, 1001, dtype=np.uint32)
    assert sum(map(len, pack_list(ids, np.ones(1000, np.uint32)))) == 5 * 1000


def test_lists_of_both_widths_are_read_and_merged_as_one(db: sqlite3.Connection) -> None:
    for passage in range(1, FANOUT + 1):
        write_segment(db, [(passage, passage, ["x"] * (300 if passage == 3 else passage))])
    wide = [300 if passage == 3 else passage for passage in range(1, FANOUT + 1)]
    assert read_list(db, "x")[1].tolist() == wide
    assert merge_segments(db)
    assert read_list(db, "x")[1].tolist() == wide
