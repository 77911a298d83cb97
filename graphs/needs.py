"""Split a question into the needs its answer must meet: conjunctions, several questions, comparisons."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..tools.analyze import content_words, identifiers
from ..tools.dates import YEAR
from .policy import Need
from .question import read_question
from .times import without_time

MOST_NEEDS = 4
"""Needs of one question at most; a longer list is asked as one."""

_THING = r"(?:the |a |an |its |their )?[\w%./+#'’-]+(?: [\w%./+#'’-]+){0,3}?"
_TWO_ASPECTS = re.compile(
    rf"^(?P<head>(?:what|which|who|how much|how many|when|where)\b.*?\b(?:is|are|was|were)) "
    rf"(?P<a>{_THING})(?P<more>(?:, {_THING})*),? and (?P<b>{_THING}) (?P<tail>(?:of|for|in|on|at|to) .+)$",
    re.I,
)
_TWO_CLAUSES = re.compile(
    r",? and (?=(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|does|do|did|can)\b)", re.I
)
_BETWEEN = re.compile(
    r"^(?P<head>.*?\b(?:differences?|compare|comparison|distance|relation(?:ship)?)\b.*?)\b(?:between )?"
    rf"(?P<a>{_THING}) (?:and|with|to|versus|vs\.?) (?P<b>{_THING})(?P<tail>(?: (?:in|for|on|by|at)\b.*)?)$",
    re.I,
)
_CHOICE = re.compile(
    rf"^(?P<head>(?:which|who|what|where)\b.*?)[,:;] ?(?P<a>{_THING}),? or (?P<b>{_THING})$", re.I
)
_THAN = re.compile(
    rf"^(?P<head>is|are|was|were|does|do|did|has|have) (?P<a>{_THING}) "
    r"(?P<how>(?:\w+er|more \w+|less \w+|\w+ \w+er)\b.*?)"
    rf" than (?P<b>{_THING})$",
    re.I,
)
_BOTH = re.compile(
    r"^(?P<head>(?:are|were|do|did|does|have|has|can|what do|what does|what did|when did|when do|when does|"
    rf"where do|how do|why do)) (?:both )?(?P<a>{_THING}) and (?P<b>{_THING}) "
    r"(?P<tail>(?:stand|mean|have|cost|use|run|work|differ|share|both|located|the same|from|apply|need|"
    r"require)\b.*)$",
    re.I,
)
_EITHER = re.compile(
    rf"^(?P<head>does|do|did|is|are|was|were|has|have|can) (?P<a>{_THING}) or (?P<b>{_THING}) "
    r"(?P<tail>(?:\w+ )?(?:more|less|fewer|\w+er)\b.*)$",
    re.I,
)
_JOINED_IDENTIFIERS = re.compile(r"(?P<a>\S+),? (?:and|or|versus|vs\.?) (?P<b>\S+)")
_JOINED_YEARS = re.compile(
    rf"\b(?P<how>in|for|during) (?P<a>{YEAR}),? (?:and|or|versus|vs\.?) "
    rf"(?:(?:in|for|during) )?(?P<b>{YEAR})\b"
)
_ORDER = re.compile(r"^(?:please )?(?:compare|contrast)\s+", re.I)
IT = re.compile(
    r"\b(?:it|they|(?:that|this|those|these)(?= ?(?:[?.,]|$|(?:is|are|was|were|in|last)\b)))\b", re.I
)
"""A pronoun that stands for a thing, not before a noun of its own."""
_DETERMINED = r"(?:the|an?|our|my|your|each|every)"
_THING_ASKED = (
    re.compile(
        rf"^(?:what|which|who|where|when|how \w+) (?:is|are|was|were) (?P<thing>{_DETERMINED} .+)$", re.I
    ),
    re.compile(rf"^(?:is|are|was|were) (?P<thing>{_DETERMINED} [\w-]+)\b", re.I),
    re.compile(
        rf"\b(?:does|do|did|can|may|must) (?P<thing>{_DETERMINED} (?:[\w-]+ ){{1,4}}?)(?:[\w-]+)$", re.I
    ),
)
_PRONOUN = re.compile(
    r"\b(?:it|its|they|their|them|this|that|these|those|he|she|his|her|one|ones|there)\b", re.I
)


def split_needs(question: str) -> tuple[tuple[Need, ...], bool]:
    """Return the needs of a question and whether they are compared with each other."""
    text = question.strip().rstrip("?!. ").strip()
    compared = _compared(text)
    if compared:
        return compared, True
    parts = _conjoined(text)
    if len(parts) < 2 or len(parts) > MOST_NEEDS:
        return (Need("n1", question.strip()),), False
    return tuple(Need(f"n{i}", f"{part}?") for i, part in enumerate(parts, 1)), False


def _compared(text: str) -> tuple[Need, ...]:
    """Return one need a side of a comparison, or nothing."""
    named = _joined_identifiers(text) or _joined_years(text)
    if named:
        return named
    for pattern in (_CHOICE, _THAN, _BETWEEN, _BOTH, _EITHER):
        match = pattern.match(text)
        if match and all(_carries(match[side]) for side in ("a", "b")):
            head, how = (
                _ORDER.sub("", f"{match['head']} ").strip(),
                match.groupdict().get("how") or match.groupdict().get("tail") or "",
            )
            sides = [match["a"].strip(), match["b"].strip()]
            texts = [" ".join(f"{head} {side} {how}".split()) for side in sides]
            return tuple(
                Need(f"n{i}", f"{part}?", subject)
                for i, (part, subject) in enumerate(zip(texts, sides, strict=True), 1)
            )
    return ()


def _joined_identifiers(text: str) -> tuple[Need, ...]:
    """Return one need for each of two identifiers that a question joins: `permits S-101 and S-103`."""
    known = identifiers(text)
    for match in _JOINED_IDENTIFIERS.finditer(text):
        sides = [match["a"].strip(",;"), match["b"].strip(",;")]
        if all(side in known for side in sides):
            before, behind = text[: match.start()], text[match.end() :]
            texts = [" ".join(f"{_ORDER.sub('', before)} {side} {behind}".split()) for side in sides]
            pairs = enumerate(zip(texts, sides, strict=True), 1)
            return tuple(Need(f"n{i}", f"{part}?", side) for i, (part, side) in pairs)
    return ()


def _joined_years(text: str) -> tuple[Need, ...]:
    """Return one need for each of two years that a question joins: `in 2023 and 2024`."""
    match = _JOINED_YEARS.search(text)
    if match is None:
        return ()
    before, behind = _ORDER.sub("", text[: match.start()]), text[match.end() :]
    sides = [match["a"], match["b"]]
    texts = [" ".join(f"{before} {match['how']} {year} {behind}".split()) for year in sides]
    return tuple(
        Need(f"n{i}", f"{part}?", side) for i, (part, side) in enumerate(zip(texts, sides, strict=True), 1)
    )


def _conjoined(text: str) -> list[str]:
    """Return the parts of a question that asks several things."""
    questions = [part.strip() for part in re.split(r"\?\s+", text) if part.strip()]
    if len(questions) > 1 and all(_carries(part) for part in questions):
        return _with_subject(questions)
    aspects = _TWO_ASPECTS.match(text)
    if aspects:
        things = [aspects["a"], *(aspects["more"].split(", ")[1:]), aspects["b"]]
        return [f"{aspects['head']} {thing.strip()} {aspects['tail']}" for thing in things]
    clauses = [part.strip() for part in _TWO_CLAUSES.split(text)]
    if len(clauses) > 1 and all(_carries(part) for part in clauses):
        return _with_subject(clauses)
    return [text]


def _with_subject(parts: Sequence[str]) -> list[str]:
    """Give later parts that only say "it" the names, identifiers or nouns of the first part."""
    first, *rest = parts
    return [first, *(_with_subject_of(first, part) if lacks_subject(part) else part for part in rest)]


def _with_subject_of(first: str, part: str) -> str:
    """Return a part with the thing the first one asks about for its pronoun, else with its subject."""
    subject, thing = subject_of(first), thing_of(first)
    if thing and not _named(first) and IT.search(part):
        return IT.sub(thing, part, count=1)
    return f"{part} ({subject})" if subject else part


def subject_of(text: str) -> str:
    """Return the words that say what a question is about: identifiers, names, else its last content word."""
    named = _named(text)
    if named:
        return " ".join(named)
    bare = without_time(text)
    words = [bare[token.start : token.end] for token in content_words(bare)]
    return words[-1] if words else ""


def thing_of(question: str) -> str:
    """Return the thing a question asks about, without the time it is asked for; "" when it is not plain."""
    bare = without_time(question).rstrip("?!. ")
    found = (pattern.search(bare) for pattern in _THING_ASKED)
    return next((match["thing"].strip() for match in found if match), "")


def _named(text: str) -> list[str]:
    shape = read_question(text)
    return list(dict.fromkeys([*shape.identifiers, *shape.quoted, *shape.names]))


def lacks_subject(text: str) -> bool:
    """Tell whether a question leans on an earlier one: a pronoun and no name or identifier of its own."""
    return bool(_PRONOUN.search(text)) and not identifiers(text) and not read_question(text).names


def _carries(text: str) -> bool:
    return bool(content_words(text))
