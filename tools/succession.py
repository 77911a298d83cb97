"""What replaces what: the words by which a version names its successor, resolved among visible documents.

A document that may not be seen replaces nothing: neither its name nor its dates show through.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import PurePosixPath

from .evidence import Validity


@dataclass(frozen=True, slots=True)
class Dated:
    """A visible document with the validity its version is marked with."""

    document: int
    source: str
    path: str
    validity: Validity


def resolve(documents: Sequence[Dated]) -> dict[int, Validity]:
    """Return the validity of every document, where a found successor ends it and is named by its path.

    A version holds until the day before its successor begins at the latest. Words that fit no visible
    document, or several, stay as they are marked.
    """
    resolved = {one.document: one.validity for one in documents}
    marked = [one for one in documents if one.validity.superseded_by]
    if marked:
        names = _named(documents)
        for one in marked:
            newer = _successor(one, names)
            if newer is not None:
                resolved[one.document] = _ended(one.validity, newer)
    return resolved


def _ended(validity: Validity, newer: Dated) -> Validity:
    begins = newer.validity.valid_from
    if begins is None or begins <= date.min.isoformat():
        return replace(validity, superseded_by=newer.path)
    last = (date.fromisoformat(begins) - timedelta(days=1)).isoformat()
    until = min(last, validity.valid_until or last)
    return replace(validity, valid_until=until, superseded_by=newer.path)


def _successor(old: Dated, names: Mapping[str, Sequence[Dated]]) -> Dated | None:
    """Return the one document that is meant: by path before name or stem, near before far."""
    words = _spelled(old.validity.superseded_by or "")
    folder = PurePosixPath(old.path).parent
    beside = _spelled(posixpath.normpath(folder / words))
    for name in dict.fromkeys((beside, words)):
        found = [one for one in names.get(name, ()) if one.document != old.document]
        at_home = [one for one in found if one.source == old.source]
        for near in (
            [one for one in at_home if _spelled(one.path) == name],
            [one for one in at_home if PurePosixPath(one.path).parent == folder],
            at_home,
            found,
        ):
            if len(near) == 1:
                return near[0]
    return None


def _named(documents: Iterable[Dated]) -> dict[str, list[Dated]]:
    """Return the documents by each name they go by: path, path below the source's name, file name, stem."""
    names: dict[str, list[Dated]] = {}
    for one in documents:
        path = PurePosixPath(one.path)
        for name in dict.fromkeys((one.path, f"{one.source}/{one.path}", path.name, path.stem)):
            names.setdefault(_spelled(name), []).append(one)
    return names


def _spelled(name: str) -> str:
    return " ".join(name.casefold().split()).removeprefix("./").strip("/")
