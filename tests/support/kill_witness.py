"""What a killed worker had told: what must stand in the index, what may, and whether it does."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from kill_encoders import ENCODERS
from quaere.tools.analyze import terms
from quaere.tools.corpus import Corpus
from quaere.tools.evidence import OWNER, Filter, Span
from quaere.tools.index import IndexSettings
from quaere.tools.postings import unpack
from quaere.tools.sync import add_source, sync_all

QUERIES = [["amber"], ["basin", "cedar", "delta"], ["haven", "haven", "knoll"], ["about"]]


class Witness:
    """Listen to a worker: `kept` is what was acknowledged last, by path; `may` what else a path may hold.

    None in `may` says that the path may be absent; `moved` leads from a new path to the one before.
    """

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.kept: dict[str, str] = {}
        self.may: dict[str, set[str | None]] = {}
        self.moved: dict[str, str] = {}
        self.encoded: tuple[str, int] | None = None
        self.encoder = "one"

    def hear(self, line: str) -> None:
        """Take note of one step."""
        told: dict[str, Any] = json.loads(line)
        step = told.pop("step")
        if step in ("put", "rename", "delete"):
            self._edit(step, **told)
        elif step == "read":
            self._acknowledge(told["path"])
        elif step == "sync":
            self.encoder, self.encoded = told["encoder"], None
        elif step == "encode":
            self.encoded = self.encoder, told["done"]
        elif step == "purge":
            self.encoded = None
            self.may.setdefault(told["path"], {self.kept.get(told["path"])}).add(None)
            self.moved = {path: old for path, old in self.moved.items() if old != told["path"]}
        elif step == "purged":
            self.kept.pop(told["path"], None)
            self.may[told["path"]] = {None}
        elif step == "synced":
            self.kept, self.may, self.moved = dict(self.files), {}, {}

    def _edit(self, step: str, path: str, text: str = "", to: str = "") -> None:
        before = self.kept.get(path)
        self.may.setdefault(path, {before})
        if step == "put":
            self.files[path] = text
            self.may[path].add(text)
            self.moved.pop(path, None)
            return
        gone = self.files.pop(path)
        self.may[path].add(None)
        self.moved.pop(path, None)
        if step == "rename":
            self.files[to] = gone
            self.may.setdefault(to, {None}).add(gone)
            if gone == before:
                self.moved[to] = path

    def _acknowledge(self, path: str) -> None:
        self.kept[path] = self.files[path]
        self.may.pop(path, None)
        self.moved.pop(path, None)

    def go_on(self, found: dict[str, str], files: dict[str, str]) -> None:
        """Take what was found as what must stay, until the next sync comes to the files as they lie there."""
        self.kept, self.files, self.encoded = dict(found), dict(files), None
        differing = {path for path in found | files if found.get(path) != files.get(path)}
        self.may = {path: {found.get(path), files.get(path)} for path in differing}
        before = {text: path for path, text in found.items() if path not in files}
        self.moved = {path: before[text] for path, text in files.items() if text in before}

    def check(self, found: dict[str, str]) -> None:
        """Compare what is found with what was told: nothing lost, nothing half, nothing else."""
        lost = [path for path, text in self.kept.items() if path not in self.may and found.get(path) != text]
        assert lost == []
        odd = [path for path, texts in self.may.items() if found.get(path) not in texts]
        assert odd == []
        assert found.keys() <= self.kept.keys() | self.may.keys()
        torn = [path for path, old in self.moved.items() if path not in found and old not in found]
        assert torn == []


def whole(folder: Path) -> dict[str, str]:
    """Return the text of each document by path; no document, version, passage or posting may be half there."""
    with closing(sqlite3.connect(folder / "corpus.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        _check_rows(db)
    with closing(Corpus.open(folder)) as corpus:
        reader = corpus.reader(OWNER, Filter())
        found = {}
        for document in reader.documents():
            version = reader.version(document.id)
            assert version is not None
            text = reader.cut(Span(version.id, 0, 10**9))
            ids = reader.document_passages(document.id)
            assert len(reader.readings(ids)) == len(ids) > 0
            first = sorted(terms(text.partition(".")[0]), key=len)[-1:]
            assert {i for i, _ in reader.keyword(first, 999)} & set(ids)
            found[document.path] = text
    return found


def _check_rows(db: sqlite3.Connection) -> None:
    living = db.execute(
        """SELECT v.id, v.first_passage, v.passages, t.body IS NOT NULL
           FROM documents d LEFT JOIN versions v ON v.id = d.current AND v.died IS NULL
           LEFT JOIN texts t ON t.id = v.text WHERE d.current IS NOT NULL"""
    ).fetchall()
    assert db.execute("SELECT count(*) FROM versions WHERE died IS NULL").fetchone() == (len(living),)
    pending = db.execute("SELECT id, first_passage, passages, 1 FROM versions WHERE died = 0").fetchall()
    indexed = _indexed(db)
    for version, first, count, has_text in living + pending:
        rows = db.execute("SELECT id FROM passages WHERE version = ? ORDER BY id", (version,))
        ids = [row[0] for row in rows]
        assert has_text
        assert ids
        assert ids == list(range(first, first + count))
        assert all(indexed.get(id) == version for id in ids)
    known = {row[0] for row in db.execute("SELECT id FROM passages")}
    assert indexed.keys() <= known


def _indexed(db: sqlite3.Connection) -> dict[int, int]:
    """Return the version of each passage in the keyword index."""
    found = {}
    for passages, versions in db.execute("SELECT passages, documents FROM segments"):
        found.update(zip(unpack(passages).tolist(), unpack(versions).tolist(), strict=True))
    return found


def rankings(corpus: Corpus, encoder: str | None = None) -> list[list[tuple[str, int, float]]]:
    """Return keyword scores by path and place of the passage; with an encoder cosines too, if all are there."""
    reader = corpus.reader(OWNER, Filter())
    ids = np.flatnonzero(reader.allowed).tolist()
    place = {}
    for document in reader.documents():
        for at, id in enumerate(reader.document_passages(document.id)):
            place[id] = document.path, at
    found = [reader.keyword(query, len(ids)) for query in QUERIES]
    if encoder is not None:
        found.append(reader.vector(ENCODERS[encoder].encode_query("haven cedar"), len(ids)))
    return [sorted((*place[id], round(score, 9)) for id, score in one) for one in found]


def afresh(
    texts: dict[str, str], folder: Path, encoder: str, vectors: bool = True
) -> list[list[tuple[str, int, float]]]:
    """Return the rankings of an index that never held anything but these texts."""
    (folder / "docs").mkdir(parents=True)
    for path, text in texts.items():
        (folder / "docs" / path).write_text(text)
    with closing(Corpus.create(folder / ".quaere")) as corpus:
        add_source(corpus, str(folder / "docs"))
        sync_all(corpus, ENCODERS[encoder], IndexSettings())
        return rankings(corpus, encoder if vectors else None)
