"""How versions stand to each other at the time a question is about: which holds, and which is the newer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ..tools.evidence import Reading, Validity
from ..tools.marks import name_series
from .times import Period

State = Literal["holds", "superseded", "ended", "not_yet"]


def state_at(validity: Validity, when: Period | None) -> State:
    """Return how a version stands in a period; one that is replaced since an unknown day is so now."""
    if when is None:
        return "holds"
    if validity.valid_from and validity.valid_from > when.last:
        return "not_yet"
    if validity.valid_until and validity.valid_until < when.first:
        return "superseded" if validity.superseded_by else "ended"
    if validity.superseded_by and validity.valid_until is None and not when.is_past:
        return "superseded"
    return "holds"


def holds(reading: Reading, when: Period | None) -> bool:
    """Tell whether a passage's version holds on some day of a period."""
    return state_at(reading.validity, when) == "holds"


def outranks(one: Reading, other: Reading, when: Period | None) -> bool:
    """Tell whether one version decides against another: it holds and the other does not, or it is newer."""
    if one.document.id == other.document.id:
        return False
    if holds(one, when) != holds(other, when):
        return holds(one, when)
    if replaces(one, other):
        return not _is_dated_better(other, one, when)
    if replaces(other, one):
        return _is_dated_better(one, other, when)
    return _begins_later(one, other)


def replaces(one: Reading, other: Reading) -> bool:
    """Tell whether the second version is marked as replaced by the first."""
    return other.validity.superseded_by == one.document.path and one.document.id != other.document.id


def replaced_by(reading: Reading, held: Sequence[Reading]) -> tuple[Reading, ...]:
    """Return the passages among those held that a version replaces, also by way of versions in between."""
    found: list[Reading] = []
    front = [reading]
    while front:
        front = [
            older
            for older in held
            if older not in found and older.document.id != reading.document.id
            if any(replaces(newer, older) for newer in front)
        ]
        found += front
    return tuple(found)


def are_series(one: Reading, other: Reading) -> bool:
    """Tell whether two documents are versions of one: one replaces the other, or only their dates differ."""
    if one.document.id == other.document.id:
        return False
    if replaces(one, other) or replaces(other, one):
        return True
    series, others = name_series(one.document.path), name_series(other.document.path)
    return series.name == others.name and series.is_versioned and others.is_versioned


def describe(reading: Reading, when: Period | None, known: bool) -> str:
    """Say how a version is marked, "" when it is not; a successor is named only when it is known."""
    validity = reading.validity
    state = state_at(validity, when)
    if state == "superseded":
        return f"superseded by {validity.superseded_by}" if known else "superseded"
    if state == "ended":
        return f"valid until {validity.valid_until}"
    if validity.valid_from:
        return f"valid from {validity.valid_from}"
    return f"superseded by {validity.superseded_by}" if validity.superseded_by and known else ""


def _is_dated_better(old: Reading, new: Reading, when: Period | None) -> bool:
    """Tell whether only the older one says when it held, which decides for a time that is past."""
    dated = bool(old.validity.valid_from or old.validity.valid_until)
    return when is not None and when.is_past and dated and new.validity.valid_from is None


def _begins_later(one: Reading, other: Reading) -> bool:
    """Tell whether one begins later, or has the higher version in its name where dates do not tell."""
    begins, others = one.validity.valid_from, other.validity.valid_from
    if begins and others and begins != others:
        return begins > others
    series, rival = name_series(one.document.path), name_series(other.document.path)
    return (
        bool(series.version and rival.version)
        and series.name == rival.name
        and series.version > rival.version
    )
