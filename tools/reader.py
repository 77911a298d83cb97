"""Read the corpus as one principal, through one filter, at one pinned revision, from any thread."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .answer import Engine
from .attached_location import KIND
from .attached_standing import is_collection_away
from .chroma_search import ChromaSearch, Outcome, Wish
from .connections import Connections
from .evidence import ALWAYS_VALID, Access, Document, Filter, Locator, Passage, Reading, Span, Version
from .gate import check_gate
from .keyword import K1, B, Keyword
from .rows import (
    OBSERVED,
    PASSAGE,
    Row,
    documents_of,
    look_at_sources,
    moment,
    passage_of,
    read_documents,
    read_version,
    reading_of,
)
from .sight import Sight, active_space, current_revision, look
from .standing import Standing, is_away
from .texts import Texts
from .units import joint_locator, unpack
from .vector import Matrix

_TOUCHED = """
SELECT p.sentences, p.first FROM versions v JOIN passages p
    ON p.id BETWEEN v.first_passage AND v.first_passage + v.passages - 1
WHERE v.id = ? AND p.start < ? AND p."end" > ? ORDER BY p.id
"""

_HOLDINGS = """
SELECT d.source, count(*), sum(v.passages), max(v.observed_ns), json_group_array(DISTINCT d.labels)
FROM versions v JOIN documents d ON d.id = v.document
WHERE v.id IN (SELECT value FROM json_each(?)) GROUP BY d.source
"""
_VECTORS_HELD = """
SELECT d.source, count(x.key) FROM versions v JOIN documents d ON d.id = v.document
JOIN passages p ON p.id BETWEEN v.first_passage AND v.first_passage + v.passages - 1
JOIN vectors x ON x.space = coalesce(?, (SELECT max(space) FROM vectors)) AND x.key = p.input_key
WHERE v.id IN (SELECT value FROM json_each(?)) GROUP BY d.source
"""


@dataclass(frozen=True, slots=True)
class Ranking:
    """How the channels rank: BM25's k1 and b, and the encoder fingerprint (None: the one last indexed).

    With `chroma` vectors are searched there where access covers everything.
    """

    k1: float = K1
    b: float = B
    space: str | None = None
    chroma: ChromaSearch | None = None


@dataclass(frozen=True, slots=True)
class Eyes:
    """Who looks through which filter at which revision (None: the newest when the reader is made)."""

    access: Access
    filter: Filter
    revision: int | None = None
    ranking: Ranking = Ranking()


@dataclass(frozen=True, slots=True)
class Holding:
    """What is visible of a source: documents, passages, and when the newest of them was indexed.

    `vectors` counts the passages that have one in the space that is searched; `labels` holds values by key.
    """

    documents: int
    passages: int
    updated_at: str
    vectors: int
    labels: Mapping[str, tuple[str, ...]]


class Reader:
    """See the corpus under access, filter and revision; what may not be read looks as if it was not there."""

    def __init__(self, folder: Path, connections: Connections, texts: Texts, eyes: Eyes) -> None:
        self._folder = folder
        self._connections = connections
        self._texts = texts
        self._eyes = eyes
        self._local = threading.local()
        self._busy: set[sqlite3.Connection] = set()
        self._matrix: Matrix | None = None
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self.engine: Engine = "exact"
        """Which engine answered the last vector search."""
        self.engine_note = ""
        """Why Chroma could not be used where it was to be; empty when nothing is wrong."""
        check_gate(eyes.access, eyes.filter)
        with self._reading() as db:
            self.revision = current_revision(db) if eyes.revision is None else eyes.revision
            self._sight = look(db, eyes.access, eyes.filter, self.revision)

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """Return the mask by passage id of what may be found now: alive, readable, in the filter."""
        with self._reading() as db:
            return self._look(db).allowed

    def keyword(self, terms: Sequence[str], k: int) -> list[tuple[int, float]]:
        """Return up to k (passage id, BM25 score > 0), best first."""
        with self._reading() as db:
            return self._keyword(db).search(terms, k)

    def document_frequency(self, terms: Sequence[str]) -> dict[str, int]:
        """Return in how many allowed passages each term stands."""
        with self._reading() as db:
            return self._keyword(db).document_frequency(terms)

    def vector(self, query: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
        """Return up to k (passage id, cosine), best first; nothing when no vectors are stored."""
        with self._reading() as db:
            space = self._eyes.ranking.space or active_space(db)
            if space is None:
                return []
            wish = Wish(space, query, self._look(db).allowed, k)
            found = self._proposed(db, wish)
            return self._vectors(db, space).search(query, wish.allowed, k) if found is None else found

    def passages(self, ids: Sequence[int]) -> dict[int, Passage]:
        """Return the passages by id, in the order asked, without those that may not be read."""
        with self._reading() as db:
            return {row[0]: passage_of(row) for row in self._rows(db, ids)}

    def readings(self, ids: Sequence[int]) -> dict[int, Reading]:
        """Return the passages with document, texts, sentences and the texts that govern each sentence."""
        with self._reading() as db:
            rows = self._rows(db, ids)
            documents = self._documents(db, {row[10] for row in rows})
            return {row[0]: self._read(db, row, documents[row[10]]) for row in rows if row[10] in documents}

    def neighbours(self, id: int, before: int, after: int) -> list[int]:
        """Return the passage ids up to `before` places before and `after` places after, without itself."""
        with self._reading() as db:
            around = self._siblings(db, id)
        return [one for one in around if id - before <= one <= id + after and one != id]

    def section(self, id: int) -> list[int]:
        """Return the ids of all passages of the section a passage belongs to, in order."""
        with self._reading() as db:
            around = self._siblings(db, id)
            rows = db.execute(
                """SELECT p.id FROM passages p JOIN passages me ON me.id = ? WHERE p.id BETWEEN ? AND ?
                   AND p.parent_start = me.parent_start AND p.parent_end = me.parent_end ORDER BY p.id""",
                (id, around.start, around.stop - 1),
            ).fetchall()
        return [row[0] for row in rows]

    def document_passages(self, document: int) -> list[int]:
        """Return the ids of a document's passages in order."""
        with self._reading() as db:
            return list(self._look(db).passages_of.get(document, ()))

    def documents(self) -> list[Document]:
        """Return every visible document by source and path."""
        with self._reading() as db:
            found = self._documents(db, self._look(db).version_of)
        return sorted(found.values(), key=lambda document: (document.source, document.path))

    def titles(self, n: int) -> list[str]:
        """Return up to n different titles, those of the largest documents first."""
        with self._reading() as db:
            sight = self._look(db)
            found = self._documents(db, sight.version_of)
        sizes: Counter[str] = Counter()
        for id, document in sorted(found.items()):
            sizes[document.title] += len(sight.passages_of[id])
        return [title for title, _ in sizes.most_common(n)]

    def warnings(self) -> list[tuple[Document, str]]:
        """Return what the parsers could not read of visible documents, such as a page without text."""
        with self._reading() as db:
            version_of = self._look(db).version_of
            documents = self._documents(db, version_of)
            rows = db.execute(
                """SELECT document, warnings FROM versions
                   WHERE id IN (SELECT value FROM json_each(?)) AND warnings != '[]' ORDER BY document""",
                (json.dumps(list(version_of.values())),),
            ).fetchall()
        return [(documents[id], warning) for id, stored in rows for warning in json.loads(stored)]

    def vectors_ready(self, space: str) -> tuple[int, int]:
        """Return how many of the allowed passages have a vector in a space, and how many there are."""
        with self._reading() as db:
            allowed = self._look(db).allowed
            return self._vectors(db, space).covered(allowed), int(allowed.sum())

    def holdings(self) -> dict[str, Holding]:
        """Return what is visible of each source that has a visible document."""
        with self._reading() as db:
            seen = json.dumps(list(self._look(db).version_of.values()))
            space = self._eyes.ranking.space or active_space(db)
            rows = db.execute(_HOLDINGS, (seen,)).fetchall()
            vectors = dict(db.execute(_VECTORS_HELD, (space, seen)).fetchall())
        return {
            row[0]: Holding(row[1], row[2], moment(row[3]), vectors.get(row[0], 0), _values_of(row[4]))
            for row in rows
        }

    def version(self, document: int) -> Version | None:
        """Return the version of a document that this reader sees."""
        with self._reading() as db:
            id = self._look(db).version_of.get(document)
            return None if id is None else read_version(db, id)

    def cut(self, span: Span) -> str:
        """Return the stored text of a span, also of an older version; empty when it may not be read."""
        with self._reading() as db:
            return (
                self._texts.of(db, span.version)[span.start : span.end]
                if self._may_open(db, span.version)
                else ""
            )

    def locate(self, span: Span) -> Locator:
        """Return page, heading path and element of a span, from the sentences it touches."""
        with self._reading() as db:
            if not self._may_open(db, span.version):
                return Locator()
            rows = db.execute(_TOUCHED, (span.version, span.end, span.start)).fetchall()
        units = [unit for stored, first in rows for unit in unpack(stored, span.version, first)]
        touched = [unit for unit in units if unit.sentence.source.overlaps(span)]
        return joint_locator(unit.locator for unit in touched)

    def standing(self, documents: Iterable[int]) -> dict[int, Standing]:
        """Look at the files of documents on disk now; a document that cannot be seen any more is gone."""
        wanted = list(documents)
        with self._reading() as db:
            version_of = self._look(db).version_of
            versions = [version_of[id] for id in wanted if id in version_of]
            rows = db.execute(
                f"""SELECT {OBSERVED} FROM versions v JOIN documents d ON d.id = v.document
                    JOIN sources s ON s.name = d.source WHERE v.id IN (SELECT value FROM json_each(?))""",
                (json.dumps(versions),),
            ).fetchall()
        found = look_at_sources(rows)
        return {id: found.get(id, "gone") for id in wanted}

    def away(self) -> list[str]:
        """Return the names of sources with visible documents that are not there now."""
        with self._reading() as db:
            rows = db.execute("SELECT name, root, inode, kind FROM sources ORDER BY name").fetchall()
            visible = self._look(db).version_of
            held = [row for row in rows if any(id in visible for id in documents_of(db, row[0]))]
        return [
            name
            for name, root, inode, kind in held
            if (is_collection_away(root) if kind == KIND else is_away(root, inode))
        ]

    def interrupt(self) -> None:
        """Stop what this reader is running in any thread; the call there raises SourceUnavailableError."""
        with self._lock:
            for db in self._busy:
                db.interrupt()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._connections.use() as db:
            with self._lock:
                self._busy.add(db)
            mine = not db.in_transaction
            try:
                if mine:
                    db.execute("BEGIN")  # all statements of one call see one state of the corpus
                yield db
            finally:
                with self._lock:
                    self._busy.discard(db)
                if mine and db.in_transaction:
                    db.execute("ROLLBACK")

    def _look(self, db: sqlite3.Connection) -> Sight:
        """Look again when something was committed since: a tombstone blocks at once."""
        if current_revision(db) != self._sight.seen:
            self._sight = look(db, self._eyes.access, self._eyes.filter, self.revision)
        return self._sight

    def _keyword(self, db: sqlite3.Connection) -> Keyword:
        sight = self._look(db)
        if getattr(self._local, "keyword_seen", None) != sight.seen:
            ranking = self._eyes.ranking
            self._local.keyword = Keyword(db, sight.allowed, ranking.k1, ranking.b)
            self._local.keyword_seen = sight.seen
        keyword: Keyword = self._local.keyword
        return keyword

    def _proposed(self, db: sqlite3.Connection, wish: Wish) -> list[tuple[int, float]] | None:
        """Return what Chroma finds, None where the matrix is to be searched, and note which one it is."""
        chroma = self._eyes.ranking.chroma
        outcome = chroma.search(db, current_revision(db), wish) if chroma else Outcome()
        self.engine = "exact" if outcome.found is None else "chroma"
        self.engine_note = outcome.note or self.engine_note
        return outcome.found

    def _vectors(self, db: sqlite3.Connection, space: str) -> Matrix:
        """Open the matrix once: later commits are beyond the pin, and the mask takes out what died."""
        with self._opening:
            if self._matrix is None:
                self._matrix = Matrix.open(self._folder, db, space, current_revision(db))
            return self._matrix

    def _rows(self, db: sqlite3.Connection, ids: Sequence[int]) -> list[Row]:
        allowed = self._look(db).allowed
        wanted = list(dict.fromkeys(int(id) for id in ids if 0 < id < len(allowed) and allowed[id]))
        found = db.execute(
            f"""SELECT {PASSAGE}, p.sentences FROM passages p JOIN versions v ON v.id = p.version
                WHERE p.id IN (SELECT value FROM json_each(?))""",
            (json.dumps(wanted),),
        )
        by_id = {row[0]: row for row in found}
        return [by_id[id] for id in wanted if id in by_id]

    def _documents(self, db: sqlite3.Connection, ids: Iterable[int]) -> dict[int, Document]:
        version_of = self._look(db).version_of
        return read_documents(db, [version_of[id] for id in ids if id in version_of])

    def _read(self, db: sqlite3.Connection, row: Row, document: Document) -> Reading:
        passage = passage_of(row)
        text = self._texts.of(db, passage.span.version)
        units = unpack(row[11], passage.span.version, passage.sentences[0])
        validity = self._look(db).validity_of.get(document.id, ALWAYS_VALID)
        return reading_of(passage, document, text, units, validity)

    def _siblings(self, db: sqlite3.Connection, id: int) -> range:
        sight = self._look(db)
        if not (0 < id < len(sight.allowed) and sight.allowed[id]):
            return range(0)
        row = db.execute(
            "SELECT v.document FROM passages p JOIN versions v ON v.id = p.version WHERE p.id = ?", (id,)
        ).fetchone()
        return sight.passages_of.get(row[0], range(0)) if row else range(0)

    def _may_open(self, db: sqlite3.Connection, version: int) -> bool:
        row = db.execute(
            """SELECT d.labels FROM versions v JOIN documents d ON d.id = v.document
               WHERE v.id = ? AND d.current IS NOT NULL""",
            (version,),
        ).fetchone()
        return row is not None and self._eyes.access.may_read(json.loads(row[0]))


def _values_of(stored: str) -> dict[str, tuple[str, ...]]:
    """Return by key the values of labels, given as a JSON list of JSON texts."""
    values: dict[str, set[str]] = defaultdict(set)
    for labels in json.loads(stored):
        for key, value in json.loads(labels).items():
            values[key].add(value)
    return {key: tuple(sorted(values[key])) for key in sorted(values)}
