"""Rows of `corpus.db` as the words of evidence."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from .attached_location import KIND
from .attached_standing import look_at_records
from .evidence import Document, Passage, Reading, Span, Validity, Version
from .standing import Observation, Stamp, Standing, is_away, standing
from .units import Unit, joint_locator

Row = tuple[Any, ...]

PASSAGE = """p.id, p.version, p.start, p."end", p.ordinal, p.heading, p.first, p.last,
    p.parent_start, p.parent_end, v.document"""


def passage_of(row: Row) -> Passage:
    """Return the passage in a row of the columns PASSAGE."""
    id, version, start, end, ordinal, heading, first, last, parent_start, parent_end, document = row[:11]
    return Passage(
        id=id,
        span=Span(version, start, end),
        ordinal=ordinal,
        heading=tuple(json.loads(heading)),
        sentences=(first, last),
        parent=Span(version, parent_start, parent_end),
        origin=document,
    )


def reading_of(
    passage: Passage, document: Document, text: str, units: Sequence[Unit], validity: Validity
) -> Reading:
    """Return a passage with its texts, cut from the whole text of its version."""
    sentences = tuple(unit.sentence for unit in units)
    return Reading(
        passage=passage,
        document=document,
        text=text[passage.span.start : passage.span.end],
        sentences=sentences,
        texts=tuple(text[one.source.start : one.source.end] for one in sentences),
        governing=tuple(tuple(text[span.start : span.end] for span in one.governed_by) for one in sentences),
        locator=joint_locator(unit.locator for unit in units),
        validity=validity,
    )


def read_documents(db: sqlite3.Connection, versions: Iterable[int]) -> dict[int, Document]:
    """Return the documents of the given versions by document id, titled as the version is."""
    rows = db.execute(
        """SELECT d.id, d.source, d.path, v.title, d.labels
           FROM versions v JOIN documents d ON d.id = v.document
           WHERE v.id IN (SELECT value FROM json_each(?))""",
        (json.dumps(list(versions)),),
    )
    return {
        id: Document(id, source, path, title, json.loads(labels)) for id, source, path, title, labels in rows
    }


def read_version(db: sqlite3.Connection, id: int) -> Version | None:
    """Return a stored version, dead or alive."""
    row = db.execute(
        """SELECT v.id, v.document, v.content_hash, t.hash, v.media_type, v.parser, v.splitter,
                  v.observed_ns, v.valid_from, v.valid_until, v.born, v.died
           FROM versions v JOIN texts t ON t.id = v.text WHERE v.id = ?""",
        (id,),
    ).fetchone()
    if row is None:
        return None
    values = list(row)
    values[7] = moment(row[7])
    return Version(*values)


def documents_of(db: sqlite3.Connection, source: str) -> Iterator[int]:
    """Yield the ids of the documents of a source that were not deleted."""
    for row in db.execute("SELECT id FROM documents WHERE source = ? AND current IS NOT NULL", (source,)):
        yield row[0]


def look_at_sources(rows: Sequence[Row]) -> dict[int, Standing]:
    """Compare files on disk and attached records with their versions; columns OBSERVED, by document id.

    Those of a source that is away count as the same: they are kept until somebody removes them.
    """
    records = [(row[0], row[1], row[2], row[8], row[10]) for row in rows if row[9] == KIND]
    return _look_at_files(row for row in rows if row[9] != KIND) | look_at_records(sorted(records, key=_root))


def _root(record: Row) -> bytes:
    return bytes(record[1])


def _look_at_files(rows: Iterable[Row]) -> dict[int, Standing]:
    away = cache(is_away)
    return {
        row[0]: "same" if away(row[1], row[3]) else standing(file_of(row[1], row[2]), observation_of(row[4:]))
        for row in rows
    }


OBSERVED = """
v.document, s.root, d.file, s.inode, v.size, v.mtime_ns, v.ctime_ns, v.observed_ns, v.content_hash,
s.kind, s.detail
"""


def observation_of(row: Row) -> Observation:
    """Return what was read of a file from (size, mtime_ns, ctime_ns, observed_ns, content_hash)."""
    return Observation(Stamp(*row[:3]), row[3], row[4])


def file_of(root: bytes, file: bytes) -> bytes:
    """Return where a file lies; a source that is one file has no path below its root."""
    return os.path.join(root, file) if file else root


def moment(ns: int) -> str:
    """Return a time in ns since 1970 as ISO 8601 in UTC, to the second."""
    return datetime.fromtimestamp(ns // 1_000_000_000, UTC).isoformat().replace("+00:00", "Z")
