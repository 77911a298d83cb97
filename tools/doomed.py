"""What a purge takes away: documents and versions by id, and all that hangs on them in `corpus.db`.

They are laid out as temporary tables of one connection, which the conditions below ask.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter

import numpy as np

from .postings import Ids, unpack, unpack_list

DOCUMENTS = "id IN (SELECT id FROM temp.doomed_documents)"
VERSIONS = "id IN (SELECT id FROM temp.doomed_versions)"
PASSAGES = "version IN (SELECT id FROM temp.doomed_versions)"
TEXTS = f"""id IN (SELECT text FROM versions WHERE {VERSIONS})
    AND id NOT IN (SELECT text FROM versions WHERE NOT {VERSIONS})"""
VECTORS = f"""key IN (SELECT input_key FROM passages WHERE {PASSAGES}
    EXCEPT SELECT input_key FROM passages WHERE NOT {PASSAGES})"""
"""Texts and vectors that nothing which stays has in common with what goes."""


def mark_doomed(db: sqlite3.Connection, documents: Iterable[int], versions: Iterable[int]) -> None:
    """Lay out what goes; what lives (again) by now stays."""
    for name, ids, lives in (
        ("doomed_documents", documents, "SELECT id FROM documents WHERE current IS NOT NULL"),
        ("doomed_versions", versions, "SELECT id FROM versions WHERE coalesce(died, 0) = 0"),
    ):
        db.execute(f"CREATE TEMP TABLE IF NOT EXISTS {name}(id INTEGER PRIMARY KEY)")
        db.execute(f"DELETE FROM {name}")
        db.executemany(f"INSERT OR IGNORE INTO {name} VALUES (?)", ((id,) for id in ids))
        db.execute(f"DELETE FROM {name} WHERE id IN ({lives})")


def count_doomed(db: sqlite3.Connection) -> dict[str, int]:
    """Return how much of each kind goes."""
    conditions = {
        "documents": DOCUMENTS,
        "versions": VERSIONS,
        "passages": PASSAGES,
        "texts": TEXTS,
        "vectors": VECTORS,
    }
    return {
        name: int(db.execute(f"SELECT count(*) FROM {name} WHERE {condition}").fetchone()[0])
        for name, condition in conditions.items()
    }


def doomed_passages(db: sqlite3.Connection) -> Ids:
    """Return the ids of the passages that go, ascending, also those that only the keyword index still has."""
    found = {row[0] for row in db.execute(f"SELECT id FROM passages WHERE {PASSAGES}")}
    versions = np.array([row[0] for row in db.execute("SELECT id FROM temp.doomed_versions")], np.uint32)
    for passages, of in db.execute("SELECT passages, documents FROM segments"):
        found.update(unpack(passages)[np.isin(unpack(of), versions)].tolist())
    return np.array(sorted(found), np.uint32)


def doomed_terms(db: sqlite3.Connection) -> list[str]:
    """Return the terms that stand in passages that go and in no other."""
    ids = doomed_passages(db)
    rows = db.execute("SELECT term, passages, counts FROM postings ORDER BY term")
    return [
        term
        for term, lists in groupby(rows, key=itemgetter(0))
        if all(bool(np.isin(unpack_list(*one[1:])[0], ids).all()) for one in lists)
    ]
