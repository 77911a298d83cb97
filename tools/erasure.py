"""Take what is doomed out of `corpus.db` so that no byte of it stays in the file or its log."""

from __future__ import annotations

import sqlite3
import time

import numpy as np

from .doomed import DOCUMENTS, PASSAGES, TEXTS, VECTORS, VERSIONS, doomed_passages
from .errors import BusyError
from .postings import Ids, pack, pack_list, unpack, unpack_list
from .schema import BUSY_SECONDS

POLL_SECONDS = 0.05


def erase(db: sqlite3.Connection) -> None:
    """Delete the rows of what is doomed, in the caller's transaction.

    SQLite overwrites them with zeros; what a row hangs on goes after the row.
    """
    _erase_postings(db, doomed_passages(db))
    db.execute(f"DELETE FROM vectors WHERE {VECTORS}")
    db.execute(f"DELETE FROM texts WHERE {TEXTS}")
    db.execute(f"DELETE FROM passages WHERE {PASSAGES}")
    db.execute(f"DELETE FROM versions WHERE {VERSIONS}")
    db.execute(f"DELETE FROM documents WHERE {DOCUMENTS}")


def overwrite_deleted(db: sqlite3.Connection) -> None:
    """Let this connection overwrite what it deletes with zeros."""
    db.execute("PRAGMA secure_delete = ON")


def compact(db: sqlite3.Connection) -> None:
    """Write the file anew without free space and empty its log; BusyError when a reader prevents that."""
    empty_log(db)
    db.execute("VACUUM")
    empty_log(db)


def empty_log(db: sqlite3.Connection, seconds: float = BUSY_SECONDS) -> None:
    """Move the log into the file and cut it to nothing; BusyError when a reader still needs it in the end."""
    until = time.monotonic() + seconds
    while db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
        if time.monotonic() > until:
            raise BusyError(
                "the purge is not finished: another process still reads the old state of the index; "
                "let it end, then run `quaere doctor --repair`"
            )
        time.sleep(POLL_SECONDS)


def _erase_postings(db: sqlite3.Connection, doomed: Ids) -> None:
    """Take passages out of the keyword index; a term that stood in no other goes with them."""
    for segment, *blobs in db.execute("SELECT id, passages, lengths, documents FROM segments").fetchall():
        passages, lengths, versions = (unpack(blob) for blob in blobs)
        stays = ~np.isin(passages, doomed)
        if stays.all():
            continue
        if not stays.any():
            db.execute("DELETE FROM postings WHERE segment = ?", (segment,))
            db.execute("DELETE FROM segments WHERE id = ?", (segment,))
            continue
        db.execute(
            "UPDATE segments SET passages = ?, lengths = ?, documents = ? WHERE id = ?",
            (*(pack(values[stays]) for values in (passages, lengths, versions)), segment),
        )
        _erase_lists(db, segment, doomed)


def _erase_lists(db: sqlite3.Connection, segment: int, doomed: Ids) -> None:
    terms = db.execute("SELECT term FROM postings WHERE segment = ?", (segment,)).fetchall()
    for (term,) in terms:
        where = "WHERE segment = ? AND term = ?"
        row = db.execute(f"SELECT passages, counts FROM postings {where}", (segment, term)).fetchone()
        ids, counts = unpack_list(*row)
        stays = ~np.isin(ids, doomed)
        if not stays.any():
            db.execute(f"DELETE FROM postings {where}", (segment, term))
        elif not stays.all():
            kept = pack_list(ids[stays], counts[stays])
            db.execute(f"UPDATE postings SET passages = ?, counts = ? {where}", (*kept, segment, term))
