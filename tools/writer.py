"""Change the corpus inside one transaction; every change of one transaction belongs to one new revision."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from .draft import Built, Draft, Failure, File, Stored
from .evidence import Validity
from .postings import merge_segments, write_segment
from .split import PassageCut
from .staging import bring_to_life, drop_pending, drop_unfit, is_cut_so
from .standing import Stamp
from .units import pack
from .vector import OTHER_SPACES


class Writer:
    """Write within the transaction that `Corpus.write` opened."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._revision: int | None = None

    @property
    def revision(self) -> int:
        """Return the number of the revision being written; asking for it makes one."""
        if self._revision is None:
            self._revision = self._db.execute("INSERT INTO revisions(at) VALUES (?)", (_now(),)).lastrowid
        assert self._revision is not None
        return self._revision

    def put_source(self, name: str, root: bytes, inode: int) -> None:
        """Add a source or note where its root lies now."""
        self._db.execute(
            """INSERT INTO sources(name, root, inode, added_at) VALUES (?, ?, ?, ?)
               ON CONFLICT(name) DO UPDATE SET root = excluded.root, inode = excluded.inode""",
            (name, root, inode, _now()),
        )

    def attach_source(self, name: str, kind: str, location: str, detail: Mapping[str, object]) -> None:
        """Add a source that is no folder: its kind, where it is, and what is known of it."""
        self.put_source(name, location.encode(), 0)
        self._db.execute("UPDATE sources SET kind = ? WHERE name = ?", (kind, name))
        self.put_detail(name, detail)

    def put_detail(self, name: str, detail: Mapping[str, object]) -> None:
        """Note what is known of a source; makes no revision."""
        self._db.execute("UPDATE sources SET detail = ? WHERE name = ?", (_json(dict(detail)), name))

    def put_document(self, draft: Draft, document: int | None = None) -> int:
        """Store a version, replacing the living one of its document, and return the version's id.

        Without `document` the file's path decides which one it is; a path that came back is the one it was.
        """
        id = self._document(draft, document)
        self._end_versions(id)
        version = self._insert(id, draft)
        self._db.execute(
            "UPDATE documents SET current = ?, path = ?, file = ?, labels = ? WHERE id = ?",
            (version, draft.file.path, draft.file.name, _json(self._believed(draft)), id),
        )
        self.clear_failure(draft.file.source, draft.file.path)
        return version

    def stage_document(self, draft: Draft, document: int) -> None:
        """Keep the content of a document in a version for the encoder to come (see tools/staging.py)."""
        drop_pending(self._db, document)
        self._believed(draft)
        version = self._insert(document, draft)
        self._db.execute("UPDATE versions SET died = 0 WHERE id = ?", (version,))

    def reuse(self, document: int, draft: Draft) -> bool:
        """Note that the living version is cut as the draft is, if so, and tell it; makes no revision."""
        if not is_cut_so(self._db, document, draft.split.passages):
            return False
        drop_pending(self._db, document)
        self._db.execute(
            "UPDATE versions SET splitter = ? WHERE id = (SELECT current FROM documents WHERE id = ?)",
            (draft.mark, document),
        )
        return True

    def drop_unfit(self, mark: str | None) -> None:
        """End the pending versions that were cut for another encoder or otherwise than `mark` says."""
        drop_unfit(self._db, mark)

    @property
    def rules(self) -> str | None:
        """Return the mark of the rules that the stored labels follow; None: they are to be renewed."""
        row = self._db.execute("SELECT value FROM meta WHERE key = 'rules'").fetchone()
        return row[0] if row else None

    def note_rules(self, mark: str | None) -> None:
        """Note which rules the stored labels follow; None: they are to be renewed. Makes no revision."""
        self._db.execute("DELETE FROM meta WHERE key = 'rules'")
        if mark is not None:
            self._db.execute("INSERT INTO meta VALUES ('rules', ?)", (mark,))

    def stored(self, document: int | None = None) -> list[Stored]:
        """Return labels and validity of the living and the pending versions, of one document or of all."""
        rows = self._db.execute(
            f"""SELECT d.id, v.id, d.source, CASE WHEN s.kind = 'chroma' THEN '' ELSE d.path END,
                       d.labels, v.valid_from, v.valid_until, v.superseded_by
                FROM versions v JOIN documents d ON d.id = v.document LEFT JOIN sources s ON s.name = d.source
                WHERE (v.died IS NULL OR v.died = 0) {"" if document is None else "AND v.document = ?"}
                ORDER BY v.id""",
            () if document is None else (document,),
        ).fetchall()
        return [
            Stored(row[0], row[1], row[2], row[3], json.loads(row[4]), Validity(*row[5:])) for row in rows
        ]

    def text_of(self, version: int) -> str:
        """Return the canonical text of a version."""
        row = self._db.execute(
            "SELECT t.body FROM versions v JOIN texts t ON t.id = v.text WHERE v.id = ?", (version,)
        ).fetchone()
        return str(row[0])

    def put_labels(self, document: int, labels: Mapping[str, str]) -> None:
        """Give a document other labels."""
        _ = self.revision
        self._db.execute("UPDATE documents SET labels = ? WHERE id = ?", (_json(dict(labels)), document))

    def put_validity(self, version: int, validity: Validity) -> None:
        """Give a version another validity."""
        _ = self.revision
        self._db.execute(
            "UPDATE versions SET valid_from = ?, valid_until = ?, superseded_by = ? WHERE id = ?",
            (validity.valid_from, validity.valid_until, validity.superseded_by, version),
        )

    def move_document(self, document: int, file: File, stamp: Stamp, observed_ns: int) -> None:
        """Give a document another path; its versions, passages and vectors stay."""
        _ = self.revision
        self._db.execute(
            "UPDATE documents SET path = ?, file = ? WHERE id = ?", (file.path, file.name, document)
        )
        self.restamp(document, stamp, observed_ns)
        self.clear_failure(file.source, file.path)

    def delete_document(self, document: int) -> None:
        """Put a tombstone on a document: it blocks at once, its texts stay for those who own the corpus."""
        self._end_versions(document)
        self._db.execute("UPDATE documents SET current = NULL WHERE id = ?", (document,))

    def drop_source(self, name: str) -> None:
        """Forget a source and its failures; its documents have their tombstones by then."""
        _ = self.revision
        self._db.execute("DELETE FROM failures WHERE source = ?", (name,))
        self._db.execute("DELETE FROM sources WHERE name = ?", (name,))

    def restamp(self, document: int, stamp: Stamp, observed_ns: int) -> None:
        """Note that a file was looked at again and holds what it held; makes no revision."""
        self._db.execute(
            """UPDATE versions SET size = ?, mtime_ns = ?, ctime_ns = ?, observed_ns = ?
               WHERE id = (SELECT current FROM documents WHERE id = ?)""",
            (stamp.size, stamp.mtime_ns, stamp.ctime_ns, observed_ns, document),
        )

    def put_vectors(self, space: str, vectors: Iterable[tuple[bytes, NDArray[np.float32]]]) -> None:
        """Store vectors by the key of the text they encode."""
        _ = self.revision
        rows = [(space, key, vector.astype("<f4").tobytes()) for key, vector in vectors]
        self._db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    def offer_vectors(self, space: str, vectors: Iterable[tuple[bytes, NDArray[np.float32]]]) -> None:
        """Store vectors of texts that have none yet."""
        _ = self.revision
        rows = [(space, key, vector.astype("<f4").tobytes()) for key, vector in vectors]
        self._db.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows)

    def switch_space(self, space: str, built_by: Built) -> None:
        """Make an encoder's vectors the ones that are searched, over the passages that were cut for it."""
        bring_to_life(self._db, self.revision)
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('space', ?)", (space,))
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('encoder', ?)", (_json(asdict(built_by)),))

    def drop_vectors(self, kept: str, limit: int) -> None:
        """Remove up to `limit` vectors of all spaces but one; makes no revision."""
        self._db.execute(
            f"""DELETE FROM vectors WHERE (space, key) IN (
                    SELECT space, key FROM vectors WHERE {OTHER_SPACES} LIMIT :limit)""",
            {"space": kept, "limit": limit},
        )

    def put_failure(self, source: str, failure: Failure) -> None:
        """Remember that a file could not be read; makes no revision."""
        stamp = failure.stamp
        self._db.execute(
            "INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                source,
                failure.path,
                failure.reason,
                stamp.size,
                stamp.mtime_ns,
                stamp.ctime_ns,
                failure.parser,
                _now(),
            ),
        )

    def clear_failure(self, source: str, path: str) -> None:
        """Forget the failure of a file that was read or is gone; makes no revision."""
        self._db.execute("DELETE FROM failures WHERE source = ? AND path = ?", (source, path))

    def merge(self) -> int:
        """Merge the keyword index where it has many segments, and return how many were merged."""
        merged: int = merge_segments(self._db)
        if merged:
            _ = self.revision  # readers that remember the segments must look again
        return merged

    def _believed(self, draft: Draft) -> dict[str, str]:
        """Return a draft's labels, or none (for the owner only) when the rules changed since it was made."""
        if draft.rules is None or draft.rules == self.rules:
            return dict(draft.labels)
        self.note_rules(None)
        return {}

    def _document(self, draft: Draft, document: int | None) -> int:
        if document is not None:
            return document
        file = draft.file
        row = self._db.execute(
            "SELECT id FROM documents WHERE source = ? AND path = ? ORDER BY current IS NULL, id DESC",
            (file.source, file.path),
        ).fetchone()
        if row:
            return int(row[0])
        return _inserted(
            self._db.execute(
                "INSERT INTO documents(source, path, file, labels) VALUES (?, ?, ?, '{}')",
                (file.source, file.path, file.name),
            )
        )

    def _end_versions(self, document: int) -> None:
        self._db.execute(
            "UPDATE versions SET died = ? WHERE document = ? AND died IS NULL", (self.revision, document)
        )
        drop_pending(self._db, document)

    def _insert(self, document: int, draft: Draft) -> int:
        """Insert a version with its passages and their terms, and return its id."""
        version = self._insert_version(document, draft)
        first = self._insert_passages(version, draft)
        self._db.execute(
            "UPDATE versions SET first_passage = ?, passages = ? WHERE id = ?",
            (first, len(draft.split.passages), version),
        )
        write_segment(self._db, [(first + at, version, terms) for at, terms in enumerate(draft.terms)])
        return version

    def _insert_version(self, document: int, draft: Draft) -> int:
        parsed, observed, stamp = draft.parsed, draft.observed, draft.observed.stamp
        values = {
            "document": document,
            "text": self._insert_text(parsed.text),
            "title": parsed.title,
            "content_hash": observed.content_hash,
            "media_type": parsed.media_type,
            "parser": draft.parser,
            "splitter": draft.mark,
            "size": stamp.size,
            "mtime_ns": stamp.mtime_ns,
            "ctime_ns": stamp.ctime_ns,
            "observed_ns": observed.observed_ns,
            "valid_from": draft.validity.valid_from,
            "valid_until": draft.validity.valid_until,
            "superseded_by": draft.validity.superseded_by,
            "born": self.revision,
            "first_passage": 0,
            "passages": 0,
            "warnings": _json(parsed.warnings),
        }
        columns, marks = ", ".join(values), ", ".join("?" * len(values))
        return _inserted(
            self._db.execute(f"INSERT INTO versions({columns}) VALUES ({marks})", tuple(values.values()))
        )

    def _insert_text(self, body: str) -> int:
        hash = blake2b(body.encode(), digest_size=16).hexdigest()
        self._db.execute("INSERT OR IGNORE INTO texts(hash, body) VALUES (?, ?)", (hash, body))
        return int(self._db.execute("SELECT id FROM texts WHERE hash = ?", (hash,)).fetchone()[0])

    def _insert_passages(self, version: int, draft: Draft) -> int:
        newest = self._db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'passages'").fetchone()
        first = (newest[0] if newest else 0) + 1
        rows = [
            _passage_row(first + ordinal, version, ordinal, draft, cut)
            for ordinal, cut in enumerate(draft.split.passages)
        ]
        self._db.executemany("INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        return first


def encoder_input(prefix: str, text: str) -> str:
    """Return what is encoded and indexed for a passage: its context, then its text."""
    return f"{prefix}\n{text}" if prefix else text


def input_key(prefix: str, text: str) -> bytes:
    """Return the key under which the vector of a passage is stored: equal inputs are encoded once."""
    return blake2b(encoder_input(prefix, text).encode(), digest_size=16).digest()


def _passage_row(id: int, version: int, ordinal: int, draft: Draft, cut: PassageCut) -> tuple[object, ...]:
    text = draft.parsed.text[cut.start : cut.end]
    sentences = pack(draft.split.sentences[cut.first : cut.last])
    place = (id, version, ordinal, cut.start, cut.end, _json(cut.heading), cut.first, cut.last)
    return (*place, *cut.parent, cut.prefix, input_key(cut.prefix, text), sentences)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _inserted(cursor: sqlite3.Cursor) -> int:
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
