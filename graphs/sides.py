"""What else the sources say about a claim: an older version that says otherwise, a source that disagrees.

The version that holds at the time a need is about decides, and among those the newer one. Where neither is
marked as the newer, both sides are told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .conflict import Statement, relation, statements
from .extract import state_sentence
from .granted import names_time
from .policy import Draft, Evidence, Grade, Grades, GradeView, Lexicon, Need
from .standing import describe, holds, outranks, replaces, state_at

MOST_SIDES = 3
"""Sources that disagree with a claim and are told, at most."""

MOST_OLDER = 2
"""Older versions that are told beside a claim, at most."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """All that is held, with the weights of words: what drafts are compared with."""

    held: Sequence[Evidence]
    lexicon: Lexicon


def set_back(grades: Grades, view: GradeView) -> Grades:
    """Take support from passages that a version which holds, or a newer one, answers in their place."""
    by_number = {item.s: item for item in view.evidence}
    kept = dict(grades.grades)
    for need in view.needs:
        supporting = [by_number[s] for s, given in grades.grades.items() if need.id in given.needs]
        found = statements(need, supporting, view.lexicon) if len(supporting) > 1 else []
        for item in supporting:
            winner = next((one for one in supporting if _takes_place(one, item, need, found)), None)
            if winner is not None:
                kept[item.s] = _without(kept[item.s], need, item, winner)
    return replace(grades, grades=kept)


def _takes_place(one: Evidence, other: Evidence, need: Need, found: Sequence[Statement]) -> bool:
    """Tell whether one passage answers a need in place of another: it decides, and is about the same."""
    if not outranks(one.reading, other.reading, need.when):
        return False
    if other.reading in one.replaces:
        return True
    mine = [statement for statement in found if statement.item.s == one.s]
    theirs = [statement for statement in found if statement.item.s == other.s]
    return any(relation(a, b) for a in mine for b in theirs)


def _without(grade: Grade, need: Need, item: Evidence, winner: Evidence) -> Grade:
    left = tuple(one for one in grade.needs if one != need.id)
    newer = winner.reading.document.path
    mark = describe(item.reading, need.when, known=True)
    reason = f"{item.reading.document.path} is {mark}; {newer} decides"
    return replace(grade, needs=left, value=grade.value if left else "related", reason=reason)


def add_sides(drafts: Sequence[Draft], needs: Sequence[Need], shelf: Shelf) -> tuple[Draft, ...]:
    """Return the drafts and behind them what other sources say otherwise, tied to what it is against."""
    told = list(drafts)
    for need in needs:
        found = statements(need, shelf.held, shelf.lexicon)
        for i, draft in enumerate(drafts):
            if draft.need == need.id and draft.kind == "stated" and told[i].against is None:
                _tell(told, i, found)
    return tuple(told)


def _tell(told: list[Draft], i: int, found: Sequence[Statement]) -> None:
    """Add what is at odds with the draft at i; what decides against the draft takes its place."""
    own = next((one for one in found if one.match.id in told[i].cites), None)
    if own is None:
        return
    others = [one for one in found if one.match.id not in told[i].cites and relation(own, one) == "differ"]
    newest = next((one for one in others if _decides(one, own)), None)
    if newest is not None:
        told.append(state_sentence(newest.need, newest.match, newest.item))
        told[i] = replace(told[i], need=None, against=len(told) - 1, older=_mark(own, found))
        _tell(told, len(told) - 1, found)
        return
    for one in _distinct(others):
        older = _decides(own, one)
        if not older or _is_worth_telling(one, own):
            _add(told, i, one, older=_mark(one, found) if older else "")


def _is_worth_telling(older: Statement, own: Statement) -> bool:
    """Tell whether an older version belongs beside an answer: where a time is named, it held then too."""
    when, begins = own.need.when, own.item.reading.validity.valid_from
    if when is None or when.is_today:
        return True
    return holds(older.item.reading, when) and begins is not None and begins > when.first


def _decides(one: Statement, other: Statement) -> bool:
    return outranks(one.item.reading, other.item.reading, one.need.when)


def _mark(one: Statement, found: Sequence[Statement]) -> str:
    """Introduce a version that does not decide; its successor is named when it is among what was found."""
    reading, when = one.item.reading, one.need.when
    known = any(replaces(other.item.reading, reading) for other in found)
    early = state_at(reading.validity, when) == "not_yet"
    version = "A version that does not hold yet" if early else "An older version"
    mark = describe(reading, when, known)
    return f"{version}, {reading.document.path}{f' ({mark})' if mark else ''}, says"


def _distinct(others: Sequence[Statement]) -> list[Statement]:
    """Return statements that do not say the same as one before them."""
    kept: list[Statement] = []
    for one in others:
        if not any(relation(one, other) == "agree" for other in kept):
            kept.append(one)
    return kept


def _add(told: list[Draft], i: int, one: Statement, older: str) -> None:
    """Tie a statement to the draft at i: as a new draft, or by the draft that cites it already."""
    tied = [draft for draft in told if draft.against == i and bool(draft.older) == bool(older)]
    cited = next((k for k, draft in enumerate(told) if k != i and one.match.id in draft.cites), None)
    if cited is not None:
        if told[cited].need == one.need.id and told[cited].against is None:
            told[cited] = replace(told[cited], against=i, older=older, need=None if older else one.need.id)
    elif len(tied) < (MOST_OLDER if older else MOST_SIDES):
        draft = state_sentence(one.need, one.match, one.item)
        told.append(replace(draft, against=i, older=older, need=None if older else one.need.id))


def notes_on_standing(
    cited: Sequence[tuple[Need, Sequence[tuple[Evidence, str]]]], held: Sequence[Evidence]
) -> tuple[str, ...]:
    """Tell of answering versions that do not hold at the time asked about, unless they name it themselves."""
    notes = []
    for need, sentences in cited:
        for item, text in sentences:
            if not holds(item.reading, need.when) and not names_time(need, text):
                known = any(replaces(other.reading, item.reading) for other in held)
                mark = describe(item.reading, need.when, known)
                notes.append(f"{item.reading.document.path} is marked as {mark}")
    return tuple(dict.fromkeys(notes))
