"""Make a question that leans on the turn before it read on its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..tools.analyze import content_words
from ..tools.dates import WRITTEN
from .conversation import read_arithmetic
from .needs import IT, lacks_subject, thing_of
from .policy import Turn
from .question import read_question
from .times import find_time, without_time
from .values import read_values

_OPENING = re.compile(r"^(?:and|but|or|also|what about|how about|what of)\b[ ,]*", re.I)
_BARE_TIME = re.compile(rf"(?:{WRITTEN})\W*", re.I)
MOST_WORDS = 4
"""Content words of a question at most that only names another side of the one before."""


@dataclass(frozen=True, slots=True)
class Standalone:
    """A question that reads without the turns before it, and what was added to it."""

    text: str
    added: str = ""


def make_standalone(question: str, turns: Sequence[Turn]) -> Standalone:
    """Return the question with the subject of the last turn where it leans on it."""
    if not turns:
        return Standalone(question)
    last = turns[-1].standalone or turns[-1].question
    bare = _OPENING.sub("", question.strip())
    opened = bare != question.strip()
    again = _asked_again(bare, last) if opened or find_time(bare) else None
    if again:
        return again
    elliptic = opened and len(content_words(bare)) <= MOST_WORDS and not read_question(bare).identifiers
    if not (elliptic or lacks_subject(without_time(question))):
        return Standalone(question)
    return _with_subject(question, bare, turns[-1])


def _asked_again(bare: str, last: str) -> Standalone | None:
    """Return the last question at the time that is all a follow-up says: `And in 2023?`."""
    phrase = find_time(bare)
    time = phrase.text if phrase else f"in {bare.strip(' ?!.')}" if _BARE_TIME.fullmatch(bare) else ""
    rest = without_time(bare) if phrase else ""
    if not time or any(character.isalnum() for character in rest):
        return None
    asked = without_time(last).rstrip("?!. ")
    return Standalone(f"{asked} {time}?", asked) if asked else None


def _with_subject(question: str, bare: str, turn: Turn) -> Standalone:
    """Name what the last turn was about: in place of the pronoun, else behind the question."""
    last = turn.standalone or turn.question
    named = _names(last)
    thing = "" if named else thing_of(last)
    subject = named or thing or next(filter(None, map(_names, turn.claims[:1])), "")
    if not subject or subject.casefold() in question.casefold():
        return Standalone(question)
    if thing and IT.search(bare):
        return Standalone(IT.sub(thing, bare, count=1), thing)
    return Standalone(f"{bare.rstrip('?! .')} {subject}?", subject)


def _names(text: str) -> str:
    """Return the names and identifiers of a question or a claim; the unit of a value names nothing."""
    if read_arithmetic(text):
        return ""
    shape = read_question(text)
    values = {word for value in read_values(text) for word in text[value.start : value.end].split()}
    named = dict.fromkeys([*shape.identifiers, *shape.quoted, *shape.names])
    return " ".join([name for name in named if name not in values][:3])
