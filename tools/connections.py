"""SQLite connections of one corpus: one a thread, closed together, their errors said in our words."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import UsageError
from .schema import connect, explain


class Connections:
    """Hand out one connection a thread to the file at `path`."""

    def __init__(self, path: Path, busy_seconds: float) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._lock = threading.Lock()
        self._open: dict[int, tuple[threading.Thread, sqlite3.Connection]] = {}
        self._closed = False

    @contextmanager
    def use(self) -> Iterator[sqlite3.Connection]:
        """Give this thread's connection; SQLite's errors leave as errors of ours."""
        try:
            yield self._mine()
        except sqlite3.Error as error:
            raise explain(error, self.path) from error

    def close(self) -> None:
        """Close the connections of all threads; a later use is refused."""
        with self._lock:
            self._closed = True
            for _, db in self._open.values():
                db.close()
            self._open.clear()

    def _mine(self) -> sqlite3.Connection:
        me = threading.current_thread()
        held = self._open.get(threading.get_ident())
        if held is not None and held[0] is me:
            return held[1]
        with self._lock:
            if self._closed:
                raise UsageError(f"{self.path} was closed; open it again to read on")
            self._drop_finished_threads()
            db = connect(self.path, self._busy_seconds)
            self._open[threading.get_ident()] = (me, db)
            return db

    def _drop_finished_threads(self) -> None:
        for ident, (thread, db) in list(self._open.items()):
            if not thread.is_alive():
                db.close()
                del self._open[ident]
