"""Posting lists as BLOB rows of `corpus.db`: a segment a document, merged as they grow in number.

Passage ids, lengths and version ids are little-endian uint32, counts uint32, each list sorted by passage id.
A passage's length is the number of its index terms.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

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
    PRIMARY KEY (term, segment)
) WITHOUT ROWID;
"""

FANOUT = 10
"""Segments of one size class that are merged into one of the next."""

Ids = NDArray[np.uint32]


def pack(values: Iterable[int] | Ids) -> bytes:
    """Return integers as little-endian uint32."""
    array = values if isinstance(values, np.ndarray) else np.fromiter(values, np.uint32)
    return array.astype("<u4").tobytes()


def unpack(blob: bytes) -> Ids:
    """Return the integers of a BLOB."""
    return np.frombuffer(blob, "<u4")


def write_segment(db: sqlite3.Connection, rows: Sequence[tuple[int, int, Sequence[str]]]) -> None:
    """Write passages as a segment of their own: (passage id, version id, index terms), in the caller's transaction."""
    ordered = sorted(rows, key=lambda row: row[0])
    cursor = db.execute(
        "INSERT INTO segments (passages, lengths, documents) VALUES (?, ?, ?)",
        (
            pack(passage for passage, _, _ in ordered),
            pack(len(found) for _, _, found in ordered),
            pack(version for _, version, _ in ordered),
        ),
    )
    lists: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for passage, _, found in ordered:
        for term, count in Counter(found).items():
            lists[term].append((passage, count))
    db.executemany(
        "INSERT INTO postings VALUES (?, ?, ?, ?)",
        (
            (term, cursor.lastrowid, pack(p for p, _ in pairs), pack(c for _, c in pairs))
            for term, pairs in sorted(lists.items())
        ),
    )


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
    """Return the segments of the smallest size class that holds FANOUT or more."""
    classes: dict[int, list[int]] = defaultdict(list)
    for segment, size in db.execute("SELECT id, length(passages) / 4 FROM segments ORDER BY id"):
        classes[len(np.base_repr(max(size, 1), FANOUT))].append(segment)
    return next((ids for _, ids in sorted(classes.items()) if len(ids) >= FANOUT), [])


def _merge(db: sqlite3.Connection, segments: Sequence[int]) -> None:
    marks = ",".join("?" * len(segments))
    rows = db.execute(
        f"SELECT passages, lengths, documents FROM segments WHERE id IN ({marks})", segments
    ).fetchall()
    passages, lengths, versions = (np.concatenate([unpack(row[i]) for row in rows]) for i in range(3))
    dead = unpack(pack(row[0] for row in db.execute("SELECT id FROM versions WHERE died IS NOT NULL")))
    keep = ~np.isin(versions, dead)
    order = np.argsort(passages[keep], kind="stable")
    db.execute(f"DELETE FROM segments WHERE id IN ({marks})", segments)
    into = db.execute(
        "INSERT INTO segments (passages, lengths, documents) VALUES (?, ?, ?)",
        tuple(pack(array[keep][order]) for array in (passages, lengths, versions)),
    ).lastrowid
    kept = np.zeros(int(passages.max(initial=0)) + 1, np.bool_)
    kept[passages[keep]] = True
    _merge_lists(db, segments, kept, int(into or 0))


def _merge_lists(
    db: sqlite3.Connection, segments: Sequence[int], kept: NDArray[np.bool_], into: int
) -> None:
    """Join the posting lists of the segments term by term; a term without living passages goes."""
    marks = ",".join("?" * len(segments))
    found = db.execute(
        f"SELECT term, passages, counts FROM postings WHERE segment IN ({marks}) ORDER BY term", segments
    ).fetchall()
    db.execute(f"DELETE FROM postings WHERE segment IN ({marks})", segments)
    merged = []
    for term, rows in groupby(found, key=lambda row: row[0]):
        lists = list(rows)
        passages = np.concatenate([unpack(row[1]) for row in lists])
        counts = np.concatenate([unpack(row[2]) for row in lists])
        alive = kept[passages]
        order = np.argsort(passages[alive], kind="stable")
        if alive.any():
            merged.append((term, into, pack(passages[alive][order]), pack(counts[alive][order])))
    db.executemany("INSERT INTO postings VALUES (?, ?, ?, ?)", merged)


def read_lists(db: sqlite3.Connection, term: str) -> tuple[Ids, Ids]:
    """Return all passages that hold a term, with its counts; dead and hidden ones included."""
    rows = db.execute("SELECT passages, counts FROM postings WHERE term = ?", (term,)).fetchall()
    if not rows:
        return unpack(b""), unpack(b"")
    return np.concatenate([unpack(row[0]) for row in rows]), np.concatenate([unpack(row[1]) for row in rows])


def read_lengths(db: sqlite3.Connection, size: int) -> NDArray[np.float64]:
    """Return the length of each passage by id, 0 where there is none."""
    lengths = np.zeros(size)
    for passages, found in db.execute("SELECT passages, lengths FROM segments"):
        ids = unpack(passages)
        inside = ids < size
        lengths[ids[inside]] = unpack(found)[inside]
    return lengths
