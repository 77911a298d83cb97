"""Decode a file's bytes to text without ever dropping a byte that cannot be read.

In this order: the byte order mark, the pattern of NULs that UTF-16 and UTF-32 have without one, UTF-8, UTF-8
with single bytes of Windows-1252 in it, the encoding the file states, what its text reads like.
"""

from __future__ import annotations

import codecs
import re
import unicodedata

from .errors import BinaryFileError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NULS = (
    ("utf-32-le", 4, (2, 3), 0),
    ("utf-32-be", 4, (0, 1), 3),
    ("utf-16-le", 2, (1,), 0),
    ("utf-16-be", 2, (0,), 1),
)
"""Encodings with the bytes of a unit that are NUL in text of an alphabet, and the one that never is."""

_MOST_NULS, _FEW_NULS = 0.6, 0.02
"""Shares of NULs above and below which a byte of a unit counts as NUL and as a letter."""

_LEAST_WIDE = 8
"""Characters from which NULs are a pattern."""

_LEAST_WORDS = 0.6
"""Share of letters, digits and spaces from which wide characters read as text."""

_STRAY_BYTES = "quaere.stray"
_ASCII = bytes(range(128))
_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_LEAST_SOUND = 4
"""Letters in UTF-8 for each stray byte, at least, where a file counts as UTF-8 with stray bytes."""

_CONTROL = re.compile(r"[^\t\n\f\r\x1b -\U0010ffff]")
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

_MUCH = 1_000_000
_ENOUGH_LINES = 5000
_TELLING_LINE = re.compile(rb"[^\n]*[\x80-\xff][^\n]*\n?")
_SIGN_IN_WORD = re.compile(r"[^\W\d_][¡-¿×÷†‡ˆ‰‹›][^\W\d_]")


def decode(data: bytes, declared: str | None = None) -> str:
    """Return the text of a file without its byte order mark; BinaryFileError when it is none.

    `declared` is the encoding a file states in itself; it is tried when it does not read as UTF-8.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _checked(_strict(data[len(mark) :], name))
    if b"\0" in data[:_SAMPLE]:
        return _checked(_wide(data))
    try:
        return _checked(data.decode("utf-8"))
    except UnicodeDecodeError:
        stated = _mixed(data) or _as_declared(data, declared)
        return _checked(_detected(data) if stated is None else stated)


def _wide(data: bytes) -> str:
    """Return the text of UTF-16 or UTF-32 without a mark: NULs stand in some places of each unit only."""
    sample = data[: _SAMPLE // 4 * 4]
    for name, width, empty, filled in _NULS:
        if len(data) % width or len(data) < _LEAST_WIDE * width:
            continue
        shares = [sample[i::width].count(0) / max(1, len(sample[i::width])) for i in range(width)]
        if min(shares[i] for i in empty) > _MOST_NULS and shares[filled] < _FEW_NULS:
            text = _strict(data, name)
            if _reads_as_text(text[:_SAMPLE]):
                return text
    raise BinaryFileError("binary, not text")


def _reads_as_text(sample: str) -> bool:
    """Tell whether what was decoded is words: letters, digits and spaces for the most part."""
    kinds = [unicodedata.category(character)[0] for character in sample]
    unknown = sum(unicodedata.category(one) in ("Cn", "Co", "Cs") for one in sample) + sample.count("\0")
    words = sum(kind in "LMNZ" or one in "\t\r\n" for kind, one in zip(kinds, sample, strict=True))
    return not unknown and words >= _LEAST_WORDS * len(sample)


def _mixed(data: bytes) -> str | None:
    """Return UTF-8 with a few bytes of Windows-1252 in it, as logs and joined files have them, else None."""
    if not _is_mostly_utf8(data[:_SAMPLE]) or not _is_mostly_utf8(data):
        return None
    return data.decode("utf-8", _STRAY_BYTES)


def _is_mostly_utf8(data: bytes) -> bool:
    sound = [len(sequence) for sequence in _SEQUENCE.findall(data)]
    stray = len(data.translate(None, _ASCII)) - sum(sound)
    return len(sound) >= _LEAST_SOUND * max(1, stray)


def _stray_bytes(error: UnicodeError) -> tuple[str, int]:
    """Read bytes that are not UTF-8 as Windows-1252, the few it leaves open as Latin-1."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    raw = error.object[error.start : error.end]
    return "".join(_western(byte) for byte in raw), error.end


def _western(byte: int) -> str:
    try:
        return bytes([byte]).decode(_WESTERN)
    except UnicodeDecodeError:
        return chr(byte)


codecs.register_error(_STRAY_BYTES, _stray_bytes)


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

    found = from_bytes(_telling(data))
    best = found.best()
    names = {name for match in found for name in match.could_be_from_charset}
    western = _as_western(data)
    if western is not None and (_WESTERN in names or best is None or len(data) <= _FEW_BYTES):
        return western
    if best is None:
        raise BinaryFileError("binary, not text")
    text = _strict(data, best.encoding)
    return western if western is not None and _SIGN_IN_WORD.search(text) else text


def _telling(data: bytes) -> bytes:
    """Return what tells the encoding: of a large file the first lines with bytes beyond ASCII."""
    if len(data) <= _MUCH:
        return data
    lines: list[bytes] = []
    for match in _TELLING_LINE.finditer(data):
        lines.append(match[0])
        if match.end() - match.start() > _MUCH or len(lines) >= _ENOUGH_LINES:
            break
    return b"".join(lines)[:_MUCH]


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
    control = len(_CONTROL.findall(sample))
    if control > _MOST_CONTROL * len(sample):
        raise BinaryFileError("binary, not text")
    return text
