"""Remove documents so that nothing of their texts stays in a workspace, and prove it by looking.

What is to go is noted in the database before anything is taken away, with samples of it (as hashes), so that
a purge that was killed is finished by the next one, or by a repair. The note goes last.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from .checks import REPAIR, Finding, Stores, failed, ok
from .chroma import drop_chroma
from .corpus import DATABASE, Corpus
from .doomed import count_doomed, doomed_terms, mark_doomed
from .erasure import compact, empty_log, erase, overwrite_deleted
from .errors import UsageError
from .index import IndexSettings
from .lock import writer_lock
from .needles import Needles
from .removal import Choice, Removal, Selection, carry_out, refusal, select
from .samples import doomed_samples, inside_values, living
from .schema import connect, explain
from .scour import Leak, Scoured, files_in, found_in_file, scour
from .writer import Writer

NOTE = "purge"
"""The key in `meta` of a purge that is not finished."""


@dataclass(frozen=True, slots=True)
class Place:
    """What may hold texts beside the database: the files of some patterns in the `.quaere` folder.

    A cache is removed whole, for it is made again; of records the files that hold a sample are.
    """

    name: str
    patterns: tuple[str, ...]
    kind: Literal["cache", "record"]


PLACES = (
    Place("matrix", ("vectors-*",), "cache"),
    Place("chroma", ("chroma", "chroma.json", "chroma-*"), "cache"),
    Place("caches", ("cache", "exports"), "cache"),
    Place("traces", ("traces*",), "record"),
    Place("threads", ("threads*",), "record"),
)
"""Every store of a workspace but `corpus.db`; one that is added to quaere is added here."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a purge took away and where it looked for what may be left.

    `removed` counts documents, versions, passages, texts, vectors and terms; `deleted` names files and
    folders. `samples` counts what was looked for by kind, `shared` what was not because it also stands in
    what stays. `kept` are documents of which only earlier versions went. `leaks` is empty when all is gone.
    """

    source: str
    removed: Mapping[str, int]
    kept: tuple[str, ...]
    deleted: tuple[str, ...]
    files: int
    bytes: int
    samples: Mapping[str, int]
    shared: int
    leaks: tuple[Leak, ...]

    @property
    def is_clean(self) -> bool:
        """Tell whether nothing was found of what was purged, and every file could be looked into."""
        return not self.leaks


def purge(corpus: Corpus, choice: Choice, settings: IndexSettings) -> Receipt:
    """Remove what is chosen with all it left anywhere, also of files deleted or changed before.

    UsageError when there is nothing of it; BusyError when another process keeps a purge from being finished.
    """
    with writer_lock(corpus.folder), _opened(corpus.folder) as db:
        _refuse_leaks(_finish(corpus.folder, db))
        selection = select(corpus, choice, settings)
        removal = _begin(db, selection)
        receipt = _finish(corpus.folder, db)
        assert receipt is not None
        return replace(receipt, kept=removal.kept)


def finish_purge(folder: Path) -> Receipt | None:
    """Finish a purge that was killed, and return its receipt; None when there was none."""
    with writer_lock(folder), _opened(folder) as db:
        return _finish(folder, db)


def purge_note(db: sqlite3.Connection) -> dict[str, Any] | None:
    """Return the note of a purge that is not finished: its source and, by then, the files with leaks."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (NOTE,)).fetchone()
    return json.loads(row[0]) if row else None


def look_at_purge(stores: Stores) -> Finding:
    """Tell whether a purge was killed before its end, or left something behind."""
    note = purge_note(stores.db)
    if note is None:
        return ok("nothing is left to purge")
    if leaks := note.get("leaks"):
        what = f"texts purged from {note['source']!r} are left in {', '.join(leaks)}"
        return failed(what, f"delete what holds them, then {REPAIR}")
    return failed(f"a purge of {note['source']!r} was not finished")


def _refuse_leaks(earlier: Receipt | None) -> None:
    """Raise UsageError while an earlier purge has left something: its note must not be lost."""
    if earlier is not None and earlier.leaks:
        left = ", ".join(leak.file for leak in earlier.leaks)
        raise UsageError(
            f"texts of {earlier.source!r}, purged before, are left in {left}; delete what holds them first"
        )


def _begin(db: sqlite3.Connection, selection: Selection) -> Removal:
    """Put the tombstones and note what is to go with samples of it, in one transaction."""
    db.execute("BEGIN IMMEDIATE")
    source = selection.choice.source
    roots = [os.fsdecode(row[0]) for row in db.execute("SELECT root FROM sources WHERE name = ?", (source,))]
    removal = carry_out(Writer(db), selection)
    documents = [*selection.living, *selection.dead]
    versions = _versions_of(db, [*documents, *(id for id, _ in selection.kept)])
    mark_doomed(db, documents, versions)
    counts = count_doomed(db) | {"terms": len(doomed_terms(db))}
    if not removal.is_whole and not removal.failures and not any(counts.values()):
        raise refusal(selection)
    needles = doomed_samples(db, roots if removal.is_whole else [])
    _write_note(
        db,
        {
            "source": source,
            "documents": documents,
            "versions": versions,
            "counts": counts,
            "needles": needles.to_json(),
        },
    )
    db.execute("COMMIT")
    return removal


def _finish(folder: Path, db: sqlite3.Connection) -> Receipt | None:
    note = purge_note(db)
    if note is None:
        return None
    mark_doomed(db, note["documents"], note["versions"])
    _erase(db)
    compact(db)
    caches = _delete_caches(folder)
    needles = Needles.from_json(note["needles"])
    # What also stands in something that stays is no trace of what went.
    own = needles.without(needles.found_in(living(db)))
    records = _delete_records(folder, own)
    found = scour(folder, own, {DATABASE: partial(inside_values, db)})
    _settle(db, note, found)
    return Receipt(
        source=note["source"],
        removed=note["counts"],
        kept=(),
        deleted=(*caches, *records),
        files=found.files,
        bytes=found.bytes,
        samples=own.counts(),
        shared=needles.count - own.count,
        leaks=found.leaks,
    )


def _erase(db: sqlite3.Connection) -> None:
    db.execute("BEGIN IMMEDIATE")
    erase(db)
    _ = Writer(db).revision  # readers look again
    db.execute("COMMIT")


def _settle(db: sqlite3.Connection, note: dict[str, Any], found: Scoured) -> None:
    """Drop the note; while something was found it stays, for the next look."""
    db.execute("BEGIN IMMEDIATE")
    if found.leaks:
        _write_note(db, note | {"leaks": [leak.file for leak in found.leaks]})
    else:
        db.execute("DELETE FROM meta WHERE key = ?", (NOTE,))
    db.execute("COMMIT")
    empty_log(db)


def _write_note(db: sqlite3.Connection, note: dict[str, Any]) -> None:
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (NOTE, json.dumps(note)))


def _versions_of(db: sqlite3.Connection, documents: Sequence[int]) -> list[int]:
    rows = db.execute(
        "SELECT id FROM versions WHERE document IN (SELECT value FROM json_each(?))",
        (json.dumps(documents),),
    )
    return [row[0] for row in rows]


def _delete_caches(folder: Path) -> list[str]:
    """Remove what is made again from the database, and return the names of what was there."""
    there = [path for place in PLACES if place.kind == "cache" for path in _matching(folder, place)]
    drop_chroma(folder)
    for path in there:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    return [path.name for path in there]


def _delete_records(folder: Path, needles: Needles) -> list[str]:
    """Remove the records that hold a sample, each with the files that share its name up to the first dot."""
    deleted: list[str] = []
    for place in (place for place in PLACES if place.kind == "record"):
        found = [path for top in _matching(folder, place) for path in _files_at(top)]
        told = {_stem(path) for path in found if found_in_file(path, needles).count}
        for path in (path for path in found if _stem(path) in told):
            path.unlink(missing_ok=True)
            deleted.append(str(path.relative_to(folder)))
    return deleted


def _matching(folder: Path, place: Place) -> list[Path]:
    return sorted({path for pattern in place.patterns for path in folder.glob(pattern)})


def _files_at(path: Path) -> list[Path]:
    return sorted(files_in(path)) if path.is_dir() else [path]


def _stem(path: Path) -> tuple[Path, str]:
    return path.parent, path.name.partition(".")[0]


@contextmanager
def _opened(folder: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection that overwrites what it deletes; an open transaction is undone at the end."""
    try:
        with closing(connect(folder / DATABASE)) as db:
            overwrite_deleted(db)
            db.execute("PRAGMA temp_store = MEMORY")
            yield db
    except sqlite3.Error as error:
        raise explain(error, folder / DATABASE) from error
