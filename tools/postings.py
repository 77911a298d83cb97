"""Posting lists as BLOB rows of `corpus.db`: a segment a document, merged as they grow in number.

Passage ids, lengths and version ids are little-endian uint32, counts uint8 or uint32 (see `pack_list`), each
list sorted by passage id. A passage's length is the number of its index terms. The lists of one segment lie
together, so that a new document is written at one place and a merge reads only what it merges; few segments
are left for a search.
"""

from __future__ import annotations

import heapq
import sqlite3
import struct
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import WorkspaceError

SCHEMA = """
CREATE TABLE segments (
    id INTEGER PRIMARY KEY,
    passages BLOB NOT NULL,
    lengths BLOB NOT NULL,
    documents BLOB NOT NULL
);
CREATE TABLE postings (
    term TEXT NOT NULL,
    segment INTEGER NOT NULL,
    passages BLOB NOT NULL,
    counts BLOB NOT NULL,
    PRIMARY KEY (segment, term)
) WITHOUT ROWID;
"""

_INSERT = "INSERT INTO postings (term, segment, passages, counts) VALUES (?, ?, ?, ?)"

FANOUT = 10
"""Segments of one size class that are merged into one of the next."""

MERGED_AT_ONCE = 256
"""Segments merged in one go; each keeps a cursor open."""

WRITTEN_AT_ONCE = 4096
"""Posting lists of a merge held in memory."""

Ids = NDArray[np.uint32]
Counts = NDArray[np.unsignedinteger[Any]]


def pack(values: Iterable[int] | Ids) -> bytes:
    """Return integers as little-endian uint32."""
    if isinstance(values, np.ndarray):
        return values.astype("<u4").tobytes()
    listed = list(values)
    return struct.pack(f"<{len(listed)}I", *listed)


def unpack(blob: bytes) -> Ids:
    """Return the integers of a BLOB; WorkspaceError when it is cut short."""
    if len(blob) % 4:
        raise _damaged()
    return np.frombuffer(blob, "<u4")


def _damaged() -> WorkspaceError:
    return WorkspaceError(
        "the keyword index is damaged; `quaere doctor --repair` makes it anew from the stored texts"
    )


def pack_list(passages: Ids, counts: Counts) -> tuple[bytes, bytes]:
    """Return a posting list as two BLOBs; the counts take a byte each where all are below 256."""
    small = not len(counts) or int(counts.max()) < 2**8
    return pack(passages), counts.astype("u1").tobytes() if small else pack(counts)


def unpack_list(passages: bytes, counts: bytes) -> tuple[Ids, Counts]:
    """Return the passages and counts of a stored list; the lengths of its BLOBs tell how wide counts are."""
    if len(passages) not in (len(counts), 4 * len(counts)):
        raise _damaged()
    return unpack(passages), np.frombuffer(counts, "u1" if len(counts) < len(passages) else "<u4")


def write_segment(db: sqlite3.Connection, rows: Sequence[tuple[int, int, Sequence[str]]]) -> None:
    """Write passages, as (passage id, version id, index terms), in a segment of their own.

    In the caller's transaction.
    """
    ordered = sorted(rows, key=itemgetter(0))
    segment = _insert_segment(
        db,
        pack(passage for passage, _, _ in ordered),
        pack(len(found) for _, _, found in ordered),
        pack(version for _, version, _ in ordered),
    )
    lists: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for passage, _, found in ordered:
        for term, count in Counter(found).items():
            lists[term].append((passage, count))
    db.executemany(
        _INSERT,
        ((term, segment, *_packed_pairs(pairs)) for term, pairs in sorted(lists.items())),
    )


def _packed_pairs(pairs: Sequence[tuple[int, int]]) -> tuple[bytes, bytes]:
    passages, counts = zip(*pairs, strict=True)
    return pack(passages), bytes(counts) if max(counts) < 2**8 else pack(counts)


def _insert_segment(db: sqlite3.Connection, passages: bytes, lengths: bytes, versions: bytes) -> int:
    segment = db.execute(
        "INSERT INTO segments (passages, lengths, documents) VALUES (?, ?, ?)", (passages, lengths, versions)
    ).lastrowid
    assert segment is not None
    return segment


def merge_segments(db: sqlite3.Connection) -> int:
    """Merge segments of a size class that grew too many, without passages of dead versions.

    Return how many segments were merged; in the caller's transaction.
    """
    merged = 0
    while crowded := _crowded(db):
        _merge(db, crowded)
        merged += len(crowded)
    return merged


def _crowded(db: sqlite3.Connection) -> list[int]:
    """Return segments of the smallest size class that holds FANOUT or more."""
    classes: dict[int, list[int]] = defaultdict(list)
    for segment, size in db.execute("SELECT id, length(passages) / 4 FROM segments ORDER BY id"):
        classes[len(np.base_repr(max(size, 1), FANOUT))].append(segment)
    crowded = (ids for _, ids in sorted(classes.items()) if len(ids) >= FANOUT)
    return next(crowded, [])[:MERGED_AT_ONCE]


def _merge(db: sqlite3.Connection, segments: Sequence[int]) -> None:
    """Write one segment in place of several; where every passage died nothing is left."""
    marks = ",".join("?" * len(segments))
    rows = db.execute(
        f"SELECT passages, lengths, documents FROM segments WHERE id IN ({marks}) ORDER BY id", segments
    ).fetchall()
    passages, lengths, versions = (np.concatenate([unpack(row[i]) for row in rows]) for i in range(3))
    keep = ~np.isin(versions, _dead(db))
    order = np.argsort(passages[keep], kind="stable")
    if keep.any():
        kept = [array[keep][order] for array in (passages, lengths, versions)]
        # The new segment comes first: SQLite may give a deleted row's id again.
        into = _insert_segment(db, *map(pack, kept))
        untouched = bool(keep.all()) and bool((passages[:-1] < passages[1:]).all())
        _merge_lists(db, segments, None if untouched else kept[0], into)
    db.execute(f"DELETE FROM segments WHERE id IN ({marks})", segments)
    db.execute(f"DELETE FROM postings WHERE segment IN ({marks})", segments)


def _dead(db: sqlite3.Connection) -> Ids:
    return unpack(pack(row[0] for row in db.execute("SELECT id FROM versions WHERE died > 0")))


def _merge_lists(db: sqlite3.Connection, segments: Sequence[int], kept: Ids | None, into: int) -> None:
    """Join the posting lists of segments term by term; `kept` None: all passages live and are in order."""
    stored = [
        db.execute("SELECT term, passages, counts FROM postings WHERE segment = ? ORDER BY term", (segment,))
        for segment in segments
    ]
    merged = (
        (term, into, passages, counts)
        for term, lists in groupby(heapq.merge(*stored, key=itemgetter(0)), key=itemgetter(0))
        for passages, counts in [_join(list(lists), kept)]
        if passages
    )
    while batch := list(islice(merged, WRITTEN_AT_ONCE)):
        db.executemany(_INSERT, batch)


def _join(lists: Sequence[tuple[str, bytes, bytes]], kept: Ids | None) -> tuple[bytes, bytes]:
    """Return the passages and counts of one term, empty when none of its passages lives."""
    if len(lists) == 1 and kept is None:
        return lists[0][1:]
    ids, counts = _joined(lists)
    if kept is None:
        return pack_list(ids, counts)
    alive = np.flatnonzero(np.isin(ids, kept, assume_unique=True))
    order = alive[np.argsort(ids[alive], kind="stable")]
    return pack_list(ids[order], counts[order])


def _joined(lists: Sequence[tuple[str, bytes, bytes]]) -> tuple[Ids, Counts]:
    """Return the lists of one term one after another."""
    ids = unpack(b"".join(row[1] for row in lists))
    if all(4 * len(counts) == len(passages) for _, passages, counts in lists):
        return ids, np.frombuffer(b"".join(row[2] for row in lists), "u1")
    return ids, np.concatenate([unpack_list(*row[1:])[1].astype(np.uint32) for row in lists])


def read_segments(db: sqlite3.Connection) -> list[int]:
    """Return the ids of the segments, in which a term is looked up."""
    return [row[0] for row in db.execute("SELECT id FROM segments ORDER BY id")]


def read_list(db: sqlite3.Connection, term: str, segments: Sequence[int] | None = None) -> tuple[Ids, Counts]:
    """Return all passages that hold a term, with its counts; dead and hidden ones included.

    `segments` are those there are; without them they are looked up.
    """
    segments = read_segments(db) if segments is None else segments
    marks = ",".join("?" * len(segments))
    rows = db.execute(
        f"SELECT term, passages, counts FROM postings WHERE term = ? AND segment IN ({marks})",
        (term, *segments),
    ).fetchall()
    return _joined(rows)


def read_lengths(db: sqlite3.Connection, size: int) -> NDArray[np.float64]:
    """Return the length of each passage by id, 0 where there is none."""
    lengths = np.zeros(size)
    for passages, found in db.execute("SELECT passages, lengths FROM segments"):
        ids = unpack(passages)
        inside = ids < size
        lengths[ids[inside]] = unpack(found)[inside]
    return lengths
