"""Refuse what is no Access and no Filter before anything is read: an odd shape never opens the gate.

A bare text where a set of texts belongs would otherwise be searched letter by letter, and an operator such as
`{"$ne": …}` would be taken for a set of its keys.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date, datetime

from .errors import UsageError
from .evidence import Access, Filter

_ACCESS = "write it as Access('ana', allowed={'team': {'hr'}})"
_FILTER = "write it as Filter(sources=('docs',), paths=('**/*.md',), labels={'team': ('hr',)})"


def check_gate(access: object, narrow: object) -> None:
    """Raise UsageError where the access or the filter is not what it should be."""
    _check_access(access)
    _check_filter(narrow)


def _check_access(access: object) -> None:
    if not isinstance(access, Access):
        raise UsageError(f"{access!r} is no access; {_ACCESS}")
    if not isinstance(access.principal, str) or not access.principal.strip():
        raise UsageError(f"access: the principal {access.principal!r} is no name; {_ACCESS}")
    if not _are_texts(access.groups):
        raise UsageError(f"access: groups = {access.groups!r} is no set of names; {_ACCESS}")
    _check_values("access: allowed", access.allowed, _ACCESS)


def _check_filter(narrow: object) -> None:
    if not isinstance(narrow, Filter):
        raise UsageError(f"{narrow!r} is no filter; {_FILTER}")
    for name, given in (("sources", narrow.sources), ("paths", narrow.paths)):
        if not _are_texts(given):
            raise UsageError(f"filter: {name} = {given!r} is no list of texts; {_FILTER}")
    _check_values("filter: labels", narrow.labels, _FILTER)
    day = narrow.valid_at
    if day is not None and (not isinstance(day, date) or isinstance(day, datetime)):
        raise UsageError(f"filter: valid_at = {day!r} is no day; give a datetime.date")


def _check_values(name: str, values: object, way_out: str) -> None:
    if not isinstance(values, Mapping):
        raise UsageError(f"{name} = {values!r} maps no label keys to values; {way_out}")
    for key, given in values.items():
        if not isinstance(key, str) or not _are_texts(given):
            raise UsageError(f"{name}: {key!r}: {given!r} is no list of values; {way_out}")


def _are_texts(given: object) -> bool:
    """Tell whether a value is a collection of texts; a text, a mapping and an iterator are none."""
    return (
        isinstance(given, Collection)
        and not isinstance(given, str | bytes | bytearray | Mapping)
        and all(isinstance(one, str) for one in given)
    )
