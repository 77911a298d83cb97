"""Dates in the forms people write, with the days they name; what is ambiguous or cannot be is no date.

`2024-05-03`, `3 May 2024`, `3rd of May 2024`, `May 3, 2024`, `03.05.2024` (day first) name a day, `2024-05`
and `May 2024` a month, `2024` a year. `05/03/2024` is left alone, because some read it as 5 March.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date

_MONTHS = {
    name: number
    for number in range(1, 13)
    for name in (calendar.month_name[number].casefold(), calendar.month_abbr[number].casefold())
} | {"sept": 9}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_YEAR = r"[12]\d\d\d"
_ALONE = r"(?<![\w.,/§$€£-])"
"""Nothing that would make the digits part of a longer number, an amount or an identifier."""
_ENDS = r"(?![\w%€$£]|[-/:]\w|[.,]\d)"

DAY = (
    rf"{_YEAR}-\d{{1,2}}-\d{{1,2}}"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?(?: of)?[ ]+(?:{_MONTH})\.?,?[ ]+{_YEAR}"
    rf"|(?:{_MONTH})\.?[ ]+\d{{1,2}}(?:st|nd|rd|th)?,?[ ]+{_YEAR}"
    rf"|\d{{1,2}}\.[ ]?\d{{1,2}}\.[ ]?{_YEAR}"
    rf"|\d{{1,2}}/\d{{1,2}}/{_YEAR}"
)
MONTH = rf"{_YEAR}-\d{{2}}|(?:{_MONTH})\.?,?[ ]+{_YEAR}"
YEAR = _YEAR
WRITTEN = rf"{_ALONE}(?:{DAY}|{MONTH}|{YEAR}){_ENDS}"
"""Pattern of a date, month or year in running text, without groups; matched without regard to case."""

_FIND = re.compile(rf"{_ALONE}(?:{DAY}|{MONTH}){_ENDS}", re.I)
_ISO = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_DOTTED = re.compile(r"(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})")
_SLASHED = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")
_DAY_MONTH = re.compile(rf"(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? +({_MONTH})\.?,? +(\d{{4}})", re.I)
_MONTH_DAY = re.compile(rf"({_MONTH})\.? +(\d{{1,2}})(?:st|nd|rd|th)?,? +(\d{{4}})", re.I)
_MONTH_YEAR = re.compile(rf"({_MONTH})\.?,? +(\d{{4}})", re.I)


@dataclass(frozen=True, slots=True)
class Days:
    """The days a written date names, first and last, both inclusive."""

    first: date
    last: date


@dataclass(frozen=True, slots=True)
class Found:
    """A date in a text, at the characters [start, end)."""

    start: int
    end: int
    days: Days


def read_date(written: str) -> Days | None:
    """Return the days that a date, month or year names; None for what is ambiguous or cannot be."""
    text = " ".join(written.split())
    parts = _parts(text)
    return _days(*parts) if parts else None


def find_dates(text: str) -> list[Found]:
    """Return the days and months written out in a text, in order; a year alone may be any number."""
    found = ((match, read_date(match.group(0))) for match in _FIND.finditer(text))
    return [Found(match.start(), match.end(), days) for match, days in found if days]


def _parts(text: str) -> tuple[int, int | None, int | None] | None:
    """Return year, month and day, None for what is not given."""
    if match := _ISO.fullmatch(text):
        month, day = (None if part is None else int(part) for part in match.groups()[1:])
        return int(match[1]), month, day
    if match := _DOTTED.fullmatch(text):
        return int(match[3]), int(match[2]), int(match[1])
    if match := _SLASHED.fullmatch(text):
        low, high = sorted((int(match[1]), int(match[2])))
        return (int(match[3]), low, high) if low == high or high > 12 else None
    if match := _DAY_MONTH.fullmatch(text):
        return int(match[3]), _MONTHS[match[2].casefold()], int(match[1])
    if match := _MONTH_DAY.fullmatch(text):
        return int(match[3]), _MONTHS[match[1].casefold()], int(match[2])
    if match := _MONTH_YEAR.fullmatch(text):
        return int(match[2]), _MONTHS[match[1].casefold()], None
    return None


def _days(year: int, month: int | None, day: int | None) -> Days | None:
    try:
        if month is None:
            return Days(date(year, 1, 1), date(year, 12, 31))
        if day is None:
            return Days(date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1]))
        return Days(date(year, month, day), date(year, month, day))
    except (ValueError, calendar.IllegalMonthError):
        return None
