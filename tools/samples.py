"""Samples of what a purge takes away, to be looked for afterwards, and all that may rightly stay."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from .doomed import DOCUMENTS, PASSAGES, TEXTS, VECTORS, VERSIONS, doomed_terms
from .needles import SIZES, Needles
from .units import unpack

SPREAD = 8
"""Samples taken at equal distances of each text."""

SENTENCES = 64
"""Beginnings of sentences taken of each text at most: what is quoted elsewhere is quoted from there."""

MOST_TEXTS = 50_000
"""Texts of which that many samples are taken; of more, those at equal distances alone."""

MOST_VECTORS = 100_000

READ_AT_ONCE = 256

OUR_OWN = '"revision" "collection" "attempts" "deleted" quaere matrix SQLite format'
"""Words that stand in files of a workspace whatever the documents say."""


def doomed_samples(db: sqlite3.Connection, places: Iterable[str] = ()) -> Needles:
    """Return samples of the doomed texts, terms, names and vectors; `places` are further names that go."""
    needles = Needles()
    rows = db.execute(f"SELECT id, body FROM texts WHERE {TEXTS}")
    for number, (id, body) in enumerate(rows):
        starts = _sentence_starts(db, id) if number < MOST_TEXTS else []
        needles.add("text", _windows(body, starts))
    needles.add("term", (term.encode() for term in doomed_terms(db)))
    needles.add("name", _names(db, places))
    heads = db.execute(
        f"SELECT substr(vector, 1, {SIZES[0]}) FROM vectors WHERE {VECTORS} LIMIT ?", (MOST_VECTORS,)
    )
    needles.add("vector", (row[0] for row in heads))
    return needles


def living(db: sqlite3.Connection) -> Iterator[bytes]:
    """Yield everything that stays, in each form it may be stored in: samples of it are no leak."""
    yield OUR_OWN.encode()
    yield from _cells(db, "SELECT name, sql FROM sqlite_master")
    yield from _cells(db, "SELECT key, value FROM meta WHERE key != 'purge'")
    yield from _cells(db, "SELECT name, root, detail FROM sources")
    yield from _cells(db, "SELECT source, path, reason, parser FROM failures")
    yield from _cells(db, f"SELECT source, path, file, labels FROM documents WHERE NOT {DOCUMENTS}")
    yield from _cells(db, f"SELECT {_SHAPE} FROM versions WHERE NOT {VERSIONS}")
    yield from _cells(db, f"SELECT heading, prefix, sentences FROM passages WHERE NOT {PASSAGES}")
    yield from _cells(db, f"SELECT body FROM texts WHERE {_LIVING_TEXTS}")
    yield from _cells(db, f"SELECT substr(vector, 1, {SIZES[0]}) FROM vectors WHERE {_LIVING_VECTORS}")
    doomed = set(doomed_terms(db))
    terms = (row[0] for row in db.execute("SELECT DISTINCT term FROM postings"))
    yield b"\0".join(term.encode() for term in terms if term not in doomed)


def inside_values(db: sqlite3.Connection, found: Needles) -> Needles:
    """Return what was found in the file without short strings that stand in no value of any row.

    SQLite writes the values of a row one after another: the end of one and the head of the next may spell a
    short term. Free space, where else something could be left, is overwritten.
    """
    short = found.of_size(SIZES[-1])
    if not short.count:
        return found
    tables = [row[0] for row in db.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'")]
    values = (value for table in tables for value in _cells(db, f'SELECT * FROM main."{table}"'))
    return found.without(short.without(short.found_in(values)))


_LIVING_TEXTS = f"id IN (SELECT text FROM versions WHERE NOT {VERSIONS})"
_LIVING_VECTORS = f"key IN (SELECT input_key FROM passages WHERE NOT {PASSAGES})"
_SHAPE = (
    """title, content_hash, media_type, parser, splitter, valid_from, valid_until, superseded_by, warnings"""
)


_LIVING_TEXTS = f"id IN (SELECT text FROM versions WHERE NOT {VERSIONS})"
_LIVING_VECTORS = f"key IN (SELECT input_key FROM passages WHERE NOT {PASSAGES})"
_SHAPE = """title, content_hash, media_type, parser, splitter, valid_from, valid_until, superseded_by,
    warnings"""


def _cells(db: sqlite3.Connection, query: str) -> Iterator[bytes]:
    """Yield the texts and bytes of a query's rows, texts also as JSON writes them."""
    cursor = db.execute(query)
    while rows := cursor.fetchmany(READ_AT_ONCE):
        for value in (value for row in rows for value in row):
            if isinstance(value, str):
                yield from (f"\0{form}".encode() for form in _forms(value))
            elif isinstance(value, bytes):
                yield b"\0" + value


def _windows(body: str, starts: Sequence[int]) -> Iterator[bytes]:
    """Yield the samples of a text: at equal distances and at the given places, in each form."""
    step = max(1, len(body) // SPREAD)
    for at in {*range(0, len(body), step), *starts}:
        piece = body[at : at + 2 * SIZES[0]]
        yield from (form.encode() for form in _forms(piece))


def _sentence_starts(db: sqlite3.Connection, text: int) -> list[int]:
    """Return where sentences of a text begin, evenly chosen among all."""
    rows = db.execute(
        f"""SELECT sentences FROM passages WHERE version =
                (SELECT max(id) FROM versions WHERE text = ? AND {VERSIONS}) ORDER BY id""",
        (text,),
    )
    starts = [unit.sentence.source.start for row in rows for unit in unpack(row[0], 0, 0)]
    return starts[:: len(starts) // SENTENCES + 1]


def _names(db: sqlite3.Connection, places: Iterable[str]) -> Iterator[bytes]:
    """Yield the ends of the paths, which tell them apart, and the titles of what is doomed."""
    paths = (row[0] for row in db.execute(f"SELECT path FROM documents WHERE {DOCUMENTS}"))
    for path in (*paths, *places):
        for form in _forms(path):
            name = os.fsencode(form)
            size = next((size for size in SIZES if len(name) >= size), 0)
            yield name[len(name) - size :]
    for (title,) in db.execute(f"SELECT title FROM versions WHERE {VERSIONS}"):
        yield from (form.encode() for form in _forms(title))


def _forms(text: str) -> set[str]:
    """Return a text as it is and as JSON writes it, in ASCII and otherwise."""
    return {text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
