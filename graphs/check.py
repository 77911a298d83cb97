"""Check a claim against the sentences it cites, in code; what code cannot settle is left to a judge.

A stated claim is supported when it is one or more whole cited sentences in order, a table row read out with
its header, or one contiguous piece of a cited sentence that loses no condition and no denial around it.
Spaces, dashes, quotation marks and markup are the only things normalised.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..tools.evidence import SentenceKind, Verdict
from ..tools.plain import plain, row_as_text
from .conversation import evaluate, format_number
from .policy import Draft

_NUMBER_WORDS = dict(
    zip(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
            "twenty",
        ],
        (str(number) for number in range(21)),
        strict=True,
    )
)
_NUMBER = re.compile(r"\d+(?:[,.]\d+)*")
_NEGATIVE = re.compile(r"\b(?:not|no|never|without|neither|nor|none|cannot|\w+n['’]t)\b", re.I)
_LIMITER = re.compile(r"\b(?:only|except|unless|solely|at least|at most|up to|until)\b", re.I)
_NAME = re.compile(r"(?<![.?!:]\s)(?<!^)\b[A-Z][\w-]+")
_DENIAL_BEFORE = re.compile(
    r"\b(?:den(?:y|ies|ied)|doubt\w*|disput\w+|reject\w*|refut\w+|claim\w*|alleg\w+|argu\w+|suggest\w*|believ\w+|"
    r"assum\w+|say|says|said|report\w*|rumou?r\w*|not|no|never|untrue|false|whether|if|unless|cannot|n['’]t)\b"
    r"(?:\W+\w+){0,11}?\W*(?:that|whether)?\W*$",
    re.I,
)
_CONDITION_BEHIND = re.compile(
    r"^\W*(?:unless|except|but|if|only|provided|as long as|however|until|when|where|in case)\b", re.I
)
_SMALL_BEFORE = re.compile(r"\b(?:not|never|no|only|without|hardly|rarely|cannot|n['’]t)\W*$", re.I)


_CLOSING = " \"'“”.;:!?"


@dataclass(frozen=True, slots=True)
class Cited:
    """A cited sentence with what governs it (headings, lead-in, header row)."""

    text: str
    governing: tuple[str, ...] = ()
    kind: SentenceKind = "prose"


@dataclass(frozen=True, slots=True)
class Checked:
    """A verdict with its reason; "not_judged" means that code could not settle it."""

    verdict: Verdict
    reason: str


def check(draft: Draft, cited: Sequence[Cited]) -> Checked:
    """Return the verdict on a draft by the sentences it cites."""
    if not cited:
        return Checked("not_found", "it cites nothing that is held")
    if draft.kind == "computed":
        return _check_computed(draft, cited)
    claim = _bare(draft.text)
    if is_whole(claim, [_bare(sentence.text) for sentence in cited]):
        return Checked("supported", "it is the cited text itself")
    if any(claim == _bare(row_as_text(sentence.text, sentence.governing)) for sentence in cited):
        return Checked("supported", "it is the cited row under its header")
    quoted = re.fullmatch(r"[^“”]*“(.+)”\W*", draft.text, re.S)
    pieces = [_bare(quoted[1])] if quoted else [claim]
    return _check_piece(pieces[0], cited) or _check_words(draft.text, cited)


def is_whole(claim: str, sentences: Sequence[str]) -> bool:
    """Tell whether a claim consists of whole sentences from the list, in their order."""
    rest = claim.casefold()
    for sentence in sentences:
        if sentence and rest.startswith(sentence.casefold()):
            rest = rest[len(sentence.casefold()) :].lstrip(_CLOSING)
    return bool(claim) and not rest


def _check_piece(claim: str, cited: Sequence[Cited]) -> Checked | None:
    """Settle a claim that stands contiguously in one cited sentence or across consecutive ones."""
    texts = [plain(sentence.text) for sentence in cited]
    for text in (*texts, " ".join(texts)):
        place = _find(claim, text)
        if place is None:
            continue
        before, behind = text[: place[0]], text[place[1] :]
        cut = _cut_condition(before, behind)
        if cut:
            return Checked("not_found", f"it leaves out “{cut}” beside it in the source")
        return Checked("supported", "it stands word for word in the cited text")
    return None


def _cut_condition(before: str, behind: str) -> str:
    """Return the words of a denial, limit or condition that cutting a piece out of a sentence lost."""
    clause = re.split(r"(?<=[.!?]) ", before)[-1]
    near = " ".join(clause.split()[-12:])
    for pattern in (_SMALL_BEFORE, _DENIAL_BEFORE):
        match = pattern.search(near)
        if match:
            return match.group(0).strip()
    match = _CONDITION_BEHIND.search(behind)
    return match.group(0).strip() if match else ""


def _check_words(text: str, cited: Sequence[Cited]) -> Checked:
    """Refuse what numbers, negations, limits or names rule out; leave the rest to a judge."""
    source = " ".join(part for sentence in cited for part in (*sentence.governing, sentence.text))
    missing = _numbers(text) - _numbers(source)
    if missing:
        return Checked("not_found", f"the number {sorted(missing)[0]} is not in the cited text")
    own = " ".join(sentence.text for sentence in cited)
    if bool(_NEGATIVE.search(text)) != bool(_NEGATIVE.search(own)):
        return Checked("contradicted", "it and the cited text differ in a negation")
    lost = {word.casefold() for word in _LIMITER.findall(own)} - {
        word.casefold() for word in _LIMITER.findall(text)
    }
    if lost:
        return Checked("not_found", f"it leaves out “{sorted(lost)[0]}” of the cited text")
    folded = source.casefold()
    names = [name for name in _NAME.findall(plain(text)) if name.casefold() not in folded]
    if names:
        return Checked("not_found", f"“{names[0]}” is not in the cited text")
    return Checked("not_judged", "its words are not those of the source")


def _check_computed(draft: Draft, cited: Sequence[Cited]) -> Checked:
    """Evaluate the formula of a computed claim and find its operands in the cited text."""
    value = evaluate(draft.formula or "")
    if value is None:
        return Checked("not_found", "its formula cannot be evaluated")
    source = _numbers(" ".join(sentence.text for sentence in cited))
    free = _numbers(draft.formula or "") - source - {"100"}
    if free:
        return Checked("not_found", f"the operand {sorted(free)[0]} is not in the cited text")
    if _canonical(format_number(value)) not in _numbers(draft.text.rpartition("=")[2] or draft.text):
        return Checked("contradicted", f"the formula gives {format_number(value)}")
    return Checked("supported", "it follows from the cited numbers")


def _numbers(text: str) -> set[str]:
    """Return the numbers of a text in one spelling: no thousands commas, words as digits."""
    words = {_NUMBER_WORDS[word] for word in re.findall(r"[a-z]+", text.casefold()) if word in _NUMBER_WORDS}
    return words | {_canonical(number) for number in _NUMBER.findall(text)}


def _canonical(number: str) -> str:
    plain_number = re.sub(r",(?=\d{3}\b)", "", number)
    return plain_number.rstrip("0").rstrip(".") if "." in plain_number else plain_number.lstrip("0") or "0"


def _bare(text: str) -> str:
    """Return plain text without closing punctuation, outer quotation marks and a first capital."""
    bare = plain(text).strip(_CLOSING)
    return bare[:1].casefold() + bare[1:]


def _find(claim: str, text: str) -> tuple[int, int] | None:
    """Find a claim in a text at word boundaries; a first capital does not matter."""
    if not claim:
        return None
    first = f"(?:{re.escape(claim[0])}|{re.escape(claim[0].upper())})"
    match = re.search(rf"(?<!\w){first}{re.escape(claim[1:])}(?![\w%])", text)
    return match.span() if match else None
