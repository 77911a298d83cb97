"""Turn text into index terms: identifiers whole and in parts, folded, stemmed, CJK in bigrams, with spans.

A chunk is a run of letters and digits with the joiners that identifiers use. Its parts are index terms; the
chunk as a whole is one more where it is joined, in camel case, or carries a sign (`--jobs`, `C++`, `%p`). A
whole is written without hyphens, underscores and apostrophes, so that `IL-6` is `IL6`, `e-mail` is `email`,
and `get_user_by_id` is `getUserById`; a hyphen between two digits stays.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import Stemmer

from .letters import MARKS, Spelt, fold, spell
from .stopwords import ACRONYMS, STOPWORDS

ANALYZER = "analyze/3"
"""Mark stored with each version; it changes when the terms of the same text would."""

LONGEST_TERM = 128
"""Characters of a term at most: a longer word is cut, a longer whole is left to its parts."""

_CJK = (
    "\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_LETTERS = rf"[^\W_{_CJK}]+(?:[{MARKS}]+[^\W_{_CJK}]*)*"
_THOUSANDS = r"(?<=\d)[,\u00a0](?=\d{3}(?!\d))"
_CHUNK = re.compile(
    rf"[{_CJK}]+"
    r"|§§?\s?\d\w*(?:\.\w+)*(?:-\d+)?(?:\s?\((?:\d{1,3}|[a-zA-Z]{1,2}|[ivx]{1,5})\))*"
    rf"|(?:(?<![\w./-])(?:--?|/|%|\$|@|\.)(?={_LETTERS}))?"
    rf"_*{_LETTERS}(?:(?:::|://|_+|['\-./:@&#]|{_THOUSANDS}){_LETTERS})*_*"
    r"(?:\+\+|\#(?!\w))?"
)
_CJK_LETTER = re.compile(f"[{_CJK}]")
_SIGN = re.compile(r"--?|[/%$@.]")
_TAIL = re.compile(r"(?:\+\+|\#)$")
_NUMBER_PART = r"\d+(?:[,\u00a0]\d{3}(?!\d)|\.\d+)*"
_PART = re.compile(rf"{_NUMBER_PART}|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_PART_ANY = re.compile(rf"{_NUMBER_PART}|[^\W\d_](?:[{MARKS}]|[^\W\d_])*")
_NUMBER = re.compile(r"\d+(?:[.,:\u00a0]\d+)*")
_DIGITS = re.compile(r"\d+")
_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.\d{4}")
_DAYS = re.compile(rf"{_DATE.pattern}|\d+(?:st|nd|rd|th)")
_POSSESSIVE = re.compile(r"'[sS]?$")
_CONTRACTION = re.compile(r"[^\W\d_]+'(?:t|re|ve|ll|d|m)", re.IGNORECASE)
_ACRONYM = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_JOINER = re.compile(r"(?<!\d)[-_']+|[-_']+(?!\d)")
_CAMEL = re.compile(r"[a-z][A-Z]")
_MEASURE = re.compile(r"[$%]?\d+(?:[.,]\d+)?(?:[a-zA-Z]{1,3}|-[a-z]+)?|[a-z]{4,}-\d+")
_PLAIN_COMPOUND = re.compile(r"[^\W\d_]+(?:[-/&'][^\W\d_]+)+")
_NAMED = re.compile(r"__\w+__|.*[^_]_[^_].*|_\w*[^\W_]|.+(?:::|://|@).+|(?:[\w.-]+/)+[\w-]+\.[a-zA-Z]\w{0,5}")
_DOTTED = re.compile(r"\w{2,}(?:\.\w{2,})+")

_local = threading.local()


@dataclass(frozen=True, slots=True)
class Token:
    """An index term and the span of the text it stands for."""

    term: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    """Return all index terms of a text with their spans, in order; a whole comes before its parts."""
    spelt = spell(text)
    return [token for match in _CHUNK.finditer(spelt.text) for token in _placed(match, spelt)]


def terms(text: str) -> list[str]:
    """Return all index terms of a text."""
    return [term for chunk in _CHUNK.findall(spell(text).text) for term, _, _ in _analysed(chunk)]


def content_words(text: str) -> list[Token]:
    """Return the words of a question that carry meaning; an identifier counts once, as a whole."""
    spelt = spell(text)
    found: list[Token] = []
    for match in _CHUNK.finditer(spelt.text):
        chunk = _placed(match, spelt)
        first, last = spelt.start(match.start()), spelt.end(match.end())
        parts = [token for token in chunk if token.start > first or token.end < last] or chunk[:1]
        if _is_one_word(match.group(0), parts):
            parts = chunk[:1]
        found += [token for token in parts if not _is_stopword(text, token)]
    return found


def _is_one_word(chunk: str, parts: list[Token]) -> bool:
    """Tell whether a chunk is read as one word: `ERR-4042`, `AutoGen`, `e-mail`; CJK bigrams are not."""
    if _is_cjk(chunk[0]):
        return False
    has_letter = any(len(token.term) == 1 and token.term.isalpha() for token in parts)
    return is_identifier(chunk) or has_letter or bool(_CAMEL.search(chunk))


def identifiers(text: str) -> list[str]:
    """Return identifiers as written, once each: `ERR-4042`, `get_user_by_id`, `C++`, `§ 12(3)`, `--jobs`."""
    spelt = spell(text)
    found = (match for match in _CHUNK.finditer(spelt.text) if is_identifier(match.group(0)))
    written = (text[spelt.start(match.start()) : spelt.end(match.end())] for match in found)
    return list(dict.fromkeys(written))


def is_identifier(chunk: str) -> bool:
    """Tell whether a chunk names one thing exactly: it is no word, number, date, measure or compound."""
    if chunk[0] == "§" or _TAIL.search(chunk):
        return True
    if _NUMBER.fullmatch(chunk):
        return chunk.count(".") >= 2 and not _DATE.fullmatch(chunk)
    if _MEASURE.fullmatch(chunk.lstrip("-")) or _PLAIN_COMPOUND.fullmatch(chunk) or not chunk.strip("_"):
        return False
    if _SIGN.match(chunk) or _NAMED.fullmatch(chunk):
        return True
    if _CAMEL.search(chunk) and chunk[0].islower():
        return True
    if any(c.isdigit() for c in chunk):
        return any(c.isalpha() for c in chunk)
    return bool(_DOTTED.fullmatch(chunk))


def _placed(match: re.Match[str], spelt: Spelt) -> list[Token]:
    """Return the terms of a chunk with their spans in the text as it was given."""
    at = match.start()
    return [
        Token(term, spelt.start(at + start), spelt.end(at + end))
        for term, start, end in _analysed(match.group(0))
    ]


@lru_cache(maxsize=65536)
def _analysed(chunk: str) -> tuple[tuple[str, int, int], ...]:
    """Return (term, start, end) of one chunk: the whole where it is one, then its parts."""
    if _is_cjk(chunk[0]):
        return tuple(_bigrams(chunk))
    if chunk[0] == "§":
        return tuple(_section(chunk))
    sign, tail = _SIGN.match(chunk), _TAIL.search(chunk)
    start, end = sign.end() if sign else 0, tail.start() if tail else len(chunk)
    bare = _POSSESSIVE.sub("", chunk[start:end])
    if _ACRONYM.fullmatch(bare) or _CONTRACTION.fullmatch(bare):
        return ((fold(bare).replace(".", ""), start, start + len(bare)),)
    parts = [(term, start + a, start + b) for term, a, b in _parts(bare)]
    joined = _joined(bare)
    if tail and len(bare) == 1:
        parts = []  # the `C` of `C++` is another language
    elif [term for term, _, _ in parts] != [stem(joined)]:
        parts.insert(0, (stem(joined), start, start + len(bare)))
    if (sign or tail) and not _MEASURE.fullmatch(chunk.lstrip("-")):
        parts.insert(0, (chunk[:start] + joined + chunk[end:], 0, len(chunk)))
    return tuple(part for part in parts if len(part[0]) <= LONGEST_TERM)


def _parts(bare: str) -> Iterator[tuple[str, int, int]]:
    """Yield the parts of a chunk: numbers, and stemmed words divided at joiners and in camel case."""
    letters = bare if bare.isascii() else "".join(map(_unaccented, bare))
    pattern = _DIGITS if _DAYS.fullmatch(bare) else _PART if letters.isascii() else _PART_ANY
    for match in pattern.finditer(letters):
        start, end = match.span()
        if not (start and bare[start - 1] == "'" and end - start == 1):
            yield _term(bare[start:end]), start, end


def _unaccented(letter: str) -> str:
    """Return a letter of a camel-case word without its accent; one that makes two stays."""
    bare = fold(letter) if letter.isalpha() else letter
    return letter if len(bare) != 1 else bare.upper() if letter.isupper() else bare


def _term(part: str) -> str:
    return _canonical(part)[:LONGEST_TERM] if part[0].isdigit() else stem(fold(part)[:LONGEST_TERM])


def _joined(bare: str) -> str:
    """Return a chunk as one word."""
    return _canonical(bare) if _NUMBER.fullmatch(bare) else _JOINER.sub("", fold(bare))


def _canonical(number: str) -> str:
    """Return a number without marks of thousands: `1,000` and `1000` are one term."""
    return fold(re.sub(_THOUSANDS, "", number))


def _section(chunk: str) -> Iterator[tuple[str, int, int]]:
    """Yield the terms of `§ 12(3)`: as a whole, and the section with its sign and as a number."""
    yield "".join(fold(chunk).split()), 0, len(chunk)
    for match in re.finditer(r"(?:(?<=[§\s])|(?<=\d-))\d\w*(?:\.\w+)*", chunk):
        number = fold(match.group(0))
        if len(number) + 1 < len("".join(chunk.split())):
            yield f"§{number}", match.start(), match.end()
        yield number, match.start(), match.end()


def _bigrams(run: str) -> Iterator[tuple[str, int, int]]:
    if len(run) == 1:
        yield run, 0, 1
    for i in range(len(run) - 1):
        yield run[i : i + 2], i, i + 2


def _is_cjk(letter: str) -> bool:
    return _CJK_LETTER.match(letter) is not None


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the Snowball English stem of a folded word; other scripts stay as they are."""
    return _stemmer().stemWord(word) if len(word) > 2 and word.isascii() and word.isalpha() else word


def _stemmer() -> Stemmer.Stemmer:
    """Return this thread's stemmer: PyStemmer keeps state that threads may not share."""
    if not hasattr(_local, "stemmer"):
        _local.stemmer = Stemmer.Stemmer("english")
    stemmer: Stemmer.Stemmer = _local.stemmer
    return stemmer


def _is_stopword(text: str, token: Token) -> bool:
    """Tell whether a word of a question carries no meaning; `WHO`, the month May and `get()` do."""
    word = text[token.start : token.end]
    if text[token.end : token.end + 1] == "(" or (token.start and word == "May"):
        return False
    if word in ACRONYMS and not text.isupper():
        return False
    return fold(spell(word).text) in STOPWORDS
