"""The lock that whole syncs, removals and repairs hold, so that two of them never do the same work twice.

It is an exclusive transaction on a SQLite file of its own: the system gives it up when the process dies,
however it dies, and readers never ask for it. Nobody else may open that file: where locks are POSIX ones,
closing it anywhere in a process gives up what the process holds.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from .errors import BusyError, WorkspaceError
from .schema import explain

LOCK = "writer.lock"
HOLDER = "writer.json"

WAIT_SECONDS = 10.0
"""How long a second writer waits for the first one."""

POLL_SECONDS = 0.05


@dataclass(slots=True)
class WriterLock:
    """The lock of one `.quaere` folder as one thread holds it; `depth` counts how often it was taken."""

    db: sqlite3.Connection
    depth: int = 1


_held: dict[tuple[Path, int], WriterLock] = {}


@contextmanager
def writer_lock(folder: Path, seconds: float = WAIT_SECONDS) -> Iterator[None]:
    """Hold the writer's lock of a `.quaere` folder; a thread that holds it already may take it again.

    BusyError names the holder when it does not let go in time; WorkspaceError where nothing can be written.
    """
    key = folder.resolve(), threading.get_ident()
    mine = _held.get(key)
    if mine is None:
        _held[key] = mine = WriterLock(_take(folder, seconds))
    else:
        mine.depth += 1
    try:
        yield
    finally:
        mine.depth -= 1
        if not mine.depth:
            del _held[key]
            with contextlib.suppress(OSError):
                (folder / HOLDER).unlink(missing_ok=True)
            mine.db.close()


def _take(folder: Path, seconds: float) -> sqlite3.Connection:
    """Return the connection whose transaction is the lock."""
    _check_writable(folder)
    try:
        db = sqlite3.connect(folder / LOCK, timeout=0, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise explain(error, folder / LOCK) from error
    try:
        _wait(db, folder, time.monotonic() + seconds)
    except BaseException:
        db.close()
        raise
    _sign(folder)
    return db


def _check_writable(folder: Path) -> None:
    """Refuse a disk that only reads: there SQLite would begin a transaction that locks nothing."""
    place = folder / LOCK if (folder / LOCK).exists() else folder
    if not os.access(place, os.W_OK, effective_ids=True):
        raise WorkspaceError(
            f"{folder} cannot be written; check its permissions, or copy it to a disk that can be written"
        )


def _wait(db: sqlite3.Connection, folder: Path, until: float) -> None:
    # SQLite's own waiting would keep ctrl-C from being heard.
    while True:
        try:
            db.execute("BEGIN EXCLUSIVE")
            return
        except sqlite3.Error as error:
            if "locked" not in str(error):
                raise explain(error, folder / LOCK) from error
            if time.monotonic() > until:
                raise BusyError(_held_by(folder)) from error
        time.sleep(POLL_SECONDS)


def _sign(folder: Path) -> None:
    """Note who holds the lock; it only words a message, so a disk without room for it does not matter."""
    draft = folder / f"{HOLDER}.{os.getpid()}.tmp"
    note = {"pid": os.getpid(), "since": datetime.now().astimezone().isoformat(timespec="seconds")}
    try:
        draft.write_text(json.dumps(note), "utf-8")
        draft.replace(folder / HOLDER)
    except OSError:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def _held_by(folder: Path) -> str:
    try:
        note = json.loads((folder / HOLDER).read_text("utf-8"))
        named = f" (pid {int(note['pid'])}, since {note['since']!s})"
    except (OSError, ValueError, KeyError, TypeError):
        named = ""
    return f"another quaere process{named} writes to {folder}; try again when it has finished"
