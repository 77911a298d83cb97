"""The time a question is about: today, or the year, month or day it names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from ..tools.dates import DAY, MONTH, YEAR, Days, read_date

_CLOSES = (
    r"(?=[ ]*(?:[?.,;:!)]|$)|[ ]+(?:and|or|for|in|at|to|of|by|the|a|an|is|are|was|were|did|does|do|had|has|"
    r"per|with|under|when|as|than|but|we|they|it|if|according)\b)"
)
_ANY = rf"(?:{DAY}|{MONTH}|{YEAR})"
_LONG = rf"(?:{MONTH}|{YEAR})"
_PHRASES = (
    r"\b(?:back )?(?:in|during|throughout|for|of)(?: the (?:year|month)(?: of)?)? "
    rf"(?P<within>{_LONG}){_CLOSES}",
    rf"\b(?:as of|as at|on) (?:the )?(?P<on>{_ANY}){_CLOSES}",
    rf"\b(?:at|by|until) the (?P<edge>end|beginning|start) of (?P<whole>{_LONG}){_CLOSES}",
    rf"\bbefore (?P<before>{_ANY}){_CLOSES}",
    r"\b(?:in the |the )?(?P<relative>(?:last|previous|this|next) (?:year|month)|yesterday|today)\b"
    r"(?!['’]| of\b)",
    r"\b(?P<now>(?:right )?now|currently|at present|at the moment|nowadays|these days)\b",
    rf"\b(?:the|our|its|their) (?P<edition>{YEAR})(?= [a-z])",
    rf"\b(?P<owned>{YEAR})['’]s\b",
)
_TIME = re.compile("|".join(_PHRASES), re.I)


@dataclass(frozen=True, slots=True)
class Period:
    """The days an answer is about, first and last as ISO 8601 dates, both inclusive.

    `said` are the words of the question that name them, "" for the day the question is asked, `today`.
    """

    first: str
    last: str
    said: str
    today: str

    @property
    def is_past(self) -> bool:
        """Tell whether the period is over."""
        return self.last < self.today

    @property
    def is_today(self) -> bool:
        """Tell whether the period is the day the question is asked."""
        return self.first == self.last == self.today


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words at [start, end) that name a time."""

    start: int
    end: int
    text: str


def period_of(question: str, today: str) -> Period:
    """Return the time a question names, or today when it names none, several, or what is no date."""
    found = list(_TIME.finditer(question))
    days = {_days(match, date.fromisoformat(today)) for match in found} - {None}
    if len(days) != 1:
        return Period(today, today, "", today)
    named = days.pop()
    assert named is not None
    return Period(named.first.isoformat(), named.last.isoformat(), found[0].group(0), today)


def find_time(text: str) -> Phrase | None:
    """Return the first words of a text that name a time."""
    match = _TIME.search(text)
    return Phrase(match.start(), match.end(), match.group(0)) if match else None


def without_time(text: str) -> str:
    """Return a text without the words that name a time as an adverbial: `in 2023`, `last year`."""
    bare = _TIME.sub(lambda match: match.group(0) if match["edition"] or match["owned"] else "", text)
    return re.sub(r"\s+([?.,!])", r"\1", " ".join(bare.split()))


def _days(match: re.Match[str], today: date) -> Days | None:
    """Return the days a phrase names."""
    if match["now"]:
        return _only(today)
    if relative := match["relative"]:
        return _relative(relative.casefold(), today)
    if before := match["before"]:
        days = read_date(before)
        return _only(days.first - timedelta(days=1)) if days and days.first > date.min else None
    if whole := match["whole"]:
        days = read_date(whole)
        return days and _only(days.last if match["edge"].casefold() == "end" else days.first)
    written = next(match[name] for name in ("within", "on", "edition", "owned") if match[name])
    return read_date(written)


def _only(day: date) -> Days:
    return Days(day, day)


def _relative(words: str, today: date) -> Days | None:
    """Return the days of `last year`, `this month`, `yesterday` seen from today."""
    if words in ("today", "yesterday"):
        return _only(today - timedelta(days=words == "yesterday"))
    step = {"last": -1, "previous": -1, "this": 0, "next": 1}[words.split()[0]]
    if words.endswith("year"):
        return read_date(f"{today.year + step:04}")
    months = today.year * 12 + today.month - 1 + step
    return read_date(f"{months // 12:04}-{months % 12 + 1:02}")
