"""Exact nearest neighbours over a memory-mapped matrix, a cache of the vectors in `corpus.db`.

The cache's files carry the encoder's fingerprint and the revision they were made at in their names; at
another revision, or damaged, they are made anew. What is returned is decided by the mask of the caller.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

SCHEMA = """
CREATE TABLE vectors (
    space TEXT NOT NULL,
    key BLOB NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (space, key)
);
"""
# Not WITHOUT ROWID: a vector in the key's own tree would make every look-up of a key read vectors.

GATHER_SHARE = 0.2
"""Share of allowed rows below which they are gathered before the product; above it the product is masked."""

_ROWS = """
SELECT p.id, x.vector FROM passages p
JOIN versions v ON v.id = p.version AND v.died IS NULL
JOIN vectors x ON x.space = ? AND x.key = p.input_key
ORDER BY p.id
"""

Ids = NDArray[np.int64]
Rows = NDArray[np.float32]


class Matrix:
    """The vectors of one space as unit rows (n, dimension), with the passage id of each; ids ascend."""

    def __init__(self, ids: Ids, rows: Rows) -> None:
        self.ids = ids
        self.rows = rows

    @classmethod
    def open(cls, folder: Path, db: sqlite3.Connection, space: str, revision: int) -> Matrix:
        """Return the vectors of the living passages at the newest revision, from the cache where it has it."""
        cached = _load(folder, space, revision)
        if cached is not None:
            return cls(*cached)
        ids, rows = read_vectors(db, space)
        _store(folder, space, revision, (ids, rows))
        return cls(ids, rows)

    def search(self, query: Rows, allowed: NDArray[np.bool_], k: int) -> list[tuple[int, float]]:
        """Return up to k (passage id, cosine) among the allowed, by cosine to 6 places, ties by id."""
        inside = self.ids < len(allowed)
        rows = np.flatnonzero(inside)[allowed[self.ids[inside]]]
        if not len(rows) or k <= 0:
            return []
        gather = len(rows) < GATHER_SHARE * len(self.ids)
        scores = self.rows[rows] @ query if gather else (self.rows @ query)[rows]
        return _best(self.ids[rows], np.round(scores.astype(np.float64), 6), k)


def read_vectors(db: sqlite3.Connection, space: str) -> tuple[Ids, Rows]:
    """Read the vectors of the living passages from the corpus."""
    found = db.execute(_ROWS, (space,)).fetchall()
    ids = np.array([row[0] for row in found], np.int64)
    if not found:
        return ids, np.zeros((0, 1), np.float32)
    return ids, np.frombuffer(b"".join(row[1] for row in found), "<f4").reshape(len(found), -1)


def _best(ids: Ids, scores: NDArray[np.float64], k: int) -> list[tuple[int, float]]:
    kept = np.arange(len(ids))
    if len(ids) > k:
        kept = np.flatnonzero(scores >= np.partition(scores, len(ids) - k)[len(ids) - k])
    order = kept[np.lexsort((ids[kept], -scores[kept]))][:k]
    return [(int(ids[i]), float(scores[i])) for i in order]


def _files(folder: Path, space: str, revision: int) -> tuple[Path, Path]:
    name = f"vectors-{blake2b(space.encode(), digest_size=6).hexdigest()}-{revision}"
    return folder / f"{name}.ids.npy", folder / f"{name}.npy"


def _load(folder: Path, space: str, revision: int) -> tuple[Ids, Rows] | None:
    ids_file, rows_file = _files(folder, space, revision)
    try:
        ids = np.load(ids_file, allow_pickle=False)
        rows = np.load(rows_file, mmap_mode="r" if len(ids) else None, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return (ids, rows) if rows.ndim == 2 and len(rows) == len(ids) else None


def _store(folder: Path, space: str, revision: int, arrays: tuple[Ids, Rows]) -> None:
    """Keep the matrix for later processes; where the folder cannot be written the next one reads it again."""
    paths = _files(folder, space, revision)
    try:
        for path, array in zip(paths, arrays, strict=True):
            _write(path, lambda file, array=array: np.save(file, array, allow_pickle=False))
        for old in folder.glob(f"{paths[1].name.rsplit('-', 1)[0]}-*.npy"):
            if old not in paths:
                old.unlink(missing_ok=True)
    except OSError:
        return


def _write(path: Path, save: Callable[[IO[bytes]], None]) -> None:
    """Write a file whole or not at all, readable by the owner only."""
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as file:
        try:
            save(file)
        except BaseException:
            os.unlink(file.name)
            raise
    os.replace(file.name, path)
