"""One corpus: the file `corpus.db` in a `.quaere` folder, the only truth about what was indexed.

Reading goes through `Corpus.reader`, under access; writing through `Corpus.write`, one transaction at a time.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .attached_location import KIND
from .attached_standing import is_collection_away
from .connections import Connections
from .draft import Built, Failure, File
from .evidence import Access, Filter
from .reader import Eyes, Ranking, Reader
from .rows import moment, observation_of
from .scan import shown
from .schema import BUSY_SECONDS, check_file, create_file, make_folder, upgrade_file
from .sight import active_space, current_revision
from .staging import COMING
from .standing import Observation, Stamp
from .texts import Texts
from .vector import OTHER_SPACES
from .writer import Writer

DATABASE = "corpus.db"


@dataclass(frozen=True, slots=True)
class Source:
    """A folder or a single file that was added; `inode` knows the folder again when it is found empty.

    An attached collection has the kind `chroma`, a `location` that is no path, and a `detail` of its own.
    """

    id: str
    root: Path
    inode: int
    added_at: str
    kind: str = "files"
    location: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_there(self) -> bool:
        """Tell whether the folder, the file or the server is there now."""
        if self.kind == KIND:
            return not is_collection_away(os.fsencode(self.location))
        return self.root.exists()


@dataclass(frozen=True, slots=True)
class SourceSummary:
    """What `quaere sources` shows of a source; `updated_at` is when a document of it last was indexed.

    `vectors` counts the passages that have one, `labels` holds the values of its documents by key.
    """

    id: str
    root: str
    documents: int
    passages: int
    added_at: str
    updated_at: str | None
    failures: tuple[tuple[str, str], ...]
    is_there: bool
    kind: str = "files"
    vectors: int = 0
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Known:
    """The living version of a document as sync compares it with the file.

    `staged` holds the marks of parser and cut of its pending version, where another space is being built.
    """

    document: int
    file: File
    observed: Observation
    title: str
    parser: str
    mark: str
    passages: int
    staged: tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class Counts:
    """How much the corpus holds at its newest revision."""

    documents: int
    passages: int
    failures: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """A text to encode, the key its vector will have, and how many passages of those looked at need it."""

    key: bytes
    prefix: str
    text: str
    passages: int


class Corpus:
    """Open one `.quaere` folder; safe to share between threads, each has a connection of its own."""

    def __init__(self, folder: Path, busy_seconds: float = BUSY_SECONDS) -> None:
        self.folder = folder
        self._connections = Connections(folder / DATABASE, busy_seconds)
        self._texts = Texts()
        with self._connections.use() as db:
            self.workspace: str = db.execute("SELECT value FROM meta WHERE key = 'workspace'").fetchone()[0]

    @classmethod
    def open(cls, folder: Path, busy_seconds: float = BUSY_SECONDS) -> Corpus:
        """Open an existing corpus; WorkspaceError when it is missing, foreign, newer or damaged."""
        check_file(folder / DATABASE)
        upgrade_file(folder / DATABASE)
        return cls(folder, busy_seconds)

    @classmethod
    def create(cls, folder: Path, busy_seconds: float = BUSY_SECONDS) -> Corpus:
        """Open the corpus of a folder, making both where there is none; a foreign one is refused."""
        make_folder(folder)
        if not (folder / DATABASE).exists():
            create_file(folder / DATABASE)
        return cls.open(folder, busy_seconds)

    @property
    def revision(self) -> int:
        """Return the number of the last commit, 0 when nothing was indexed yet."""
        with self._connections.use() as db:
            return current_revision(db)

    @property
    def space(self) -> str | None:
        """Return the fingerprint of the encoder whose vectors are complete, or None."""
        with self._connections.use() as db:
            return active_space(db)

    @property
    def built_by(self) -> Built | None:
        """Return the encoder that made the vectors that are searched; None when that was not noted."""
        with self._connections.use() as db:
            row = db.execute("SELECT value FROM meta WHERE key = 'encoder'").fetchone()
        return Built(**json.loads(row[0])) if row else None

    @property
    def pending_marks(self) -> set[str]:
        """Return the marks of the versions that wait for the space of another encoder to be complete."""
        with self._connections.use() as db:
            return {row[0] for row in db.execute("SELECT DISTINCT splitter FROM versions WHERE died = 0")}

    def has_other_vectors(self, space: str) -> bool:
        """Tell whether vectors of another space than this one are stored."""
        with self._connections.use() as db:
            row = db.execute(
                f"SELECT 1 FROM vectors WHERE {OTHER_SPACES} LIMIT 1", {"space": space}
            ).fetchone()
        return row is not None

    @property
    def rules(self) -> str | None:
        """Return the mark of the rules that the stored labels follow; None: they are to be renewed."""
        with self._connections.use() as db:
            row = db.execute("SELECT value FROM meta WHERE key = 'rules'").fetchone()
        return row[0] if row else None

    def reader(
        self, access: Access, filter: Filter, revision: int | None = None, ranking: Ranking | None = None
    ) -> Reader:
        """Return a reader for a principal, pinned to a revision (None: the newest)."""
        eyes = Eyes(access, filter, revision, ranking or Ranking())
        return Reader(self.folder, self._connections, self._texts, eyes)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give a connection that sees one state of the corpus, for what is kept in step beside it."""
        with self._connections.use() as db:
            db.execute("BEGIN")
            try:
                yield db
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")

    @contextmanager
    def write(self) -> Iterator[Writer]:
        """Open the one transaction that may write; BusyError when another process keeps it too long."""
        with self._connections.use() as db:
            try:
                db.execute("BEGIN IMMEDIATE")
                yield Writer(db)
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    def sources(self) -> list[Source]:
        """Return the sources by name."""
        with self._connections.use() as db:
            rows = db.execute(
                "SELECT name, root, inode, added_at, kind, detail FROM sources ORDER BY name"
            ).fetchall()
        return [_source(row) for row in rows]

    def overview(self) -> list[SourceSummary]:
        """Return what each source holds, with its failures; for the owner, access is not applied."""
        return [self._summary(source) for source in self.sources()]

    def counts(self) -> Counts:
        """Return how many documents, passages and failed files there are now."""
        with self._connections.use() as db:
            documents, passages = db.execute(
                "SELECT count(*), coalesce(sum(passages), 0) FROM versions WHERE died IS NULL"
            ).fetchone()
            failed = db.execute("SELECT count(*) FROM failures").fetchone()[0]
        return Counts(documents, passages, failed)

    def known(self, source: str) -> dict[str, Known]:
        """Return the living documents of a source by path."""
        with self._connections.use() as db:
            rows = db.execute(
                """SELECT d.id, d.path, d.file, v.size, v.mtime_ns, v.ctime_ns, v.observed_ns, v.content_hash,
                          v.title, v.parser, v.splitter, v.passages, n.parser, n.splitter
                   FROM documents d JOIN versions v ON v.id = d.current
                   LEFT JOIN versions n INDEXED BY versions_document ON n.document = d.id AND n.died = 0
                   WHERE d.source = ?""",
                (source,),
            ).fetchall()
        return {row[1]: _known(source, row) for row in rows}

    def failures(self, source: str) -> dict[str, Failure]:
        """Return the files of a source that could not be read when they were last tried, by path."""
        with self._connections.use() as db:
            rows = db.execute(
                """SELECT path, reason, size, mtime_ns, ctime_ns, parser FROM failures
                   WHERE source = ? ORDER BY path""",
                (source,),
            ).fetchall()
        return {row[0]: Failure(row[0], row[1], Stamp(*row[2:5]), row[5]) for row in rows}

    def vectors_ready(self, space: str) -> tuple[int, int]:
        """Return how many passages have a vector in a space, and how many there are.

        Those of the living versions for the space that is searched, of the coming ones for any other.
        """
        with self._connections.use() as db:
            ready, total = db.execute(
                f"SELECT count(x.key), count(*) {_passages_of(db, space)} {_THEIR_VECTORS}", (space,)
            ).fetchone()
        return ready, total

    def waiting(self, space: str, after: int, limit: int) -> tuple[list[Waiting], int]:
        """Return the next passages without a vector, beyond passage id `after`, and the last id looked at.

        No passages mean that none is left.
        """
        with self._connections.use() as db:
            rows = db.execute(
                f"""SELECT p.id, p.input_key, p.prefix, p.version, p.start, p."end"
                    {_passages_of(db, space)} {_THEIR_VECTORS}
                    WHERE x.key IS NULL AND p.id > ? ORDER BY p.id LIMIT ?""",
                (space, after, limit),
            ).fetchall()
            needed = Counter(row[1] for row in rows)
            found = {
                key: Waiting(key, prefix, self._texts.of(db, version)[start:end], needed[key])
                for _, key, prefix, version, start, end in rows
            }
        return list(found.values()), rows[-1][0] if rows else after

    def close(self) -> None:
        """Close all connections; a later use is refused."""
        self._connections.close()

    def _summary(self, source: Source) -> SourceSummary:
        with self._connections.use() as db:
            documents, passages, newest = db.execute(
                """SELECT count(*), coalesce(sum(v.passages), 0), max(v.observed_ns)
                   FROM documents d JOIN versions v ON v.id = d.current WHERE d.source = ?""",
                (source.id,),
            ).fetchone()
        return SourceSummary(
            id=source.id,
            root=shown(source.location),
            documents=documents,
            passages=passages,
            added_at=source.added_at,
            updated_at=None if newest is None else moment(newest),
            failures=tuple((failure.path, failure.reason) for failure in self.failures(source.id).values()),
            is_there=source.is_there,
            kind=source.kind,
        )


def _source(row: tuple[Any, ...]) -> Source:
    name, root, inode, added_at, kind, detail = row
    location = os.fsdecode(root)
    return Source(name, Path(location), inode, added_at, kind, location, json.loads(detail))


def _passages_of(db: sqlite3.Connection, space: str) -> str:
    which = "v.died IS NULL" if active_space(db) in (None, space) else COMING
    return f"FROM passages p CROSS JOIN versions v ON v.id = p.version AND {which}"


def _known(source: str, row: tuple[Any, ...]) -> Known:
    """Return a document from its id, path, file, observation, marks and those of its pending version."""
    return Known(
        document=row[0],
        file=File(source, row[1], row[2]),
        observed=observation_of(row[3:8]),
        title=row[8],
        parser=row[9],
        mark=row[10],
        passages=row[11],
        staged=None if row[12] is None else (row[12], row[13]),
    )


_THEIR_VECTORS = "LEFT JOIN vectors x ON x.space = ? AND x.key = p.input_key"
