"""Decode a file's bytes to text without ever dropping a byte that cannot be read."""

from __future__ import annotations

import codecs
import re

from .errors import BinaryFileError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROL = frozenset(range(32)) - {9, 10, 12, 13, 27}
_MOST_CONTROL = 0.01
"""Share of control characters from which decoded bytes count as binary."""

_SAMPLE = 65536
"""Characters and bytes that are looked at to tell text from binary."""

_WESTERN = "cp1252"
_AS_WESTERN = frozenset(["ascii", "us-ascii", "latin-1", "latin1", "iso-8859-1", "iso8859-1"])
"""Names that browsers read as Windows-1252."""

_STATED = re.compile(
    r"(?:windows|cp|iso|latin|koi8|gb|big5|euc|shift|sjis|macintosh|mac|ascii|us-ascii|tis|ibm)[\w.:-]*", re.I
)
"""Names of encodings a file may state; UTF-8 is tried before, and other codecs of Python are none."""

_FEW_BYTES = 64
"""Bytes up to which detection is a guess, so that Western European is taken when it reads well."""

_MOST_ACCENTED = 0.4
"""Share of the letters of Western European text that are accented, at most."""

_SIGN_IN_WORD = re.compile(r"[^\W\d_][¡-¿×÷†‡ˆ‰‹›][^\W\d_]")


def decode(data: bytes, declared: str | None = None) -> str:
    """Return the text of a file without its byte order mark; BinaryFileError when it is none.

    `declared` is the encoding a file states in itself; it is tried when it does not read as UTF-8.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _checked(_strict(data[len(mark) :], name))
    if b"\0" in data[:_SAMPLE]:
        raise BinaryFileError("binary, not text")
    try:
        return _checked(data.decode("utf-8"))
    except UnicodeDecodeError:
        stated = _as_declared(data, declared)
        return _checked(_detected(data) if stated is None else stated)


def _as_declared(data: bytes, declared: str | None) -> str | None:
    """Return the text by the encoding a file states, None when there is no such one or it does not fit."""
    if declared is None or not _STATED.fullmatch(declared):
        return None
    name = _WESTERN if declared.lower() in _AS_WESTERN else declared
    try:
        return data.decode(name)
    except (LookupError, UnicodeError):
        return None


def _strict(data: bytes, name: str) -> str:
    try:
        return data.decode(name)
    except (UnicodeDecodeError, LookupError) as error:
        raise BinaryFileError(f"not valid {name.upper()}") from error


def _detected(data: bytes) -> str:
    """Decode by detection; what no encoding explains is binary."""
    from charset_normalizer import from_bytes

    found = from_bytes(data)
    names = [match.encoding for match in found]
    if _WESTERN in names or (names and len(data) <= _FEW_BYTES):
        western = _as_western(data)
        if western is not None:
            return western
    best = found.best()
    if best is None:
        raise BinaryFileError("binary, not text")
    return _strict(data, best.encoding)


def _as_western(data: bytes) -> str | None:
    """Return the text as Western European when it reads as such, else None."""
    try:
        text = data.decode(_WESTERN)
    except UnicodeDecodeError:
        return None
    letters = [character for character in text[:_SAMPLE] if character.isalpha()]
    accented = sum(not character.isascii() for character in letters)
    if accented > _MOST_ACCENTED * len(letters) or _SIGN_IN_WORD.search(text):
        return None
    return text


def _checked(text: str) -> str:
    """Return the text unless it holds too many control characters."""
    sample = text[:_SAMPLE]
    control = sum(ord(character) in _CONTROL for character in sample)
    if control > _MOST_CONTROL * len(sample):
        raise BinaryFileError("binary, not text")
    return text
