"""Versions built beside the living ones while the space of another encoder is made; no reader sees them.

A pending version (died = 0) holds the content of its document's living version, cut for the encoder to come.
Texts, keyword index and vectors of the living stay whole meanwhile. What happens on disk is true for both at
once: a tombstone or a new content ends the pending version before it ever lived (died = born), and the new
content lives in one version, cut for the encoder to come. A file that cannot be cut anew, because it is away
or broken by now, keeps its living version and gets vectors of the new space for it as it is. When everything
that will live has its vectors, one transaction brings the pending versions to life in place of the others.
A sync that is killed leaves the old space at work, and the next one goes on with what is pending.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from .split import PassageCut

COMING = "(v.died = 0 OR v.died IS NULL AND v.document NOT IN (SELECT document FROM versions WHERE died = 0))"
"""The condition on a version v that it will live after the switch."""


def is_cut_so(db: sqlite3.Connection, document: int, cuts: Sequence[PassageCut]) -> bool:
    """Tell whether the living version of a document has just these passages."""
    stored = db.execute(
        """SELECT p.start, p."end", p.prefix, p.parent_start, p.parent_end
           FROM documents d JOIN passages p ON p.version = d.current WHERE d.id = ? ORDER BY p.id""",
        (document,),
    ).fetchall()
    return stored == [(cut.start, cut.end, cut.prefix, *cut.parent) for cut in cuts]


def drop_pending(db: sqlite3.Connection, document: int) -> None:
    """End the pending version of a document, if any, before it ever lived."""
    db.execute(
        "UPDATE versions INDEXED BY versions_document SET died = born WHERE document = ? AND died = 0",
        (document,),
    )


def drop_unfit(db: sqlite3.Connection, mark: str | None) -> None:
    """End all pending versions but those that were cut with a mark."""
    db.execute("UPDATE versions SET died = born WHERE died = 0 AND splitter IS NOT ?", (mark,))


def bring_to_life(db: sqlite3.Connection, revision: int) -> None:
    """Let the pending versions take the place of the living ones of their documents, with their last look."""
    db.execute(
        """UPDATE versions SET (size, mtime_ns, ctime_ns, observed_ns) = (
               SELECT old.size, old.mtime_ns, old.ctime_ns, old.observed_ns
               FROM documents d JOIN versions old ON old.id = d.current WHERE d.id = versions.document
           ) WHERE died = 0"""
    )
    db.execute(
        """UPDATE versions SET died = ?
           WHERE died IS NULL AND document IN (SELECT document FROM versions WHERE died = 0)""",
        (revision,),
    )
    db.execute(
        """UPDATE documents SET current = (
               SELECT v.id FROM versions v INDEXED BY versions_document
               WHERE v.document = documents.id AND v.died = 0
           ) WHERE id IN (SELECT document FROM versions WHERE died = 0)"""
    )
    db.execute("UPDATE versions SET died = NULL, born = ? WHERE died = 0", (revision,))
