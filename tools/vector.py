"""Exact nearest neighbours over a memory-mapped matrix, a cache of the vectors in `corpus.db`.

The matrix may hold passages that have died or that a caller may not read: what is returned is decided by
the mask of the caller alone.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .matrix_file import Ids, Rows, Snapshot, load, store

SCHEMA = """
CREATE TABLE vectors (
    space TEXT NOT NULL,
    key BLOB NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (space, key)
) WITHOUT ROWID;
"""

OTHER_SPACES = "(space < :space OR space > :space)"
"""The condition on vectors that they are of another space, as the primary key finds them."""

GATHER_SHARE = 0.2
"""Share of allowed rows below which they are gathered before the product; above it the product is masked."""

RECENT = 1000
"""Revisions for which a passage that died stays in a new matrix, for readers pinned to one of them."""

DEAD_SHARE = 0.5
"""Share of dead rows above which the matrix is made anew instead of topped up."""

NOISE = 1e-4
"""More than a float32 product can be off: rows this close to the k-th best are scored again in float64."""

CHUNK = 4096

_VECTORS = """
SELECT p.id, x.vector FROM passages p
JOIN versions v ON v.id = p.version AND (v.died IS NULL OR v.died > :since)
JOIN vectors x ON x.space = :space AND x.key = p.input_key
"""
_GIVEN = """
SELECT p.id, x.vector FROM json_each(:ids) g JOIN passages p ON p.id = g.value
JOIN vectors x ON x.space = :space AND x.key = p.input_key
"""
_ALIVE = """
SELECT p.id FROM passages p JOIN versions v ON v.id = p.version AND (v.died IS NULL OR v.died = 0)
"""
_NEWER = "WHERE p.id > :top"
_HOLE = "WHERE p.id IN (SELECT value FROM json_each(:holes))"


class Matrix:
    """The vectors of one space as unit rows (n, dimension), with the passage id of each; ids ascend."""

    def __init__(self, ids: Ids, rows: Rows) -> None:
        self.ids = ids
        self.rows = rows

    @classmethod
    def open(cls, folder: Path, db: sqlite3.Connection, space: str, revision: int) -> Matrix:
        """Return the vectors at the newest revision, `revision`, as the open transaction of `db` sees it.

        The cache in the folder is topped up with what is new, or made anew where it is missing, damaged, of
        another corpus or mostly dead; where the folder cannot be written the matrix stays in memory.
        """
        cached = load(folder, space)
        if cached is not None and cached.mark == revision_mark(db, revision):
            return cls(cached.ids, cached.rows)
        snapshot = _topped_up(db, cached, revision) if cached and _is_ours(db, cached) else None
        if snapshot is None:
            snapshot = _made_anew(db, space, revision)
        stored = store(folder, snapshot)
        return cls(stored.ids, stored.rows)

    def search(self, query: Rows, allowed: NDArray[np.bool_], k: int) -> list[tuple[int, float]]:
        """Return up to k (passage id, cosine) among the allowed, by cosine to 6 places, ties by id."""
        rows = self._allowed_rows(allowed)
        if not len(rows) or k <= 0:
            return []
        gather = len(rows) < GATHER_SHARE * len(self.ids)
        scores = self.rows[rows] @ query if gather else (self.rows @ query)[rows]
        if len(rows) > k:
            rows = rows[scores >= np.partition(scores, len(rows) - k)[len(rows) - k] - NOISE]
        return ranked(self.ids[rows], self.rows[rows], query, k)

    def covered(self, allowed: NDArray[np.bool_]) -> int:
        """Return how many of the allowed passages have a vector."""
        return len(self._allowed_rows(allowed))

    def _allowed_rows(self, allowed: NDArray[np.bool_]) -> NDArray[np.int64]:
        known = self.ids[: np.searchsorted(self.ids, len(allowed))]
        return np.flatnonzero(allowed[known])


def ranked(ids: Ids, rows: Rows, query: Rows, k: int) -> list[tuple[int, float]]:
    """Return up to k (passage id, cosine) of the rows given, by cosine to 6 places, ties by id."""
    return _best(ids, _exact(rows, query), k)


def vectors_of(db: sqlite3.Connection, space: str, ids: Ids) -> tuple[Ids, Rows]:
    """Return the given passages that have a vector, ascending, and the vectors as rows."""
    return _read(db.execute(f"{_GIVEN} ORDER BY p.id", {"space": space, "ids": json.dumps(ids.tolist())}))


def _exact(rows: Rows, query: Rows) -> NDArray[np.float64]:
    """Return the products to 6 places, the same for a row whichever others are scored with it."""
    scores: NDArray[np.float64] = (rows.astype(np.float64) * query.astype(np.float64)).sum(axis=1)
    return scores.round(6)


def _best(ids: Ids, scores: NDArray[np.float64], k: int) -> list[tuple[int, float]]:
    order = np.lexsort((ids, -scores))[:k]
    return [(int(ids[i]), float(scores[i])) for i in order]


def revision_mark(db: sqlite3.Connection, revision: int) -> str:
    """Return what tells a revision of this corpus from the same number in another, or in a restored one."""
    row = db.execute(
        "SELECT (SELECT value FROM meta WHERE key = 'workspace') || ' ' || at FROM revisions WHERE id = ?",
        (revision,),
    ).fetchone()
    return f"{revision} {row[0]}" if row else f"{revision}"


def _is_ours(db: sqlite3.Connection, cached: Snapshot) -> bool:
    return cached.mark == revision_mark(db, cached.revision)


def _made_anew(db: sqlite3.Connection, space: str, revision: int) -> Snapshot:
    ids, rows = _read(db.execute(f"{_VECTORS} ORDER BY p.id", {"since": _since(revision), "space": space}))
    return Snapshot(
        space, revision, revision_mark(db, revision), _top(db), _holes(db, ids, _NEWER, {"top": 0}), ids, rows
    )


def _topped_up(db: sqlite3.Connection, cached: Snapshot, revision: int) -> Snapshot | None:
    """Return the cache with the passages it lacks; None when too many of its rows are dead.

    It lacks what came after its newest passage, and what had no vector yet when it was made.
    """
    lacking = {"top": cached.top, "holes": json.dumps(cached.holes.tolist())}
    given = {"since": _since(revision), "space": cached.space, **lacking}
    ids, rows = _read(db.execute(f"{_VECTORS} {_NEWER} UNION ALL {_VECTORS} {_HOLE}", given))
    if len(cached.ids) + len(ids) > CHUNK + _living(db) / (1 - DEAD_SHARE):
        return None
    if len(ids) and len(cached.ids) and rows.shape[1] != cached.rows.shape[1]:
        return None
    holes = np.union1d(_holes(db, ids, _NEWER, lacking), _holes(db, ids, _HOLE, lacking))
    ids, rows = _joined((cached.ids, cached.rows), (ids, rows))
    return Snapshot(cached.space, revision, revision_mark(db, revision), _top(db), holes, ids, rows)


def _since(revision: int) -> int:
    """Return the revision after which the dead count as recent; those that died at 0 are not born yet."""
    return max(revision - RECENT, 0)


def _joined(old: tuple[Ids, Rows], new: tuple[Ids, Rows]) -> tuple[Ids, Rows]:
    if not len(old[0]) or not len(new[0]):
        return new if len(new[0]) else old
    ids = np.concatenate((old[0], new[0]))
    order = np.argsort(ids)
    return ids[order], np.concatenate((old[1], new[1]))[order]


def _top(db: sqlite3.Connection) -> int:
    newest: int = db.execute("SELECT coalesce(max(id), 0) FROM passages").fetchone()[0]
    return newest


def _living(db: sqlite3.Connection) -> int:
    count: int = db.execute("SELECT coalesce(sum(passages), 0) FROM versions WHERE died IS NULL").fetchone()[
        0
    ]
    return count


def _holes(db: sqlite3.Connection, ids: Ids, which: str, given: Mapping[str, object]) -> Ids:
    """Return the living and the pending passages that are not among the ids that have a vector."""
    rows = db.execute(f"{_ALIVE} {which}", given)
    return np.setdiff1d(np.fromiter((row[0] for row in rows), np.int64), ids)


def _read(cursor: sqlite3.Cursor) -> tuple[Ids, Rows]:
    """Read ids and vectors; a vector of another length than the first one is left out."""
    ids: list[int] = []
    parts: list[Rows] = []
    size = 0
    for chunk in _chunks(cursor):
        size = size or len(chunk[0][1])
        kept = [row for row in chunk if len(row[1]) == size]
        ids += [row[0] for row in kept]
        parts.append(np.frombuffer(b"".join(row[1] for row in kept), "<f4").reshape(len(kept), size // 4))
    return np.array(ids, np.int64), np.concatenate(parts) if parts else np.zeros((0, 1), np.float32)


def _chunks(cursor: sqlite3.Cursor) -> Iterator[list[tuple[int, bytes]]]:
    while chunk := cursor.fetchmany(CHUNK):
        yield chunk
