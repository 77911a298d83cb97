"""Turn text into index terms: identifiers whole and in parts, folded, stemmed, CJK in bigrams, with spans.

A chunk is a run of letters and digits with the joiners that identifiers use. Its parts are index terms; the
chunk as a whole is one more where it is joined, in camel case, or carries a sign (`--jobs`, `C++`, `%p`).
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import Stemmer

from .stopwords import STOPWORDS

ANALYZER = "analyze/1"

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = rf"[^\W{_CJK}]"
_CHUNK = re.compile(
    rf"(?P<cjk>[{_CJK}]+)"
    rf"|(?P<section>§§?\s?\d[\w.]*(?:\(\w{{1,4}}\))*)"
    rf"|(?P<sign>(?<![\w./-])(?:--?|/|%|\$|@|\.)(?={_WORD}))?"
    rf"(?P<word>{_WORD}+(?:(?:['’_\-./:@&+#~=]+|(?<=\d),(?=\d)){_WORD}+)*)(?P<tail>\+\+|\#(?!\w))?"
)
_PART = re.compile(r"\d+(?:[.,]\d+)*|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_PART_ANY = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_POSSESSIVE = re.compile(r"['’]s?$")
_CAMEL = re.compile(r"[a-z][A-Z]")
_MEASURE = re.compile(r"\d+(?:[.,]\d+)?[a-z]{1,3}|\d+s|\d+(?:[.,]\d+)?-[a-z]+")
_PLAIN_COMPOUND = re.compile(r"[^\W\d_]+(?:[-/&'’][^\W\d_]+)+")
_MOST_PART = 64
"""Characters of a term at most; a longer run is no word anyone searches for."""

_local = threading.local()
_stems: dict[str, str] = {}
_MOST_STEMS = 500_000


@dataclass(frozen=True, slots=True)
class Token:
    """An index term and the span of the text it stands for."""

    term: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    """Return all index terms of a text with their spans, in order; a whole comes before its parts."""
    return [token for match in _CHUNK.finditer(text) for token in _chunk_tokens(match)]


def terms(text: str) -> list[str]:
    """Return all index terms of a text."""
    return [token.term for token in tokens(text)]


def content_words(text: str) -> list[Token]:
    """Return the words of a question that carry meaning; an identifier counts once, as a whole."""
    found: list[Token] = []
    for match in _CHUNK.finditer(text):
        chunk = _chunk_tokens(match)
        if not chunk:
            continue
        parts = [token for token in chunk if token.start > match.start() or token.end < match.end()] or chunk
        if is_identifier(match.group(0)) or _is_one_word(match, parts):
            parts = chunk[:1]
        found += [token for token in parts if not _is_stopword(text[token.start : token.end])]
    return found


def _is_one_word(match: re.Match[str], parts: list[Token]) -> bool:
    """Tell whether a chunk is read as one word: `AutoGen`, `e-mail`; bigrams of CJK text are not."""
    letters = any(token.end - token.start == 1 for token in parts)
    return not match["cjk"] and (letters or bool(_CAMEL.search(match.group(0))))


def identifiers(text: str) -> list[str]:
    """Return identifiers as written, once each: `ERR-4042`, `get_user_by_id`, `C++`, `§ 12(3)`, `--jobs`."""
    found = (match.group(0) for match in _CHUNK.finditer(text))
    return list(dict.fromkeys(chunk for chunk in found if is_identifier(chunk)))


def is_identifier(chunk: str) -> bool:
    """Tell whether a chunk names one thing exactly: it is no word, number, measure or plain compound."""
    if chunk[0] in "§%$@" or chunk[:2] == "--" or chunk[-1] in "+#":
        return True
    if _NUMBER.fullmatch(chunk):
        return chunk.count(".") >= 2
    if _MEASURE.fullmatch(chunk) or _PLAIN_COMPOUND.fullmatch(chunk):
        return False
    if "_" in chunk.strip("_") or (chunk[0] in "-/." and len(chunk) > 1):
        return True
    if _CAMEL.search(chunk) and chunk[0].islower():
        return True
    if any(c.isdigit() for c in chunk):
        return any(c.isalpha() for c in chunk) and not re.fullmatch(r"[a-z]{4,}-\d+", chunk)
    return bool(re.fullmatch(r"\w{2,}(?:\.\w{2,})+", chunk))


def _chunk_tokens(match: re.Match[str]) -> list[Token]:
    """Return the terms of one chunk: the whole where it is one, then its parts."""
    if match["cjk"]:
        return list(_bigrams(match["cjk"], match.start()))
    start, end = match.span()
    chunk = match.group(0)
    if match["section"]:
        return [Token("".join(fold(chunk).split()), start, end)]
    word_start, word = match.start("word"), match["word"]
    parts = list(_parts(word, word_start))
    whole = _POSSESSIVE.sub("", fold(chunk).replace("’", "'")) if not match["tail"] else fold(chunk)
    joined = len(parts) != 1 or match["sign"] or match["tail"]
    bare = _POSSESSIVE.sub("", word)
    if joined and len(parts) == 1 and bare.isalnum():
        joined = bool(match["sign"] or match["tail"])
    if not joined or len(whole) > _MOST_PART:
        return parts
    return [Token(_canonical_number(whole), start, end), *([] if _NUMBER.fullmatch(chunk) else parts)]


def _parts(word: str, offset: int) -> Iterator[Token]:
    """Yield the stemmed parts of a chunk; a possessive or a contraction leaves no part of its own."""
    for match in (_PART if word.isascii() else _PART_ANY).finditer(word.replace("’", "'")):
        part = match.group(0)
        if match.start() and word[match.start() - 1] in "'’" and len(part) <= 2:
            continue
        if len(part) <= _MOST_PART:
            yield Token(_term(part), offset + match.start(), offset + match.end())


def _term(part: str) -> str:
    if part[0].isdigit():
        return _canonical_number(part)
    return stem(fold(part))


def _canonical_number(text: str) -> str:
    """Return a number without thousands commas: `1,000` and `1000` are one term."""
    return re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text) if text[:1].isdigit() and "," in text else text


def _bigrams(run: str, offset: int) -> Iterator[Token]:
    if len(run) == 1:
        yield Token(run, offset, offset + 1)
    for i in range(len(run) - 1):
        yield Token(run[i : i + 2], offset + i, offset + i + 2)


@lru_cache(maxsize=65536)
def fold(text: str) -> str:
    """Return text without case, accents and compatibility forms."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def stem(word: str) -> str:
    """Return the Snowball English stem of a folded word; other scripts stay as they are."""
    known = _stems.get(word)
    if known is None:
        known = _stemmer().stemWord(word) if word.isascii() and len(word) > 2 else word
        if len(_stems) < _MOST_STEMS:
            _stems[word] = known
    return known


def _stemmer() -> Stemmer.Stemmer:
    """Return this thread's stemmer: PyStemmer keeps state that threads may not share."""
    if not hasattr(_local, "stemmer"):
        _local.stemmer = Stemmer.Stemmer("english")
    stemmer: Stemmer.Stemmer = _local.stemmer
    return stemmer


def _is_stopword(word: str) -> bool:
    return fold(word).replace("’", "'") in STOPWORDS
