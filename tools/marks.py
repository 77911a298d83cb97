"""When a document says that it holds: marks in settings, front matter, its opening words and its name.

Each kind of mark only fills what the stronger ones leave open. Only what a document says about itself
counts: no document can end another one by naming it. A date in running prose is no mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import PurePosixPath

from .dates import WRITTEN, Days, read_date
from .evidence import Validity
from .parse import format_of
from .rulebook import Given

MARKS = "marks/1"
"""Mark of the rules below; it changes when the marks of the same text would."""

OPENING = 600
"""Characters of a text in which a sentence of its own may be a mark."""

HEAD = 3000
"""Characters of a text in which a line such as `Valid until: …` may be a mark."""

_PROSE = frozenset({"markdown", "html", "pdf", "docx", "rst", "text"})
"""Formats whose texts may mark themselves; in code and data the same words are about something else."""

UNNAMED = "a newer version"
"""What replaced a version that is marked as replaced without a name."""

_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.S | re.M)
_FIELD = re.compile(r"^([A-Za-z][\w -]{0,30}?)[ \t]*:[ \t]*(.*?)[ \t]*$", re.M)
_BEGINS = frozenset(
    {"valid_from", "valid_since", "effective", "effective_from", "effective_date", "in_force_from"}
)
_ENDS = frozenset(
    {
        "valid_until",
        "valid_to",
        "valid_through",
        "expires",
        "expires_on",
        "expiry",
        "expiry_date",
        "expiration",
    }
    | {"expiration_date", "effective_until", "in_force_until"}
)
_REPLACED = frozenset({"superseded_by", "replaced_by", "supersededby", "replacedby"})

_KIND = (
    r"(?:document|polic(?:y|ies)|version|edition|issue|revision|page|guide(?:line)?s?|handbook|manual|regulations?|"
    r"directive|rules?|agreement|contract|notice|list|tariffs?|schedule|circular|memo(?:randum)?|procedures?|standard|"
    r"statement|terms|conditions|text|file|instructions?|plan|sheet|catalogue|catalog|prices|rates|fees|order|charter)"
)
_SELF = (
    rf"(?:(?:this|these|the present)[ ](?:[\w-]+[ ]){{0,2}}?{_KIND}[ ]"
    r"(?:(?:is|are|was|were|has been|have been)[ ])?)"
)
_OPENS = rf"(?:[Ss]tatus[ ]*:[ ]*)?{_SELF}?"
_FROM = r"(?:valid|effective|in[ ]force|in[ ]effect|applies|apply|applicable|holds)"
_BEGIN = (
    rf"(?:{_FROM}|comes?[ ]into[ ](?:force|effect))[ ]*:?[ ]*"
    r"(?:date[ ]*:?[ ]*|as[ ](?:of|from)[ ]|from[ ]*:?[ ]*|since[ ]*:?[ ]*|on[ ])?"
)
_END = (
    rf"(?:{_FROM}[ ](?:until|till|to|through|up[ ]to)|expir(?:es|ed|y|ation)(?:[ ]date)?(?:[ ]on)?|"
    r"(?:ends|ended|ceases[ ]to[ ]apply|ceased[ ]to[ ]apply)[ ]on)[ ]*:?[ ]*"
)
_TO = r"[ ]*(?:,[ ]*)?(?:to|until|till|through|up[ ]to|and[ ](?:valid[ ]|expires[ ])?(?:until|on)|[-–—])[ ]*"
_STOP = r"(?=[ ]*(?:[.;)\]|*_]|$))"
_SAYS_BEGIN = re.compile(rf"{_OPENS}{_BEGIN}(?P<first>{WRITTEN})(?:{_TO}(?P<last>{WRITTEN}))?{_STOP}", re.I)
_SAYS_END = re.compile(rf"{_OPENS}{_END}(?P<last>{WRITTEN}){_STOP}", re.I)
_BY = r"(?:superseded|replaced|obsoleted)"
_SAYS_REPLACED = re.compile(
    rf"{_OPENS}{_BY}(?:[ ]on[ ](?P<on>{WRITTEN}))?[ ]+by[ ]*:?[ ]*(?P<by>[^\n]{{1,200}})", re.I
)
_SAYS_OBSOLETE = re.compile(
    rf"(?:[Ss]tatus[ ]*:[ ]*(?:superseded|replaced|obsolete|withdrawn|outdated)|"
    rf"{_SELF}(?:superseded|obsolete|outdated|no[ ]longer[ ](?:valid|in[ ]force)))(?![ ]+(?:by|on)\b){_STOP}",
    re.I,
)
_TARGET_LINK = re.compile(r"\[[^\]]*\]\(<?([^()\s>]+)>?(?:[ ]+\"[^\"]*\")?\)")
_TARGET_QUOTED = re.compile(r"[`\"“«']([^`\"”»']{1,80})[`\"”»']")
_TARGET_WORDS = re.compile(
    r"[^\s.;,()\[\]|*]+(?:[./][^\s.;,()\[\]|*]+)*(?:[ ]+[^\s.;,()\[\]|*]+)*?"
    rf"(?=[ ]+(?:on|from|as[ ]of|since|with[ ]effect[ ]from)[ ]+(?:{WRITTEN})|[ ]*(?:[.;,()|*]|$))",
    re.I,
)
_WHEN = re.compile(rf"[ ]+(?:on|from|as[ ]of|since|with[ ]effect[ ]from)[ ]+(?P<on>{WRITTEN})", re.I)
_MARKUP = re.compile(r"^[\s>#*_:\-–—|(\[{]+|\*+")
_PAIR = re.compile(r"^\|[ ]*([^|]+?)[ ]*\|[ ]*([^|]+?)[ ]*\|$")
_SENTENCE = re.compile(r"(?<=[.;!?])[ ]+(?=[A-Z(\[*_])|[ ]+\|[ ]+")
_STATUS_LINE = re.compile(
    r"(?:status|valid|effective|in force|in effect|expir(?:es|y|ation|ed)|superseded|replaced)\b[\w ]{0,20}:",
    re.I,
)

_NAME_DATE = re.compile(
    r"(?<![0-9])(?<![A-Z]-)(?:"
    r"(?P<packed>(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))"
    r"|(?:19|20)\d\d[-_.](?:0[1-9]|1[0-2])(?:[-_.](?:0[1-9]|[12]\d|3[01]))?"
    r"|(?:19[5-9]|20)\d\d(?![-_.]\d\d(?!\d)))(?![0-9])"
)
"""A day, a month or a year in a name; `ISO-2023` is a name itself, and `2023-24` may be many things."""

_NAME_VERSION = re.compile(
    r"(?<![A-Za-z0-9])(?:v|ver|version|rev|revision)[-_. ]?(\d{1,4}(?:\.\d{1,4})*)(?![0-9A-Za-z])", re.I
)


def read_marks(text: str, path: str, given: Given) -> Validity:
    """Return when a document holds by its text, its path and what the settings give."""
    front = _FRONT_MATTER.match(text) if format_of(path) in _PROSE else None
    body = text[front.end() if front else 0 :][:HEAD]
    validity = given.validity
    if front and given.front_matter:
        validity = _filled(validity, _front_marks(_fields(front[1])))
    for said in _text_marks(body) if format_of(path) in _PROSE else ():
        validity = _filled(validity, said)
    named = date_of_name(path)
    return _filled(validity, Validity(valid_from=named)) if named else validity


def date_of_name(path: str) -> str | None:
    """Return the day that the only date in the name of a file begins with, as ISO 8601."""
    found = [days for days in map(_name_days, _NAME_DATE.finditer(PurePosixPath(path).stem)) if days]
    return found[0].first.isoformat() if len(found) == 1 else None


@dataclass(frozen=True, slots=True)
class Series:
    """A path without the date and version in the name of its file, and that version: () when it has none."""

    name: str
    version: tuple[int, ...]
    is_versioned: bool


def name_series(path: str) -> Series:
    """Return the series a document belongs to by its name: `travel_2023.md`, `travel_2024.md`."""
    place = PurePosixPath(path)
    undated = _NAME_DATE.sub("", place.stem)
    versions = list(_NAME_VERSION.finditer(undated))
    bare = _NAME_VERSION.sub("", undated)
    words = " ".join(re.findall(r"[^\W_]+", bare.casefold()))
    number = tuple(int(part) for part in versions[0][1].split(".")) if len(versions) == 1 else ()
    name = f"{place.parent}/{words}{place.suffix.casefold()}"
    return Series(name, number, bool(words) and bare != place.stem)


def _name_days(match: re.Match[str]) -> Days | None:
    packed = match["packed"]
    written = f"{packed[:4]}-{packed[4:6]}-{packed[6:]}" if packed else match.group(0)
    return read_date(re.sub(r"[_.]", "-", written))


def _filled(validity: Validity, said: Validity) -> Validity:
    """Fill what is open; a day that would end a version before it begins is left out."""
    begins = validity.valid_from or said.valid_from
    ends = validity.valid_until or said.valid_until
    if begins and ends and begins > ends:
        begins, ends = validity.valid_from, validity.valid_until
    return Validity(begins, ends, validity.superseded_by or said.superseded_by)


def _fields(front: str) -> dict[str, str]:
    """Return the plain fields of a front matter; the first of a name counts."""
    fields: dict[str, str] = {}
    for match in _FIELD.finditer(front):
        name = re.sub(r"[ -]+", "_", match[1].strip()).casefold()
        fields.setdefault(name, re.sub(r"\s+#.*$", "", match[2]).strip().strip("\"'"))
    return fields


def _front_marks(fields: Mapping[str, str]) -> Validity:
    begins = next(
        (days for name, value in fields.items() if name in _BEGINS and (days := read_date(value))), None
    )
    ends = next(
        (days for name, value in fields.items() if name in _ENDS and (days := read_date(value))), None
    )
    by = next((value for name, value in fields.items() if name in _REPLACED and value), None)
    return _said(begins, ends, _target(by)[0] if by else _obsolete(fields.get("status", "")))


def _obsolete(status: str) -> str | None:
    line = f"Status: {status}"
    replaced = _SAYS_REPLACED.match(line)
    if replaced:
        return _target(replaced["by"])[0]
    return UNNAMED if _SAYS_OBSOLETE.match(line) else None


def _text_marks(body: str) -> Iterator[Validity]:
    """Yield the marks in the opening sentences and the status lines of a text, in order."""
    at = 0
    titled = False
    for line in body.splitlines(keepends=True):
        bare = line.strip()
        if bare:
            yield from _line_marks(bare, at < OPENING, first=not titled)
            titled = True
        at += len(line)


def _line_marks(line: str, opening: bool, first: bool) -> Iterator[Validity]:
    """Yield what the sentences of a line say; behind the opening only a status line may say anything."""
    for sentence in _SENTENCE.split(_PAIR.sub(r"\1: \2", line)):
        bare = _MARKUP.sub("", sentence)
        if opening or _STATUS_LINE.match(bare):
            yield from _sentence_mark(bare)
    if first:
        yield from _title_mark(_MARKUP.sub("", line))


def _title_mark(title: str) -> Iterator[Validity]:
    """Yield what stands behind the name of a document: `Travel policy (valid from 1 January 2024)`."""
    for match in re.finditer(r",[ ]+|[ ]+[-–—][ ]+|[(\[]", title):
        yield from _sentence_mark(title[match.end() :])


def _sentence_mark(sentence: str) -> Iterator[Validity]:
    if match := _SAYS_BEGIN.match(sentence):
        yield _said(read_date(match["first"]), read_date(match["last"]) if match["last"] else None, None)
    elif match := _SAYS_END.match(sentence):
        yield _said(None, read_date(match["last"]), None)
    elif match := _SAYS_REPLACED.match(sentence):
        by, on = _target(match["by"])
        on = on or (read_date(match["on"]) if match["on"] else None)
        yield Validity(None, _day_before(on.first) if on else None, by)
    elif _SAYS_OBSOLETE.match(sentence):
        yield Validity(superseded_by=UNNAMED)


def _said(begins: Days | None, ends: Days | None, by: str | None) -> Validity:
    return Validity(begins.first.isoformat() if begins else None, ends.last.isoformat() if ends else None, by)


def _day_before(day: date) -> str | None:
    return (day - timedelta(days=1)).isoformat() if day > date.min else None


def _target(words: str) -> tuple[str, Days | None]:
    """Return what a version is replaced by, as written without markup, and since when if that is said."""
    for pattern in (_TARGET_LINK, _TARGET_QUOTED):
        if match := pattern.match(words):
            return match[1].strip(), _since(words[match.end() :])
    match = _TARGET_WORDS.match(words)
    name = match.group(0).strip("_ ") if match else ""
    return name[:120] or UNNAMED, _since(words[match.end() :]) if match else None


def _since(rest: str) -> Days | None:
    match = _WHEN.match(rest)
    return read_date(match["on"]) if match else None
