"""Whether `corpus.db` agrees with itself: documents, versions, texts, passages and their sentences."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from hashlib import blake2b

from .checks import REPAIR, Finding, Stores, counted, failed, ok, some, warning
from .schema import WAY_OUT
from .units import unpack
from .writer import input_key

READ_AGAIN = f"{REPAIR}, then `quaere sync` to read the files again"

_NOT_CURRENT = """
SELECT d.id FROM documents d LEFT JOIN versions v ON v.id = d.current
WHERE d.current IS NOT NULL AND (v.id IS NULL OR v.died IS NOT NULL OR v.document != d.id)
"""
_NO_DOCUMENTS_OWN = """
SELECT v.id FROM versions v LEFT JOIN documents d ON d.id = v.document
WHERE d.id IS NULL OR (v.died IS NULL AND d.current IS NOT v.id) OR (v.died = 0 AND d.current IS NULL)
"""
_OF_NO_SOURCE = """
SELECT id FROM documents WHERE current IS NOT NULL AND source NOT IN (SELECT name FROM sources)
"""
_WITHOUT_TEXT = """
SELECT id FROM versions WHERE coalesce(died, 0) = 0 AND text NOT IN (SELECT id FROM texts)
"""
_TEXTS = "SELECT DISTINCT text FROM versions WHERE coalesce(died, 0) = 0 ORDER BY text"
_NOT_CONTIGUOUS = """
SELECT v.id FROM versions v LEFT JOIN (
    SELECT version, count(*) AS n, min(id) AS first, max(id) AS last,
        min(ordinal) AS low, max(ordinal) AS high
    FROM passages GROUP BY version
) p ON p.version = v.id
WHERE coalesce(v.died, 0) = 0 AND (v.passages != coalesce(p.n, 0) OR (p.n > 0 AND (
    p.first != v.first_passage OR p.last - p.first + 1 != p.n OR p.low != 0 OR p.high + 1 != p.n)))
"""
_OF_NO_VERSION = "FROM passages WHERE version NOT IN (SELECT id FROM versions)"


def look_at_pages(stores: Stores) -> Finding:
    """Let SQLite check every page of the file and every index in it."""
    said = [row[0] for row in stores.db.execute("PRAGMA integrity_check(5)")]
    if said != ["ok"]:
        return failed(f"the file is damaged ({'; '.join(said)})", WAY_OUT)
    size = stores.db.execute("PRAGMA page_size").fetchone()[0]
    pages = stores.db.execute("PRAGMA page_count").fetchone()[0]
    return ok(f"{counted(pages, 'page')} of {size:,} bytes, each one sound")


def look_at_documents(stores: Stores) -> Finding:
    """Check that each document that can be found has one living version of its own, and a source."""
    for query, what in (
        (_NOT_CURRENT, "document|whose version cannot be found"),
        (_NO_DOCUMENTS_OWN, "version|that no document shows"),
    ):
        if rows := stores.db.execute(query).fetchall():
            noun, wrong = what.split("|")
            return failed(f"{counted(len(rows), noun)} {wrong}")
    if rows := stores.db.execute(_OF_NO_SOURCE).fetchall():
        return failed(f"{counted(len(rows), 'document')} of a source that is not there")
    living = stores.db.execute("SELECT count(*) FROM documents WHERE current IS NOT NULL").fetchone()[0]
    return ok(f"{counted(living, 'document')}, each with one living version")


def look_at_texts(stores: Stores) -> Finding:
    """Check that each version has its text and that texts are what they were when they were stored."""
    if rows := stores.db.execute(_WITHOUT_TEXT).fetchall():
        return failed(f"{counted(len(rows), 'version')} without a text", READ_AGAIN)
    ids = [row[0] for row in stores.db.execute(_TEXTS)]
    looked_at = some(ids)
    altered = sum(not _is_whole(stores.db, id) for id in looked_at)
    if altered:
        return failed(f"{counted(altered, 'text')} altered since they were stored", READ_AGAIN)
    return ok(f"{counted(len(ids), 'text')}, {_share(len(looked_at), len(ids))} compared with their hash")


def look_at_passages(stores: Stores) -> Finding:
    """Check that the passages of each version are complete, in a row, and hold their sentences."""
    if rows := stores.db.execute(_NOT_CONTIGUOUS).fetchall():
        return failed(f"{counted(len(rows), 'version')} whose passages are not complete", READ_AGAIN)
    if lost := stores.db.execute(f"SELECT count(*) {_OF_NO_VERSION}").fetchone()[0]:
        return failed(f"{counted(lost, 'passage')} of no version")
    versions = [
        row[0] for row in stores.db.execute("SELECT id FROM versions WHERE coalesce(died, 0) = 0 ORDER BY id")
    ]
    looked_at = some(versions)
    if wrong := [id for id in looked_at if any(_faults(stores.db, id))]:
        return failed(f"{counted(len(wrong), 'version')} whose passages do not fit their text", READ_AGAIN)
    total = stores.db.execute("SELECT count(*) FROM passages").fetchone()[0]
    share = _share(len(looked_at), len(versions))
    return ok(f"{counted(total, 'passage')}, those of {share} living versions compared with their text")


def look_at_pending(stores: Stores) -> Finding:
    """Tell whether a changed encoder left versions that wait for their vectors."""
    pending = stores.db.execute("SELECT count(*) FROM versions WHERE died = 0").fetchone()[0]
    if pending:
        return warning(
            f"{counted(pending, 'version')} cut for another encoder, not in use yet", "run `quaere sync`"
        )
    return ok("nothing is half done")


def set_aside_damage(db: sqlite3.Connection) -> int:
    """Mark living and pending versions that are damaged to be read again, and return how many there are.

    An altered text loses its hash, so that the right one can be stored beside it; what belongs to no version
    is dropped.
    """
    db.execute(f"DELETE {_OF_NO_VERSION}")
    wrong = {row[0] for query in (_WITHOUT_TEXT, _NOT_CONTIGUOUS) for row in db.execute(query)}
    rows = db.execute("SELECT id, text FROM versions WHERE coalesce(died, 0) = 0 ORDER BY id").fetchall()
    for version, text in rows:
        whole = _is_whole(db, text)
        if not whole:
            db.execute("UPDATE texts SET hash = ? WHERE id = ?", (f"altered {text}", text))
        if version in wrong or not whole or any(_faults(db, version)):
            wrong.add(version)
    db.executemany("UPDATE versions SET parser = '' WHERE id = ?", [(id,) for id in wrong])
    return len(wrong)


def _is_whole(db: sqlite3.Connection, text: int) -> bool:
    row = db.execute("SELECT hash, body FROM texts WHERE id = ?", (text,)).fetchone()
    return row is not None and row[0] == blake2b(row[1].encode(), digest_size=16).hexdigest()


def _faults(db: sqlite3.Connection, version: int) -> Iterator[bool]:
    """Yield for each passage of a version whether it, or a sentence of it, does not fit the text."""
    row = db.execute(
        """SELECT t.body, v.first_passage, v.first_passage + v.passages - 1
           FROM versions v JOIN texts t ON t.id = v.text WHERE v.id = ?""",
        (version,),
    ).fetchone()
    body, first, last = row or ("", 0, -1)
    for start, end, one, after, prefix, key, sentences in db.execute(
        """SELECT start, "end", first, last, prefix, input_key, sentences FROM passages
           WHERE id BETWEEN ? AND ? ORDER BY id""",
        (first, last),
    ):
        yield not 0 <= start < end <= len(body) or key != input_key(prefix, body[start:end])
        yield not _holds_sentences(sentences, (start, end), after - one)


def _holds_sentences(stored: str, place: tuple[int, int], wanted: int) -> bool:
    try:
        spans = [unit.sentence.source for unit in unpack(stored, 0, 0)]
    except (ValueError, TypeError, IndexError):
        return False
    return len(spans) == wanted and all(place[0] <= one.start < one.end <= place[1] for one in spans)


def _share(looked_at: int, total: int) -> str:
    return "all" if looked_at == total else f"{looked_at:,} of {total:,}"
