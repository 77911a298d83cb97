"""Words a sentence need not say itself, because of the place of its version in time.

A version that holds in 2023 is about 2023. The sentence that takes the place of one in an older version is
about what that one is about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..tools.analyze import terms
from ..tools.dates import find_dates
from ..tools.evidence import Reading
from .policy import Evidence, Need
from .question import Question, read_question
from .standing import holds
from .values import Value, read_values

SHARED = 0.6
"""Share of the decisive words of a need that the older sentence holds itself, at least."""


def granted_terms(need: Need, evidence: Evidence) -> Mapping[int, frozenset[str]]:
    """Return by sentence, counted from 0, the terms of a need that hold for it though it says them not."""
    found = {i: _time_terms(need, evidence.reading, text) for i, text in enumerate(evidence.reading.texts)}
    for older in evidence.replaces:
        for i, said in _inherited(read_question(need.text), older, evidence.reading.texts).items():
            found[i] |= said
    return found


def names_time(need: Need, text: str) -> bool:
    """Tell whether a sentence itself names the time a need is about."""
    when = need.when
    if when is None or not when.said:
        return False
    return any(first <= when.last and when.first <= last for first, last in _named_days(text))


def _time_terms(need: Need, reading: Reading, text: str) -> frozenset[str]:
    """Return the words by which a need names its time, when the version is marked and holds then.

    "Now" says no more than to name no time. A sentence that names a time itself is about that one.
    """
    when, validity = need.when, reading.validity
    if when is None or not when.said:
        return frozenset()
    said = frozenset(terms(when.said))
    if when.is_today:
        return said
    marked = validity.valid_from or validity.valid_until
    return said if marked and holds(reading, when) and not _named_days(text) else frozenset()


def _named_days(text: str) -> list[tuple[str, str]]:
    """Return first and last days of the dates and years in a text, as ISO 8601."""
    written = [(found.days.first.isoformat(), found.days.last.isoformat()) for found in find_dates(text)]
    years = [value.amount[:4] for value in read_values(text) if _is_year(value)]
    return [*written, *((f"{year}-01-01", f"{year}-12-31") for year in years)]


def _is_year(value: Value) -> bool:
    """Tell whether a value is a year, with a word that says so or alone."""
    if value.kind == "date":
        return value.amount.endswith("-12-31")
    return value.kind == "number" and bool(re.fullmatch(r"(?:19|20)\d\d", value.amount))


def _inherited(question: Question, older: Reading, texts: Sequence[str]) -> dict[int, frozenset[str]]:
    """Return what the one counterpart of the older version's answering sentence inherits from it."""
    decisive = frozenset(question.decisive)
    old = max(older.texts, key=lambda text: len(decisive & set(terms(text))), default="")
    said = decisive & set(terms(old))
    units = _units(old)
    if len(said) < SHARED * len(decisive) or not units:
        return {}
    shared = {
        i: len(set(terms(text)) & set(terms(old)))
        for i, text in enumerate(texts)
        if said & set(terms(text)) and units & _units(text)
    }
    best = [i for i, count in shared.items() if count == max(shared.values())]
    return {best[0]: said} if len(best) == 1 else {}


def _units(text: str) -> set[tuple[str, str]]:
    """Return the kinds of values a sentence gives, with their units; dates say when, not how much."""
    return {(value.kind, value.unit) for value in read_values(text) if value.kind != "date"}
