"""Compare the Chroma collection with the corpus, and its neighbours with the exact ones."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np

from .chroma import differing, wanted_now
from .chroma_door import Opened, door_of
from .chroma_search import propose, reach
from .chroma_stamp import FOLDER, Stamp, read_stamp
from .corpus import Corpus
from .errors import SourceUnavailableError
from .matrix_file import Ids, Rows
from .sight import active_space
from .vector import ranked, revision_mark, vectors_of

QUERIES = 100
K = 50

BEHIND = "run `quaere sync`"
DAMAGED = "run `quaere doctor --repair`"


def compare(home: Path) -> tuple[str, ...]:
    """Return in sentences what of the collection in a `.quaere` folder is not as the corpus has it.

    Nothing where it is in step, or not there at all: it is a cache.
    """
    stamp = read_stamp(home)
    if stamp is None:
        left = (home / FOLDER).exists()
        return (f"the Chroma collection has no stamp; {BEHIND}",) if left else ()
    corpus = Corpus.open(home)
    try:
        with corpus.reading() as db:
            return tuple(_differences(home, db, stamp))
    except SourceUnavailableError as error:
        return (f"the Chroma collection cannot be used ({error}); {DAMAGED}",)
    finally:
        corpus.close()


def _differences(home: Path, db: sqlite3.Connection, stamp: Stamp) -> list[str]:
    if not stamp.is_settled:
        return [f"the Chroma collection is half written; {BEHIND}"]
    space = active_space(db) or stamp.space
    wanted = wanted_now(db, space)
    if stamp.space != space or stamp.mark != revision_mark(db, stamp.revision):
        return [f"the Chroma collection is of another encoder or another corpus; {BEHIND}"]
    if stamp.mark != wanted.mark:
        return [f"the Chroma collection holds revision {stamp.revision} of {wanted.revision}; {BEHIND}"]
    with door_of(home).reading(stamp) as opened:
        return _unlike(opened, db, space, wanted.ids) if opened else []


def _unlike(opened: Opened, db: sqlite3.Connection, space: str, ids: Ids) -> list[str]:
    counts = {
        "lacks": len(np.setdiff1d(ids, opened.ids)),
        "still has": len(np.setdiff1d(opened.ids, ids)),
        "has lost or altered": len(differing(opened.collection, db, space, np.intersect1d(ids, opened.ids))),
    }
    return [f"the Chroma collection {what} {n:,} vectors; {DAMAGED}" for what, n in counts.items() if n]


def measure_recall(home: Path, k: int = K, queries: int = QUERIES) -> float | None:
    """Return the share of the exact k nearest that Chroma proposes, over stored vectors as queries.

    What is as near as the k-th counts as found: equal texts have equal vectors. None when the collection is
    not in step or holds nothing; SourceUnavailableError when it cannot be opened.
    """
    stamp = read_stamp(home)
    corpus = Corpus.open(home)
    try:
        with corpus.reading() as db:
            if stamp is None or not stamp.is_settled or stamp.mark != revision_mark(db, stamp.revision):
                return None
            with door_of(home).reading(stamp) as opened:
                return _recall(opened, db, k, queries) if opened is not None and len(opened.ids) else None
    finally:
        corpus.close()


def _recall(opened: Opened, db: sqlite3.Connection, k: int, queries: int) -> float:
    ids, rows = vectors_of(db, opened.stamp.space, opened.ids)
    spread = np.unique(np.linspace(0, len(ids) - 1, min(queries, len(ids))).astype(np.int64))
    return float(np.mean([recall_of(opened, rows[at], (ids, rows), k) for at in spread]))


def recall_of(opened: Opened, query: Rows, every: tuple[Ids, Rows], k: int) -> float:
    """Return the share of the exact k nearest of all vectors to one query that Chroma proposes."""
    ids, rows = every
    exact = ranked(ids, rows, query, k)
    at = np.searchsorted(ids, propose(opened, query, reach(k)))
    found = ranked(ids[at], rows[at], query, k)
    return sum(score >= exact[-1][1] for _, score in found) / len(exact)
