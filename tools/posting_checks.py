"""Whether the keyword index holds the terms of exactly the stored passages, and how it is made anew."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from .analyze import ANALYZER, terms
from .checks import Finding, Stores, counted, failed, ok, some
from .errors import WorkspaceError
from .postings import merge_segments, read_list, read_segments, unpack, unpack_list, write_segment
from .writer import encoder_input

_ANALYSED_SO = "SELECT id FROM versions WHERE splitter LIKE ?"
"""Versions by the mark of their analysis; those of an earlier one are read again by the next sync."""

_TERMS_OF = """
SELECT p.id, p.prefix, substr(t.body, p.start + 1, p."end" - p.start)
FROM passages p JOIN versions v ON v.id = p.version JOIN texts t ON t.id = v.text
"""


def look_at_postings(stores: Stores) -> Finding:
    """Compare the keyword index with the passages, and the terms of a sample with their texts."""
    try:
        return _compared(stores.db)
    except (WorkspaceError, ValueError):  # cut short, or of unequal length
        return failed("lists that cannot be read")


def _compared(db: sqlite3.Connection) -> Finding:
    held = _held(db)
    stored = dict(db.execute("SELECT id, version FROM passages"))
    if wrong := _wrong_passages(db, held, stored) or _wrong_lists(db, held):
        return failed(wrong)
    current = {row[0] for row in db.execute(_ANALYSED_SO, (f"% {ANALYZER} %",))}
    looked_at = some([id for id, (_, version) in sorted(held.items()) if version in current])
    if differing := sum(1 for _ in _differing(db, looked_at)):
        return failed(f"{counted(differing, 'term')} with other passages than their texts say")
    total = db.execute("SELECT count(DISTINCT term) FROM postings").fetchone()[0]
    return ok(
        f"{counted(total, 'term')} of {counted(len(held), 'passage')}, "
        f"{'all' if len(looked_at) == len(held) else f'{len(looked_at):,}'} compared with their texts"
    )


def rebuild_postings(db: sqlite3.Connection) -> int:
    """Make the keyword index anew from the stored texts, in the caller's transaction; return the passages."""
    db.execute("DELETE FROM postings")
    db.execute("DELETE FROM segments")
    indexed = 0
    versions = db.execute(
        "SELECT id, first_passage, passages FROM versions WHERE coalesce(died, 0) = 0 ORDER BY id"
    ).fetchall()
    for version, first, passages in versions:
        rows = db.execute(f"{_TERMS_OF} WHERE p.id BETWEEN ? AND ?", (first, first + passages - 1)).fetchall()
        write_segment(db, [(id, version, terms(encoder_input(prefix, text))) for id, prefix, text in rows])
        indexed += len(rows)
    merge_segments(db)
    return indexed


def _held(db: sqlite3.Connection) -> dict[int, tuple[int, int]]:
    """Return length and version of each passage the index holds; one that it holds twice has length -1."""
    held: dict[int, tuple[int, int]] = {}
    for blobs in db.execute("SELECT passages, lengths, documents FROM segments"):
        for id, length, version in zip(*(unpack(blob).tolist() for blob in blobs), strict=True):
            held[id] = (-1 if id in held else length, version)
    return held


def _wrong_passages(
    db: sqlite3.Connection, held: dict[int, tuple[int, int]], stored: dict[int, int]
) -> str | None:
    """Return how the passages of the index differ from the stored ones; those of the dead may be gone."""
    ranges = db.execute("SELECT first_passage, passages FROM versions WHERE coalesce(died, 0) = 0")
    living = {id for first, passages in ranges for id in range(first, first + passages)}
    for wrong, what in (
        (living - held.keys(), "that the keyword index lacks"),
        (held.keys() - stored.keys(), "in the keyword index that are not stored"),
        ({id for id, (length, _) in held.items() if length < 0}, "twice in the keyword index"),
        ({id for id, (_, version) in held.items() if stored.get(id) != version}, "under another version"),
    ):
        if wrong:
            return f"{counted(len(wrong), 'passage')} {what}"
    return None


def _wrong_lists(db: sqlite3.Connection, held: dict[int, tuple[int, int]]) -> str | None:
    """Return how the posting lists differ from the lengths of the passages, which are the sums of counts."""
    strays = "SELECT count(*) FROM postings WHERE segment NOT IN (SELECT id FROM segments)"
    if lost := db.execute(strays).fetchone()[0]:
        return f"{counted(lost, 'posting list')} of no segment"
    lengths = np.zeros(max(held, default=0) + 1, np.int64)
    lengths[list(held)] = [length for length, _ in held.values()]
    sums = np.zeros_like(lengths)
    for ids, counts in _lists(db):
        if len(ids) and int(ids.max()) >= len(sums):
            return "posting lists with passages of no segment"
        sums[ids] += counts
    wrong = int((sums != lengths).sum())
    return f"{counted(wrong, 'passage')} with more or fewer terms than its length" if wrong else None


def _lists(db: sqlite3.Connection) -> Iterator[tuple[NDArray[np.uint32], NDArray[np.uint32]]]:
    for passages, counts in db.execute("SELECT passages, counts FROM postings"):
        yield unpack_list(passages, counts)


def _differing(db: sqlite3.Connection, ids: Sequence[int]) -> Iterator[str]:
    """Yield the terms whose counts in some passages are not those of the texts."""
    wanted: dict[str, dict[int, int]] = defaultdict(dict)
    for id in ids:
        for _, prefix, text in db.execute(f"{_TERMS_OF} WHERE p.id = ?", (id,)):
            for term, count in Counter(terms(encoder_input(prefix, text))).items():
                wanted[term][id] = count
    sample, segments = np.array(ids, np.uint32), read_segments(db)
    for term, counts in sorted(wanted.items()):
        found, numbers = read_list(db, term, segments)
        inside = np.isin(found, sample)
        if dict(zip(found[inside].tolist(), numbers[inside].tolist(), strict=True)) != counts:
            yield term
