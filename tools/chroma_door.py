"""The Chroma folder of a workspace as this process holds it: many threads read it, or one writes it.

All clients of one folder in a process share what the first of them loaded, stale as it may be. So there is
one client at a time: it is closed, and the next one opened, when the stamp has changed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .chroma_client import explained, open_folder
from .chroma_stamp import FOLDER, Stamp, is_intact, read_stamp
from .errors import SourceUnavailableError
from .matrix_file import Ids

NAME = "Chroma"


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """The collection as it was when it was opened, and the ids in it, ascending."""

    stamp: Stamp
    client: Any
    collection: Any
    ids: Ids


class Door:
    """Let threads into the Chroma folder of one workspace."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._changed = threading.Condition()
        self._readers = 0
        self._writing = False
        self._opened: Opened | None = None

    @contextmanager
    def reading(self, stamp: Stamp) -> Iterator[Opened | None]:
        """Give the collection as the stamp describes it; None while it is written, or when it was since.

        SourceUnavailableError when it cannot be opened or is damaged.
        """
        opened = self._enter(stamp)
        try:
            yield opened
        finally:
            if opened is not None:
                self._leave()

    @contextmanager
    def writing(self) -> Iterator[Any]:
        """Give a client to write with, alone in this process; the caller holds the writer's lock."""
        with self.shut(), explained(NAME):
            client = open_folder(self.home / FOLDER)
            try:
                yield client
            finally:
                client.close()

    @contextmanager
    def shut(self) -> Iterator[None]:
        """Keep the collection closed in this process meanwhile."""
        with self._changed:
            self._changed.wait_for(lambda: not self._readers and not self._writing)
            self._writing = True
            self._close()
        try:
            yield
        finally:
            with self._changed:
                self._writing = False
                self._changed.notify_all()

    def _enter(self, stamp: Stamp) -> Opened | None:
        with self._changed:
            self._changed.wait_for(lambda: self._writing or self._is_fresh(stamp) or not self._readers)
            if self._writing:
                return None
            if not self._is_fresh(stamp):
                if read_stamp(self.home) != stamp:
                    return None  # a newer one was written while this thread waited
                self._close()
                self._opened = self._open(stamp)
            self._readers += 1
            return self._opened

    def _leave(self) -> None:
        with self._changed:
            self._readers -= 1
            self._changed.notify_all()

    def _is_fresh(self, stamp: Stamp) -> bool:
        return self._opened is not None and self._opened.stamp == stamp

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.client.close()
            self._opened = None

    def _open(self, stamp: Stamp) -> Opened:
        if not is_intact(self.home, stamp):
            raise SourceUnavailableError(NAME, "its files are not as they were left")
        with explained(NAME):
            client = open_folder(self.home / FOLDER)
            try:
                collection = client.get_collection(stamp.collection, embedding_function=None)
                ids = ids_in(collection)
            except BaseException:
                client.close()
                raise
        return Opened(stamp, client, collection, ids)


def ids_in(collection: Any) -> Ids:  # noqa: ANN401  (Chroma has no types)
    """Return the passage ids in a collection, ascending."""
    return np.sort(np.array([int(id) for id in collection.get(include=[])["ids"]], np.int64))


_doors: dict[Path, Door] = {}
_doors_lock = threading.Lock()


def door_of(home: Path) -> Door:
    """Return the one door of this process to the Chroma folder of a `.quaere` folder."""
    with _doors_lock:
        return _doors.setdefault(home.resolve(), Door(home.resolve()))
