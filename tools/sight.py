"""What one principal may see of the corpus at one revision: the living, readable, filtered versions.

A version is visible when it was born at the pinned revision or before and has not died, or was replaced by a
newer one only after it. A deletion is a tombstone: it overrides the pin and blocks at once.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .evidence import ALWAYS_VALID, OWNER, Access, Filter, Validity
from .globs import matcher
from .succession import Dated, resolve

_VISIBLE = """
SELECT v.id, v.document, v.first_passage, v.passages, d.source, d.path, d.labels, v.valid_from, v.valid_until,
    v.superseded_by
FROM versions v INDEXED BY {index} JOIN documents d ON d.id = v.document WHERE v.born <= :revision AND {alive}
"""
_LIVING = _VISIBLE.format(index="versions_alive", alive="v.died IS NULL")
_REPLACED_SINCE = _VISIBLE.format(
    index="versions_dead", alive="v.died > :revision AND v.died IS NOT NULL AND d.current IS NOT NULL"
)

Row = tuple[int, int, int, int, str, str, str, str | None, str | None, str | None]


@dataclass(frozen=True, slots=True)
class Sight:
    """The visible versions at `seen` (the corpus revision when they were looked up).

    `allowed` is indexed by passage id, `version_of` and `passages_of` (the range of passage ids) by document;
    `validity_of` holds the documents that do not always hold, their successors resolved among the visible.
    """

    seen: int
    allowed: NDArray[np.bool_]
    version_of: Mapping[int, int]
    passages_of: Mapping[int, range]
    validity_of: Mapping[int, Validity]


def look(db: sqlite3.Connection, access: Access, narrow: Filter, revision: int) -> Sight:
    """Return what `access` sees through the filter at a revision."""
    seen = current_revision(db)
    rows: list[Row] = db.execute(f"{_LIVING} UNION ALL {_REPLACED_SINCE}", {"revision": revision}).fetchall()
    if access != OWNER or replace(narrow, valid_at=None) != Filter():
        admits = _admission(access, narrow)
        rows = [row for row in rows if admits(row)]
    validity_of = _validity(rows)
    if narrow.valid_at is not None:
        day = narrow.valid_at.isoformat()
        rows = [row for row in rows if validity_of.get(row[1], ALWAYS_VALID).holds(day)]
    newest = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'passages'").fetchone()
    ranges = {row[1]: range(row[2], row[2] + row[3]) for row in rows}
    mask = _mask(newest[0] + 1 if newest else 1, ranges)
    return Sight(seen, mask, {row[1]: row[0] for row in rows}, ranges, validity_of)


def current_revision(db: sqlite3.Connection) -> int:
    """Return the number of the last commit, 0 for an empty corpus."""
    newest: int | None = db.execute("SELECT max(id) FROM revisions").fetchone()[0]
    return newest or 0


def active_space(db: sqlite3.Connection) -> str | None:
    """Return the fingerprint of the encoder whose vectors are searched when none is named."""
    row = db.execute("SELECT value FROM meta WHERE key = 'space'").fetchone()
    return row[0] if row else None


def _validity(rows: Sequence[Row]) -> dict[int, Validity]:
    """Return the validity of the documents that do not always hold."""
    if not any(row[9] for row in rows):  # nothing to resolve: only the dated ones are looked at
        rows = [row for row in rows if row[7] or row[8]]
    found = resolve([Dated(row[1], row[4], row[5], Validity(*row[7:10])) for row in rows])
    return {document: validity for document, validity in found.items() if validity != ALWAYS_VALID}


def _mask(size: int, ranges: Mapping[int, range]) -> NDArray[np.bool_]:
    mask = np.zeros(size, dtype=np.bool_)
    for ids in ranges.values():
        mask[ids.start : ids.stop] = True
    return mask


def _admission(access: Access, narrow: Filter) -> Callable[[Row], bool]:
    in_paths = matcher(narrow.paths) if narrow.paths else None
    decided: dict[str, bool] = {}

    def admits(row: Row) -> bool:
        source, path, labels = row[4:7]
        if labels not in decided:
            decided[labels] = _labels_admit(json.loads(labels), access, narrow)
        return (
            decided[labels]
            and (not narrow.sources or source in narrow.sources)
            and (in_paths is None or in_paths(path))
        )

    return admits


def _labels_admit(labels: Mapping[str, str], access: Access, narrow: Filter) -> bool:
    wanted = narrow.labels.items()
    return access.may_read(labels) and all(key in labels and labels[key] in values for key, values in wanted)
