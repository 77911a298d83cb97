"""Whether a query keeps faith with what was asked: identifiers, quotations, numbers, negations."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .match import holds_exactly
from .question import read_question

LONGEST_QUERY_WORDS = 60
"""Words of a query at most; a rewrite beyond that is prose, not a query."""

_PREAMBLE = re.compile(
    r"^(?:sure|certainly|of course|okay|ok|here (?:is|are)|here's|as an ai|"
    r"i (?:will|would|can|cannot|am|think)|the (?:best |better |rewritten |improved )?query (?:is|would be)|"
    r"rewritten query|query)\b[^?]*[:!]",
    re.I,
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def prose(query: str) -> str:
    """Return why a text is no query at all, or "": nothing in it, talk about a query, or too long."""
    if not any(character.isalnum() for character in query):
        return "an empty query"
    if _PREAMBLE.match(query.strip()) or query.rstrip().endswith(":"):
        return "talk about a query, not a query"
    words = len(query.split())
    return f"{words:,} words of prose" if words > LONGEST_QUERY_WORDS else ""


def loses(asked: str, query: str) -> str:
    """Return what a rewording loses of what was asked, or "" when all that must survive does."""
    shape = read_question(asked)
    for kept in (*shape.identifiers, *shape.quoted):
        if not holds_exactly(kept, query):
            return f"it loses {kept!r}"
    gone = numbers_of(asked) - numbers_of(query)
    if gone:
        return f"it loses the number {min(gone)}"
    if shape.negated and not read_question(query).negated:
        return "it loses the negation"
    return ""


def invents(query: str, known: Iterable[str]) -> str:
    """Return the number or identifier of a query that nothing known to the run holds, or ""."""
    texts = list(known)
    given = set().union(*(numbers_of(text) for text in texts))
    new = numbers_of(query) - given
    if new:
        return f"it brings in the number {min(new)}"
    strange = [
        one for one in read_question(query).identifiers if not any(holds_exactly(one, text) for text in texts)
    ]
    return f"it brings in {strange[0]!r}" if strange else ""


def numbers_of(text: str) -> set[str]:
    """Return the numbers of a text as written."""
    return set(_NUMBER.findall(text))
