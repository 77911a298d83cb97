"""Mend what follows from the stored texts: a repair for each check that has one, which says what it did.

A repair that finds nothing of its own to do returns an empty text.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from .checks import counted
from .chroma import drop_chroma
from .chroma_check import DAMAGED, compare
from .corpus import DATABASE
from .corpus_checks import set_aside_damage
from .place_checks import make_private
from .posting_checks import rebuild_postings
from .purge import finish_purge
from .schema import connect, explain
from .vector_checks import matrix_files, unsound_vectors

_SHOW_THE_NEWEST = """
UPDATE documents SET current = (
    SELECT max(v.id) FROM versions v WHERE v.document = documents.id AND v.died IS NULL
        AND documents.source IN (SELECT name FROM sources))
"""
_END_THE_OTHERS = """
UPDATE versions SET died = ? WHERE
    died IS NULL AND id NOT IN (SELECT current FROM documents WHERE current IS NOT NULL)
    OR died = 0 AND document NOT IN (SELECT id FROM documents WHERE current IS NOT NULL)
"""


@contextmanager
def writing(folder: Path) -> Iterator[sqlite3.Connection]:
    """Open one transaction on the database of a `.quaere` folder, committed as a revision of its own."""
    with closing(connect(folder / DATABASE)) as db:
        try:
            db.execute("BEGIN IMMEDIATE")
            db.execute(
                "INSERT INTO revisions(at) VALUES (?)", (datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),)
            )
            yield db
            db.execute("COMMIT")
        except sqlite3.Error as error:
            raise explain(error, folder / DATABASE) from error


def _mend_documents(folder: Path) -> str:
    """Let each document of a source show its newest living version, and end the others."""
    with writing(folder) as db:
        db.execute(_SHOW_THE_NEWEST)
        revision = db.execute("SELECT max(id) FROM revisions").fetchone()[0]
        ended = db.execute(_END_THE_OTHERS, (revision,)).rowcount
    return f"documents: each shows its newest living version, {counted(ended, 'version')} ended"


def _mend_texts(folder: Path) -> str:
    """Have the files of damaged versions read again by the next sync."""
    with writing(folder) as db:
        wrong = set_aside_damage(db)
    return f"texts: {counted(wrong, 'file')} to be read again by the next `quaere sync`" if wrong else ""


def _mend_postings(folder: Path) -> str:
    with writing(folder) as db:
        passages = rebuild_postings(db)
    return f"keyword index: made anew from the texts of {counted(passages, 'passage')}"


def _mend_vectors(folder: Path) -> str:
    """Drop the vectors that cannot be used; the next sync encodes their texts again."""
    with writing(folder) as db:
        broken = unsound_vectors(db)
        db.executemany("DELETE FROM vectors WHERE space = ? AND key = ?", broken)
    dropped = counted(len(broken), "vector")
    return f"vectors: {dropped} dropped, to be encoded again by the next `quaere sync`" if broken else ""


def _mend_matrix(folder: Path) -> str:
    for path in matrix_files(folder):
        path.unlink(missing_ok=True)
    return "matrix: removed, the next search makes it anew"


def _mend_chroma(folder: Path) -> str:
    """Remove a collection that is damaged; one that is only behind is brought in step by the next sync."""
    said = compare(folder)
    if said and not any(one.endswith(DAMAGED) for one in said):
        return ""
    drop_chroma(folder)
    return "chroma: removed, the next `quaere sync` makes it anew"


def _mend_purge(folder: Path) -> str:
    """Finish a purge that was killed."""
    receipt = finish_purge(folder)
    if receipt is None:
        return ""
    left = ", ".join(leak.file for leak in receipt.leaks)
    what = f"but texts are left in {left}" if left else "nothing is left"
    return f"purge: finished for {receipt.source!r}, {what}"


def _mend_permissions(folder: Path) -> str:
    make_private(folder)
    return "permissions: only the owner may enter the folder now"


Mend = Callable[[Path], str]

REPAIRS: Mapping[str, Mend] = {
    "documents": _mend_documents,
    "texts": _mend_texts,
    "passages": _mend_texts,
    "keyword index": _mend_postings,
    "vectors": _mend_vectors,
    "matrix": _mend_matrix,
    "chroma": _mend_chroma,
    "purge": _mend_purge,
    "permissions": _mend_permissions,
}
"""In the order of the checks: what one repair drops, a later one finds missing."""
