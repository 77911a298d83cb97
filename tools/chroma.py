"""Keep a Chroma collection in step with `corpus.db`: the approximate engine beside the exact matrix.

The folder is a cache. Every living passage that has a vector stands in it under its id. What the stamp says
of it holds whenever the stamp is settled; what a kill left is found by comparing vectors.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .chroma_client import explained
from .chroma_door import NAME, door_of, ids_in
from .chroma_stamp import (
    FOLDER,
    Stamp,
    collection_name,
    files_hash,
    ids_hash,
    is_intact,
    read_stamp,
    remove_stamp,
    unsettled,
    write_stamp,
)
from .corpus import Corpus
from .errors import SourceUnavailableError, WorkspaceError
from .lock import writer_lock
from .matrix_file import Ids, Rows
from .sight import current_revision
from .vector import revision_mark, vectors_of

SHAPE = {"space": "cosine", "max_neighbors": 32, "ef_construction": 200, "ef_search": 500}
"""How the index is built and searched. With Chroma's own values (16, 100, 100) it found .985 of the 50
nearest abstracts of SciFact, and .87 of the nearest passages to questions a collection is not about."""

BATCH = 5000
"""Records sent at once at most; Chroma's own limit, which differs by machine, may be lower."""

CHECKED = 1000
"""Vectors read back and compared at once."""

SINGLE_OUT = 32
"""Records below which one lost vector is not singled out any further: all of them are sent again."""

TOLERANCE = 1e-4
DIES_AT_ONCE = 2
"""Runs that died before their first batch, after which the folder is made anew: it may crash who opens it."""

Progress = Callable[[str, int, int, str], None]


@dataclass(frozen=True, slots=True)
class Kept:
    """What bringing Chroma in step did: how many records it holds, and how many were sent and deleted."""

    count: int
    sent: int = 0
    deleted: int = 0


@dataclass(frozen=True, slots=True)
class Wanted:
    """What Chroma is to hold: the passages `ids` of `space` at the revision that `mark` names."""

    space: str
    revision: int
    mark: str
    ids: Ids

    def settled(self, stamp: Stamp, home: Path, deleted: int) -> Stamp:
        """Return the stamp of a folder that holds this."""
        return replace(
            stamp,
            revision=self.revision,
            mark=self.mark,
            count=len(self.ids),
            ids=ids_hash(self.ids),
            files=files_hash(home),
            attempts=0,
            deleted=stamp.deleted + deleted,
        )


def keep_chroma(corpus: Corpus, space: str, progress: Progress | None = None) -> Kept:
    """Bring the collection of an encoder space in step with the newest revision, and return what was done.

    Chroma is not even imported when nothing changed. Killed anywhere, the next run mends what is missing.
    SourceUnavailableError when Chroma fails even in a folder made anew.
    """
    home = corpus.folder
    with writer_lock(home):
        stamp = read_stamp(home)
        if stamp is not None and _is_current(corpus, stamp, space):
            return Kept(stamp.count)
        with corpus.reading() as db:
            wanted = wanted_now(db, space)
        if stamp is not None and _holds(home, stamp, wanted):
            write_stamp(home, replace(stamp, revision=wanted.revision, mark=wanted.mark))
            return Kept(stamp.count)
        try:
            return _bring(corpus, wanted, progress or _silent)
        except SourceUnavailableError:
            drop_chroma(home)
            return _bring(corpus, wanted, progress or _silent)


def drop_chroma(home: Path) -> None:
    """Delete the folder and its stamp; `keep_chroma` makes both anew. Does nothing where there is none."""
    if not (home / FOLDER).exists() and read_stamp(home) is None:
        return
    with writer_lock(home), door_of(home).shut():
        try:
            remove_stamp(home)
            if (home / FOLDER).exists():
                shutil.rmtree(home / FOLDER)
        except OSError as error:
            place = home / FOLDER
            raise WorkspaceError(
                f"{place} cannot be deleted ({error.strerror}); delete it by hand"
            ) from error


def _silent(stage: str, done: int, total: int, detail: str) -> None:
    return None


def _is_current(corpus: Corpus, stamp: Stamp, space: str) -> bool:
    with corpus.reading() as db:
        mark = revision_mark(db, corpus.revision)
    same = stamp.mark == mark and stamp.collection == collection_name(space, SHAPE)
    return stamp.is_settled and same and _exists(corpus.folder)


def _exists(home: Path) -> bool:
    return (home / FOLDER / "chroma.sqlite3").exists()


def wanted_now(db: sqlite3.Connection, space: str) -> Wanted:
    """Return what Chroma is to hold now, as an open transaction sees it."""
    revision = current_revision(db)
    rows = db.execute(
        """SELECT p.id FROM versions v JOIN passages p ON p.version = v.id AND v.died IS NULL
           JOIN vectors x ON x.space = ? AND x.key = p.input_key ORDER BY p.id""",
        (space,),
    )
    return Wanted(
        space, revision, revision_mark(db, revision), np.fromiter((row[0] for row in rows), np.int64)
    )


def _holds(home: Path, stamp: Stamp, wanted: Wanted) -> bool:
    """Tell whether a newer revision changed nothing that Chroma holds, as when only labels did."""
    kept = stamp.collection == collection_name(wanted.space, SHAPE)
    same = kept and stamp.ids == ids_hash(wanted.ids)
    return stamp.is_settled and same and _exists(home)


def _bring(corpus: Corpus, wanted: Wanted, progress: Progress) -> Kept:
    home = corpus.folder
    stamp = _stamp_to_change(home, wanted)
    # What a stamp of this very corpus speaks for need not be read back and compared.
    trusted = stamp.is_settled and _is_of(corpus, stamp)
    write_stamp(home, unsettled(stamp))
    alive = replace(stamp, attempts=1)
    with door_of(home).writing() as client:
        change = _Change(corpus, wanted, _collection(client, stamp.collection), progress)
        sent, deleted = change.run(client.get_max_batch_size(), trusted, lambda: write_stamp(home, alive))
    write_stamp(home, wanted.settled(stamp, home, deleted))
    return Kept(len(wanted.ids), sent, deleted)


def _stamp_to_change(home: Path, wanted: Wanted) -> Stamp:
    """Return the stamp to go on from; a folder that may harm, or is mostly deleted, is dropped first."""
    stamp = read_stamp(home)
    fresh = Stamp(wanted.space, collection_name(wanted.space, SHAPE), 0, "")
    if stamp is None:
        return fresh
    worn_out = stamp.deleted > BATCH + len(wanted.ids)
    damaged = stamp.is_settled and not is_intact(home, stamp)
    if worn_out or damaged or stamp.attempts >= DIES_AT_ONCE:
        drop_chroma(home)
        return fresh
    return stamp if stamp.collection == fresh.collection else replace(fresh, attempts=stamp.attempts)


def _is_of(corpus: Corpus, stamp: Stamp) -> bool:
    with corpus.reading() as db:
        return stamp.mark == revision_mark(db, stamp.revision)


def _collection(client: Any, name: str) -> Any:  # noqa: ANN401  (Chroma has no types)
    """Return our collection, made where there is none; those of other encoders are deleted."""
    for other in client.list_collections():
        if other.name != name:
            client.delete_collection(other.name)
    return client.get_or_create_collection(name, embedding_function=None, configuration={"hnsw": SHAPE})


@dataclass(frozen=True, slots=True)
class _Change:
    corpus: Corpus
    wanted: Wanted
    collection: Any
    progress: Progress

    def run(self, limit: int, trusted: bool, lives: Callable[[], None]) -> tuple[int, int]:
        """Delete and send what differs, in batches; `lives` is called when the first one is done."""
        there = ids_in(self.collection)
        dead = np.setdiff1d(there, self.wanted.ids)
        lacking = np.setdiff1d(self.wanted.ids, there)
        if not trusted:
            kept = np.intersect1d(self.wanted.ids, there)
            lacking = np.union1d(lacking, self._differing(kept))
        lives()
        size = min(limit, BATCH)
        for batch in _batches(dead, size):
            self.collection.delete(ids=_texts(batch))
        for done, batch in enumerate(_batches(lacking, size)):
            self._send(batch)
            self.progress("index", min((done + 1) * size, len(lacking)), len(lacking), "")
        count = self.collection.count()
        if count != len(self.wanted.ids):
            raise SourceUnavailableError(NAME, f"holds {count:,} of {len(self.wanted.ids):,} vectors")
        return len(lacking), len(dead)

    def _send(self, batch: Ids) -> None:
        with self.corpus.reading() as db:
            ids, rows = vectors_of(db, self.wanted.space, batch)
        # `add` would pass over an id that is there, also when its vector is lost.
        self.collection.upsert(ids=_texts(ids), embeddings=rows)

    def _differing(self, ids: Ids) -> Ids:
        with self.corpus.reading() as db:
            return differing(self.collection, db, self.wanted.space, ids)


def differing(collection: Any, db: sqlite3.Connection, space: str, ids: Ids) -> Ids:  # noqa: ANN401
    """Return those ids whose vector Chroma cannot give back as the corpus stores it."""
    wrong: list[int] = []
    for batch in _batches(ids, CHECKED):
        held = _read_back(collection, batch)
        for id, row in zip(*vectors_of(db, space, batch), strict=True):
            other = held.get(int(id))
            if other is None or len(other) != len(row) or np.abs(other - row).max() > TOLERANCE:
                wrong.append(int(id))
    return np.array(wrong, np.int64)


def _read_back(collection: Any, ids: Ids) -> dict[int, Rows]:  # noqa: ANN401
    """Return the vectors that Chroma can give back; around one that is lost up to SINGLE_OUT are left out."""
    try:
        with explained(NAME):
            got = collection.get(ids=_texts(ids), include=["embeddings"])
    except SourceUnavailableError:
        if len(ids) <= SINGLE_OUT:
            return {}
        half = len(ids) // 2
        return _read_back(collection, ids[:half]) | _read_back(collection, ids[half:])
    rows = np.asarray(got["embeddings"], np.float32)
    return {int(id): row for id, row in zip(got["ids"], rows, strict=True)}


def _batches(ids: Ids, size: int) -> Iterator[Ids]:
    return (ids[at : at + size] for at in range(0, len(ids), size))


def _texts(ids: Ids) -> list[str]:
    return [str(id) for id in ids]
