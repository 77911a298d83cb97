"""Decode a file's bytes to text without ever dropping a byte that cannot be read."""

from __future__ import annotations

import codecs

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


def decode(data: bytes) -> str:
    """Return the text of a file without its byte order mark; BinaryFileError when it is none."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _checked(_strict(data[len(mark) :], name))
    if b"\0" in data[:65536]:
        raise BinaryFileError("binary, not text")
    try:
        return _checked(data.decode("utf-8"))
    except UnicodeDecodeError:
        return _checked(_detected(data))


def _strict(data: bytes, name: str) -> str:
    try:
        return data.decode(name)
    except UnicodeDecodeError as error:
        raise BinaryFileError(f"not valid {name.upper()} from byte {error.start}") from error


def _detected(data: bytes) -> str:
    """Decode by detection; what no encoding explains is binary."""
    from charset_normalizer import from_bytes

    best = from_bytes(data).best()
    if best is None:
        raise BinaryFileError("binary, not text")
    return _strict(data, best.encoding)


def _checked(text: str) -> str:
    control = sum(ord(character) in _CONTROL for character in text[:65536])
    if control > _MOST_CONTROL * min(len(text), 65536):
        raise BinaryFileError("binary, not text")
    return text
