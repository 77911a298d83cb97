"""Search by vectors through Chroma where that is allowed, and say why where it fails.

Chroma only proposes: more than was asked for is fetched, what may not be read is dropped, and the rest is
scored from `corpus.db` exactly as the matrix would score it. Passages that Chroma lacks are scored beside.
"""

from __future__ import annotations

import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .chroma_client import explained
from .chroma_door import NAME, Opened, door_of
from .chroma_stamp import Stamp, read_stamp
from .errors import SourceUnavailableError
from .matrix_file import Ids, Rows
from .vector import ranked, revision_mark, vectors_of

DEEPEST = 500
"""Passages asked for above which the exact scan is used: an approximate index is for the nearest few."""

MOST_BESIDE = 2000
"""Passages not in Chroma above which the exact scan is used."""

WAY_OUT = "run `quaere doctor --repair`"


@dataclass(frozen=True, slots=True, eq=False)
class Wish:
    """A search: the nearest k of `space` to a query, among the passages that `allowed` marks."""

    space: str
    query: Rows
    allowed: NDArray[np.bool_]
    k: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What Chroma found (None: search exactly instead), and what a reader should know of a failure."""

    found: list[tuple[int, float]] | None = None
    note: str = ""


class ChromaSearch:
    """Search the collection of one `.quaere` folder, from any thread; nothing is opened before it is used."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._failed: Stamp | None = None
        self._living: tuple[str, NDArray[np.bool_]] = ("", np.zeros(0, np.bool_))
        self._lock = threading.Lock()

    def search(self, db: sqlite3.Connection, revision: int, wish: Wish) -> Outcome:
        """Return up to k (passage id, cosine), as the open transaction of `db` at `revision` sees them.

        It is left to the exact scan when something living may not be read, when Chroma lacks much or is
        being written, and when k is large; a Chroma that fails is left alone until it has changed.
        """
        if not 0 < wish.k <= DEEPEST or not self._covers(db, revision, wish.allowed):
            return Outcome()
        stamp = read_stamp(self._home)
        if stamp is None or not stamp.is_settled or stamp.space != wish.space:
            return Outcome()
        if stamp.mark != revision_mark(db, stamp.revision):
            return Outcome()
        if stamp == self._failed:
            return Outcome(note=self._note(""))
        try:
            with door_of(self._home).reading(stamp) as opened:
                return Outcome(_nearest(db, opened, wish) if opened is not None else None)
        except SourceUnavailableError as error:
            if read_stamp(self._home) != stamp:
                return Outcome()  # another process began to write it
            self._failed = stamp
            return Outcome(note=self._note(str(error)))

    def close(self) -> None:
        """Let go of the collection; another search in this process opens it again."""
        with door_of(self._home).shut():
            return

    def _note(self, why: str) -> str:
        told = f" ({why})" if why else ""
        return f"the Chroma collection cannot be used{told}; vectors were searched exactly; {WAY_OUT}"

    def _covers(self, db: sqlite3.Connection, revision: int, allowed: NDArray[np.bool_]) -> bool:
        """Tell whether everything that lives may be read."""
        living = self._living_at(db, revision)
        return len(living) <= len(allowed) and not (living & ~allowed[: len(living)]).any()

    def _living_at(self, db: sqlite3.Connection, revision: int) -> NDArray[np.bool_]:
        mark = revision_mark(db, revision)
        with self._lock:
            if self._living[0] != mark:
                self._living = (mark, _living(db))
            return self._living[1]


def reach(k: int) -> int:
    """Return how many are fetched for k: neighbours are missed most at the far end of what was asked."""
    return 2 * k + 20


def _living(db: sqlite3.Connection) -> NDArray[np.bool_]:
    rows = db.execute("SELECT first_passage, passages FROM versions WHERE died IS NULL").fetchall()
    mask = np.zeros(max((first + count for first, count in rows), default=0), np.bool_)
    for first, count in rows:
        mask[first : first + count] = True
    return mask


def _nearest(db: sqlite3.Connection, opened: Opened, wish: Wish) -> list[tuple[int, float]] | None:
    """Return what is nearest among what Chroma proposes and what it lacks; None when that may miss some."""
    wanted = np.flatnonzero(wish.allowed)
    beside = np.setdiff1d(wanted, opened.ids, assume_unique=True)
    if len(beside) > MOST_BESIDE:
        return None
    proposed = propose(opened, wish.query, reach(wish.k))
    readable = proposed[proposed < len(wish.allowed)]
    readable = readable[wish.allowed[readable]]
    if len(readable) < min(wish.k, len(wanted) - len(beside)):
        return None
    ids, rows = vectors_of(db, wish.space, np.union1d(readable, beside))
    return ranked(ids, rows, wish.query, wish.k)


def propose(opened: Opened, query: Rows, n: int) -> Ids:
    """Return up to n passage ids that Chroma takes for the nearest."""
    n = min(n, len(opened.ids))
    if not n:
        return np.zeros(0, np.int64)
    with explained(NAME):
        found = opened.collection.query(query_embeddings=[query], n_results=n, include=[])["ids"][0]
    return np.array([int(id) for id in found], np.int64)
