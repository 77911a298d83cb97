"""What a question asks for: its decisive words, identifiers, names, and the type of its answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ..tools.analyze import content_words, identifiers, terms

AnswerType = Literal[
    "money",
    "duration",
    "date",
    "version",
    "phone",
    "number",
    "person",
    "reason",
    "name",
    "definition",
    "place",
    "yes_no",
    "open",
]
REQUIRED = frozenset({"money", "duration", "date", "version", "phone", "number", "person"})
"""Types whose absence keeps a sentence from answering; the others only say which sentence is better."""

_TIME_UNIT = (
    r"(?:second|minute|hour|day|night|week|month|quarter|year|millisecond|ms|decade|centur(?:y|ie))s?"
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_COUNT_WORD = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|"
    r"thousand|million|once|twice|half|dozen|none|zero|no)"
)
_QUANTITY = (
    r"(?:limit|rate|temperature|size|weight|length|height|width|speed|number|amount|maximum|minimum|distance|"
    r"pressure|torque|capacity|population|percentage|age|largest value|smallest value)"
)
_PRICE = r"(?:cost|costs|price|fare|fee|rent|salary|deposit|budget|fine)"

_NAMED_THING = (
    r"(?:option|flag|switch|command|function|method|class|helper|parameter|setting|variable|module|package|"
    r"header|directive|keyword|operator|attribute|property|field|code)"
)


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_TYPES: tuple[tuple[AnswerType, re.Pattern[str]], ...] = (
    (
        "money",
        _any_of(
            r"\bhow much\b.*\b(?:cost|pay|charge|price|fee)",
            rf"\b(?:what|how much)\b.*\b{_PRICE}\b",
            r"\bhow expensive\b",
        ),
    ),
    (
        "duration",
        _any_of(
            r"\bhow (?:long|often|soon|quickly)\b",
            rf"\b(?:how many|number of) {_TIME_UNIT}\b",
            r"\bwhat (?:is|was) the (?:duration|deadline|notice period)\b",
        ),
    ),
    (
        "date",
        _any_of(r"^when\b", r"\b(?:what|which) (?:date|day|year|month|time)\b", r"\b(?:since|until) when\b"),
    ),
    ("version", _any_of(r"\b(?:which|what) (?:\w+ )?(?:version|release)\b")),
    ("phone", _any_of(r"\b(?:tele)?phone number\b", r"\bfax number\b")),
    (
        "number",
        _any_of(
            rf"\b(?:which|what) {_QUANTITY}s?\b",
            r"\bhow (?:many|much|far|fast|tall|high|heavy|old|large|big|deep|wide)\b",
            r"\bwhat (?:percentage|percent|number|share|proportion|fraction)\b",
            rf"\bwhat (?:is|was|are|were) the (?:\w+ ){{0,3}}{_QUANTITY}\b",
        ),
    ),
    ("reason", _any_of(r"^why\b", r"\bfor what reason\b", r"\bwhat (?:is|was|were|are) the reasons?\b")),
    ("person", _any_of(r"^(?:who|whom|whose)\b", r"\b(?:and|,) who\b")),
    (
        "place",
        _any_of(
            r"^where\b", r"\b(?:in|at|to|from) (?:which|what) (?:city|country|place|town|room|street|state)\b"
        ),
    ),
    ("name", _any_of(rf"\b(?:which|what) (?:[\w-]+ ){{0,3}}?{_NAMED_THING}s?\b")),
    (
        "definition",
        _any_of(r"^what (?:is|are|was|were) (?!the \w+ of\b)(?:an? |the )?[\w. -]{2,40}(?:$|[?,])"),
    ),
    (
        "yes_no",
        _any_of(
            r"^(?:is|are|was|were|do|does|did|can|could|may|must|should|shall|will|would|has|have|had|am)\b"
        ),
    ),
)

_DIGITS = r"\d+(?:[.,]\d+)*"
_EVIDENCE: dict[AnswerType, re.Pattern[str]] = {
    "money": _any_of(_DIGITS, rf"\b(?:free|{_COUNT_WORD})\b"),
    "duration": _any_of(
        rf"(?:\d|\b{_COUNT_WORD}\b|\b(?:a|an|each|every|per)\b)[\w,.\- ]{{0,24}}?{_TIME_UNIT}\b",
        r"\b(?:daily|weekly|monthly|yearly|annually|hourly)\b",
        rf"\b{_MONTH}\b",
    ),
    "date": _any_of(
        r"\b\d{1,2}:\d\d\b",
        rf"\b{_MONTH}\b",
        r"\b(?:1[0-9]|20)\d\d\b",
        r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b",
        r"\b\d{1,2}(?:st|nd|rd|th|\s?[ap]\.?m)\b",
        r"\b(?:noon|midnight|morning|evening|today|spring|summer|autumn|winter)\b",
        r"\b(?:after|before|within|until|when|once)\b",
    ),
    "version": _any_of(
        r"\b(?:versions?|releases?|v\.?)\s*\d[\d.]*",
        r"\b(?:since|as of|before|after|in|until|from|to)\s+v?\d+(?:\.\d+)+",
        r"\b(?!(?:section|chapter|table|figure|part|appendix|example|page|step)\b)[a-z]\w+ v?\d+(?:\.\d+)+\b",
    ),
    "phone": _any_of(r"\+?\d[\d ()/-]{4,}\d"),
    "reason": _any_of(
        r"\b(?:because|since|due to|owing to|as a result|reasons?|therefore)\b",
        r"\b(?:so that|in order to|so as to|thus|hence)\b",
        r"\bto (?:avoid|prevent|ensure|allow|make|keep|enable|reduce|protect)\b",
    ),
    "place": _any_of(r"\b(?:at|in|on|near|from|to|behind|under|opposite|beside|into)\s+(?:the\s+)?\w+"),
    "number": _any_of(_DIGITS, rf"\b{_COUNT_WORD}\b"),
}
_UNITS = (
    (re.compile(r"\btemperatures?\b", re.I), re.compile(r"°|\bdegrees?\b|\b[CFK]\b")),
    (
        re.compile(r"\b(?:weights?|heavy|weigh)\b", re.I),
        re.compile(r"\b(?:kg|g|t|mg|lbs?|oz|tons?|tonnes?|grams?)\b"),
    ),
    (
        re.compile(r"\b(?:speeds?|fast)\b", re.I),
        re.compile(r"/h\b|/s\b|\bmph\b|\bknots?\b|\bper (?:hour|second)\b"),
    ),
    (re.compile(r"\b(?:pressures?)\b", re.I), re.compile(r"\b(?:bar|psi|[kMh]?Pa)\b")),
    (re.compile(r"\b(?:percent|percentage|share)\b", re.I), re.compile(r"%|\bper ?cent\b")),
)
"""What a quantity is called in a question, and the units an answer to it is given in."""

_CALENDAR = _any_of(rf"{_MONTH}|(?:mon|tues|wednes|thurs|fri|satur|sun)days?")
_CAPITALISED = re.compile(r"\b[^\W\d_a-z][\w'’-]*")
_QUOTED = re.compile(r"[\"“«„]([^\"”»“]{2,80})[\"”»“]|(?<!\w)'([^']{2,80})'(?!\w)|`([^`]{2,80})`")
_CODE = re.compile(r"`([^`]+)`")
_FOCUS = re.compile(
    r"\b(?:which|what)\s+((?:[\w./+#-]+\s+){0,3}?[\w./+#-]+)\s+"
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|should|must|may|will|would|runs?|\w+s|\w+ed)\b",
    re.I,
)
_MEASURE = re.compile(
    r"\bhow (far|fast|tall|high|heavy|old|large|big|deep|wide|expensive|often|soon|quickly)\b", re.I
)
_NEGATION = re.compile(r"\b(?:not|no|never|without|neither|nor|none|cannot|\w+n['’]t)\b", re.I)
_DENIAL = re.compile(r"\b(?:not|never|cannot|\w+n['’]t)\b(?! only)", re.I)
_NOUNS_OF_TYPE = frozenset(
    terms(
        "option command setting parameter function method helper tool type kind version number amount name "
        "way value code file page section document people person thing part word term reason role purpose "
        "done happen happens meaning difference definition default abstract according called mean stand cost "
        "time long times"
    )
)


@dataclass(frozen=True, slots=True)
class Question:
    """The shape of a question or need; `terms` are index terms of its content words, in order, once each.

    `focus` are terms that only name the kind of thing asked for (`which option`): evidence may lack them.
    `compounds` are words joined by hyphens, of which evidence must hold a part.
    """

    text: str
    terms: tuple[str, ...]
    focus: frozenset[str]
    identifiers: tuple[str, ...]
    quoted: tuple[str, ...]
    names: tuple[str, ...]
    compounds: tuple[str, ...]
    wants: AnswerType
    negated: bool

    @property
    def denies(self) -> bool:
        """Tell whether the question asks for what is not so, which only a denial answers."""
        return self.wants != "yes_no" and bool(_DENIAL.search(self.text))

    @property
    def decisive(self) -> tuple[str, ...]:
        """Return the terms evidence is expected to hold: all but the focus, unless nothing else is left."""
        return tuple(term for term in self.terms if term not in self.focus) or self.terms


@lru_cache(maxsize=512)
def read_question(text: str) -> Question:
    """Return the shape of a question."""
    found = dict.fromkeys(token.term for token in content_words(text))
    quoted = tuple(dict.fromkeys(next(filter(None, match.groups())) for match in _QUOTED.finditer(text)))
    return Question(
        text=text,
        terms=tuple(found),
        focus=_focus_terms(text, tuple(found)),
        identifiers=tuple(identifiers(text)),
        quoted=quoted,
        names=_names(text),
        compounds=tuple(dict.fromkeys(re.findall(r"\b[^\W\d_]{2,}(?:-[^\W\d_]{2,})+\b", text))),
        wants=answer_type(text),
        negated=bool(_NEGATION.search(text)),
    )


def answer_type(text: str) -> AnswerType:
    """Return the type of answer the question wants; "open" where its words do not tell."""
    folded = " ".join(text.casefold().split())
    return next((wanted for wanted, pattern in _TYPES if pattern.search(folded)), "open")


def holds_type(wanted: AnswerType, sentence: str, question: str) -> bool:
    """Tell whether a sentence holds something of the wanted type that the question does not hold itself."""
    if wanted in ("yes_no", "open"):
        return True
    if wanted == "definition":
        return _defines(sentence, question)
    if wanted == "name":
        return any(name not in question for name in [*identifiers(sentence), *_CODE.findall(sentence)])
    asked = question.casefold()
    if wanted == "person":
        return any(name.casefold() not in asked for name in _person_words(sentence))
    if wanted == "number" and not _has_unit(sentence, question):
        return False
    found = (match.group(0).casefold() for match in _EVIDENCE[wanted].finditer(sentence))
    return any(value not in asked for value in found)


def _person_words(sentence: str) -> list[str]:
    """Return capitalised words that may name someone: not the first one alone, no month, no weekday."""
    words = list(_CAPITALISED.finditer(sentence))
    begins = bool(words) and not sentence[: words[0].start()].strip(' -*•`"“')
    pair = len(words) > 1 and words[1].start() - words[0].end() == 1
    kept = words[1:] if begins and not pair else words
    return [word.group(0) for word in kept if not _CALENDAR.fullmatch(word.group(0))]


def _defines(sentence: str, question: str) -> bool:
    """Tell whether a sentence begins by saying what the thing asked for is."""
    asked = [token.term for token in content_words(question)][:1]
    head, verb, _ = sentence.partition(" is ") if " is " in sentence else sentence.partition(" are ")
    return bool(verb) and len(head.split()) <= 6 and bool(set(asked) & set(terms(head)))


def _has_unit(sentence: str, question: str) -> bool:
    """Tell whether a sentence holds a unit of the quantity that a question names, where it names one."""
    asked = [unit for noun, unit in _UNITS if noun.search(question)]
    return not asked or any(unit.search(sentence) for unit in asked)


def _focus_terms(text: str, found: tuple[str, ...]) -> frozenset[str]:
    """Return terms that name the kind of the answer: the noun behind "which", the measure behind "how"."""
    match = _FOCUS.search(text)
    head = terms(match.group(1).split()[-1]) if match and match.group(1) else []
    head += [term for measure in _MEASURE.findall(text) for term in terms(measure)]
    return frozenset(term for term in found if term in _NOUNS_OF_TYPE or term in head)


def _names(text: str) -> tuple[str, ...]:
    """Return capitalised words that are not capitalised only because a sentence begins."""
    starts = {0} | {match.end() for match in re.finditer(r"[.?!:]\s+|\n", text)}
    shouted = text.upper() == text
    found = [
        match.group(0)
        for match in _CAPITALISED.finditer(text)
        if not shouted
        and (match.start() not in starts or match.group(0)[1:].casefold() != match.group(0)[1:])
    ]
    return tuple(dict.fromkeys(name.removesuffix("'s").removesuffix("’s") for name in found if len(name) > 1))
