"""Whether two sentences give different values for the same thing.

They do when both answer a need with the same type of value and everything else they say agrees: the words,
what stands above them, identifiers, negation, tense. An amount "for islands" is not at odds with one "for the
mainland", nor are two rows of a table with different keys. Among versions of one document less is asked: the
newer one may say it in other words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Literal

from ..tools.analyze import content_words, identifiers, terms
from ..tools.marks import name_series
from ..tools.plain import named_cells, plain
from .accept import objection
from .match import Match, match_sentences, term_set
from .policy import Evidence, Lexicon, Need
from .question import AnswerType, Question, read_question
from .standing import are_series
from .values import Value, read_values

Relation = Literal["agree", "differ", ""]

_KINDS: dict[AnswerType, frozenset[str]] = {
    "money": frozenset({"money"}),
    "duration": frozenset({"duration"}),
    "date": frozenset({"date", "time"}),
    "version": frozenset({"version", "number"}),
    "phone": frozenset({"phone"}),
    "number": frozenset({"money", "percent", "duration", "number", "version"}),
}
"""Kinds of values that answer each type of question; other types are answered by whole sentences."""

_NEUTRAL = frozenset(
    terms(
        "cost price fee amount total sum charge pay limit maximum value rate number currently present today "
        "now set per each every exactly summary overview introduction general details notes appendix "
        "question answer"
    )
)
"""Terms by which two sentences about the same thing may differ."""

_NEGATION = re.compile(r"\b(?:not|no|never|without|neither|nor|none|cannot|\w+n['’]t)\b", re.I)
_PAST = re.compile(r"\b(?:was|were|had|did|used to|formerly|previously|until then)\b", re.I)
_LEAST = re.compile(r"\b(?:at least|minimum|no less|not less|more than|over|from)\b", re.I)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence that answers a need, with the passage it stands in."""

    need: Need
    match: Match
    item: Evidence

    @property
    def text(self) -> str:
        """Return what of the sentence is about the need: of a table row its key and the cells asked for."""
        j = self.match.j - 1
        reading = self.item.reading
        if reading.sentences[j].kind == "row":
            return _asked_cells(reading.texts[j], reading.governing[j], self.need)
        return plain(reading.texts[j])


@dataclass(frozen=True, slots=True)
class _Face:
    """A text as it is compared; `said` leaves out the values, `words` also what is neutral."""

    values: tuple[Value, ...]
    said: frozenset[str]
    words: frozenset[str]
    exact: frozenset[str]
    negated: bool
    past: bool
    least: bool


def statements(need: Need, held: Sequence[Evidence], lexicon: Lexicon) -> list[Statement]:
    """Return every sentence held that answers a need by structure, best first."""
    question = read_question(need.text)
    found = [
        Statement(need, match, item)
        for item in held
        if item.grade != "off"
        for match in match_sentences(need, item, lexicon)
        if item.reading.sentences[match.j - 1].kind != "code"
        and not objection(question, item, match, lexicon)
    ]
    return sorted(found, key=lambda one: (-one.match.score, one.match.s, one.match.j))


def relation(one: Statement, other: Statement) -> Relation:
    """Return whether two statements give the same or different values for the same thing, or neither."""
    if _are_other_rows(one, other):
        return ""
    if are_series(one.item.reading, other.item.reading):
        found = _compare_versions(one, other)
        if found:
            return found
    return _compare(one, other) if _are_placed_alike(one, other) else ""


def _compare(one: Statement, other: Statement) -> Relation:
    """Compare two sentences of documents that have nothing to do with each other, or of one document."""
    question = read_question(one.need.text)
    a, b = _face(one.text), _face(other.text)
    asked = frozenset(question.terms)
    around, around_other = _around(one), _around(other)
    if a.words - asked - around_other - b.words or b.words - asked - around - a.words:
        return ""
    if set(one.match.missing) != set(other.match.missing):
        return ""
    if a.exact != b.exact or a.past != b.past or a.least != b.least:
        return ""
    values = _compare_values(a.values, b.values, question)
    if a.negated != b.negated:
        return "differ" if values != "differ" and a.words == b.words else ""
    return values


def _compare_values(
    one: Sequence[Value], other: Sequence[Value], question: Question, among_versions: bool = False
) -> Relation:
    """Compare the values that answer a question; those that only say what it is about must agree."""
    known = {value.key for value in read_values(question.text)}
    kinds = _KINDS.get(question.wants)
    a = [value for value in one if value.key not in known]
    b = [value for value in other if value.key not in known]
    if kinds is not None:
        rest = [{value.key for value in values if value.kind not in kinds} for values in (a, b)]
        if rest[0] != rest[1] and not among_versions:
            return ""
        a = [value for value in a if value.kind in kinds]
        b = [value for value in b if value.kind in kinds]
    if among_versions:
        a, b = _of_one_unit(a, b)
    if [(value.kind, value.unit) for value in a] != [(value.kind, value.unit) for value in b]:
        return ""
    if among_versions and len(a) != 1:
        return ""
    return "agree" if all(_same(x, y) for x, y in zip(a, b, strict=True)) else "differ"


def _of_one_unit(one: Sequence[Value], other: Sequence[Value]) -> tuple[list[Value], list[Value]]:
    """Return the values whose unit stands in both."""
    shared = {(value.kind, value.unit) for value in one} & {(value.kind, value.unit) for value in other}
    a, b = ([value for value in values if (value.kind, value.unit) in shared] for values in (one, other))
    return a, b


def _compare_versions(one: Statement, other: Statement) -> Relation:
    """Compare sentences of two versions of a document, which may say the same thing in other words."""
    question = read_question(one.need.text)
    a, b = _face(one.text), _face(other.text)
    if question.wants not in _KINDS or not a.said & b.said or a.exact != b.exact:
        return ""
    if set(one.match.missing) != set(other.match.missing):
        return ""
    return _compare_values(a.values, b.values, question, among_versions=True)


def _same(one: Value, other: Value) -> bool:
    """Tell whether two values agree; a date agrees with the month or year that it lies in."""
    if one.kind != "date":
        return one.key == other.key
    (first, last), (start, end) = one.amount.split("/"), other.amount.split("/")
    return (first <= start and end <= last) or (start <= first and last <= end)


@lru_cache(maxsize=2048)
def _face(text: str) -> _Face:
    values = read_values(text)
    spans = [(value.start, value.end) for value in values]
    words = frozenset(
        token.term
        for token in content_words(text)
        if not any(start < token.end and token.start < end for start, end in spans)
    )
    exact = frozenset(
        name.casefold()
        for name in identifiers(text)
        if not any(start <= text.find(name) < end for start, end in spans)
    )
    return _Face(
        values,
        words,
        words - _NEUTRAL,
        exact,
        bool(_NEGATION.search(text)),
        bool(_PAST.search(text)),
        bool(_LEAST.search(text)),
    )


def _are_placed_alike(one: Statement, other: Statement) -> bool:
    """Tell whether nothing above two sentences says that they are about different things."""
    a, b = _headings(one), _headings(other)
    asked = frozenset(read_question(one.need.text).terms) | _NEUTRAL
    if a - asked - _around(other) - term_set(other.text) or b - asked - _around(one) - term_set(one.text):
        return False
    if one.item.reading.document.id == other.item.reading.document.id:
        return True
    return _named_things(one) == _named_things(other)


def _headings(one: Statement) -> frozenset[str]:
    """Return the terms of what stands above a sentence below the title: headings and lead-ins."""
    reading = one.item.reading
    above = [line for line in reading.passage.heading if line != reading.document.title]
    above += [line for line in reading.governing[one.match.j - 1] if "|" not in line and line not in above]
    return frozenset().union(*(term_set(line) for line in above)) - term_set(reading.document.title)


def _around(one: Statement) -> frozenset[str]:
    document = one.item.reading.document
    return _headings(one) | term_set(document.title) | term_set(document.path)


def _named_things(one: Statement) -> frozenset[str]:
    """Return the identifiers in the title and the name of a document: two permits are two things."""
    document = one.item.reading.document
    stem = PurePosixPath(document.path).stem
    found = [*identifiers(document.title), *identifiers(stem)]
    return frozenset(name.casefold() for name in found if not name_series(name).is_versioned)


def _are_other_rows(one: Statement, other: Statement) -> bool:
    """Tell whether two rows or records are about different things.

    They are when their first cells that are not asked for differ, and within one document when any does.
    """
    a, b = _keys(one), _keys(other)
    if not a or not b:
        return False
    if one.item.reading.document.id == other.item.reading.document.id:
        return a != b
    return a[0][0] == b[0][0] and a[0] != b[0]


def _keys(one: Statement) -> list[tuple[str, str]]:
    """Return the cells of a row that are not asked for, with their names; nothing for what is no row."""
    reading, j = one.item.reading, one.match.j - 1
    if reading.sentences[j].kind != "row":
        return []
    asked = set(read_question(one.need.text).terms)
    return [
        cell for cell in named_cells(reading.texts[j], reading.governing[j]) if not asked & term_set(cell[0])
    ]


def _asked_cells(row: str, governing: Sequence[str], need: Need) -> str:
    """Return the key of a table row and the cells whose header shares a word with the need, with it."""
    pairs = named_cells(row, governing)
    if not pairs:
        return plain(row)
    asked = set(read_question(need.text).terms)
    told = [f"{name}: {value}" for name, value in pairs[1:] if asked & term_set(name)]
    return "; ".join([*(value for _, value in pairs[:1]), *(told or (f"{n}: {v}" for n, v in pairs[1:]))])
