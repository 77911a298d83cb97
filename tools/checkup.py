"""Look at every store of a `.quaere` folder, each against the others, and mend what can be made again.

Texts and documents are the truth and are never removed by a repair; the keyword index, the vectors, the
matrix and the permissions follow from them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from .checks import Finding, Look, Stores, failed
from .corpus import DATABASE
from .corpus_checks import (
    look_at_documents,
    look_at_pages,
    look_at_passages,
    look_at_pending,
    look_at_texts,
)
from .embed import Encoder
from .errors import WorkspaceError
from .lock import writer_lock
from .place_checks import (
    look_at_disk,
    look_at_failures,
    look_at_lock,
    look_at_permissions,
    look_at_sources,
)
from .posting_checks import look_at_postings
from .purge import look_at_purge
from .repairs import REPAIRS, Mend
from .schema import WAY_OUT, check_file, connect
from .vector_checks import look_at_chroma, look_at_matrix, look_at_vectors

LOOKS: Mapping[str, Look] = {
    "pages": look_at_pages,
    "documents": look_at_documents,
    "texts": look_at_texts,
    "passages": look_at_passages,
    "keyword index": look_at_postings,
    "vectors": look_at_vectors,
    "matrix": look_at_matrix,
    "chroma": look_at_chroma,
    "encoder change": look_at_pending,
    "purge": look_at_purge,
    "writers": look_at_lock,
    "permissions": look_at_permissions,
    "disk": look_at_disk,
    "sources": look_at_sources,
    "files": look_at_failures,
}
"""What is looked at, in this order: what a later check relies on comes first."""


@dataclass(frozen=True, slots=True)
class Checkup:
    """What was found by the name of the check, and what a repair did."""

    findings: Mapping[str, Finding]
    repaired: tuple[str, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Tell whether no check failed; warnings do not count."""
        return not self.failed

    @property
    def failed(self) -> list[str]:
        """Return the names of the checks that failed."""
        return [name for name, finding in self.findings.items() if finding.state == "failed"]


def check(folder: Path, encoder: Encoder | None) -> Checkup:
    """Look at the stores of a `.quaere` folder; nothing is changed, and nothing that is found raises."""
    return Checkup(dict(_findings(folder, encoder)))


def repair(folder: Path, encoder: Encoder | None) -> Checkup:
    """Mend what is amiss and can be made again, under the writer's lock, and look once more.

    Nothing is mended in a file whose pages are damaged: writing could make it worse.
    """
    with writer_lock(folder):
        done: list[str] = []
        if not Checkup(dict(_findings(folder, encoder, ["pages"]))).failed:
            done = [said for name, mend in REPAIRS.items() if (said := _mended(folder, encoder, name, mend))]
        return Checkup(dict(_findings(folder, encoder)), tuple(done))


def _mended(folder: Path, encoder: Encoder | None, name: str, mend: Mend) -> str:
    """Mend one thing if it is amiss now, after the repairs before, and return what was done."""
    [(_, finding)] = _findings(folder, encoder, [name])
    return mend(folder) if finding.state != "ok" else ""


def _findings(
    folder: Path, encoder: Encoder | None, names: Iterable[str] = LOOKS
) -> Iterator[tuple[str, Finding]]:
    try:
        check_file(folder / DATABASE)
        db = connect(folder / DATABASE)
    except WorkspaceError as error:
        found, _, way_out = str(error).rpartition("; ")
        yield "pages", failed(found or str(error), way_out)
        return
    except sqlite3.Error as error:
        yield "pages", failed(f"the file cannot be opened ({error})", WAY_OUT)
        return
    with closing(db):
        yield from _looked_at(Stores(folder, db, encoder), names)


def _looked_at(stores: Stores, names: Iterable[str]) -> Iterator[tuple[str, Finding]]:
    stores.db.execute("BEGIN")  # all checks see one state, whoever writes meanwhile
    for name in names:
        try:
            yield name, LOOKS[name](stores)
        except sqlite3.Error as error:
            yield name, failed(f"cannot be read ({error})", WAY_OUT)
