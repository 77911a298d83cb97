"""Word the place of a stretch as its format counts: `row 17`, `records 3–12`, `lines 10–24`."""

from __future__ import annotations

import re

_COUNTED = re.compile(r"(line|row|record)s? (\d+)(?:–(\d+))?")


def place_of(noun: str, first: int, last: int | None = None) -> str:
    """Return one counted place, or a range of them; numbers count from 1."""
    return f"{noun} {first}" if last in (None, first) else f"{noun}s {first}–{last}"


def lines_place(first: int, last: int) -> str:
    """Return the lines from `first` to `last` as a place."""
    return place_of("line", first, last)


def joint_place(first: str | None, last: str | None) -> str | None:
    """Return the place that runs from one to another; the first where they are not counted alike."""
    begin, end = _COUNTED.fullmatch(first or ""), _COUNTED.fullmatch(last or "")
    if begin is None or end is None or begin[1] != end[1]:
        return first
    low, high = int(begin[2]), int(end[3] or end[2])
    return place_of(begin[1], min(low, high), max(low, high))
