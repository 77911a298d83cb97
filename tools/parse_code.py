"""Parse source code: each function, class and method is a unit under the signatures it stands in.

Where no grammar knows the language, code is cut at blank lines before a line that is not indented.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import PurePosixPath

from .decode import decode
from .evidence import Block, Parsed, Scope
from .grammars import Definition, definitions, language_of
from .text_lines import Line, chunks, cut, lines_of

_MOST_BYTES = 4_000_000
"""Bytes up to which code is read by its grammar; more is no code that someone wrote."""

_LONG_FUNCTION = 80
"""Lines from which a function is read by the definitions inside it."""

_LONGEST_NAME = 80
_LONGEST_SIGNATURE = 400

Place = tuple[int, int]


def parse_code(data: bytes, path: str) -> Parsed:
    """Return the definitions of a file, and what stands between them, as blocks over its decoded text."""
    text = decode(data)
    name = PurePosixPath(path)
    lines = lines_of(text)
    language = language_of(name.suffix.lower())
    encoded = text.encode("utf-8", "surrogatepass")
    plain = text.count("\r") != text.count("\r\n") or len(encoded) > _MOST_BYTES
    blocks = _loose(lines) if language is None or plain else _defined(lines, encoded, language)
    return Parsed(text, tuple(blocks), name.name, "text/plain", "code/1")


def _loose(lines: Sequence[Line]) -> list[Block]:
    """Return the blocks of code of an unknown language."""
    numbers = {line.start: number for number, line in enumerate(lines, 1)}
    runs: list[list[Line]] = []
    for chunk in chunks(lines):
        if runs and chunk[0].indent:
            runs[-1] += chunk
        else:
            runs.append(list(chunk))
    return [replace(cut("code", run, 0, 1), line=numbers[run[0].start]) for run in runs]


@dataclass(frozen=True, slots=True)
class _Part:
    """A definition that is a unit of its own, with the scopes its lines stand in."""

    first: int
    last: int
    scopes: tuple[Scope, ...]
    is_leaf: bool


def _defined(lines: Sequence[Line], encoded: bytes, language: str) -> list[Block]:
    """Return a block for each run of lines that stand in the same definition; every line is in one."""
    parts = _parts(lines, definitions(encoded, language))
    owner = [-1] * len(lines)
    for i, part in enumerate(parts):
        owner[part.first : part.last + 1] = [i] * (part.last + 1 - part.first)
    blocks: list[Block] = []
    for i, numbers in groupby(range(len(lines)), key=owner.__getitem__):
        filled = [number for number in numbers if lines[number].bare]
        run = [lines[number] for number in filled]
        if any(character.isalnum() for line in run for character in line.text):
            within = parts[i].scopes if i >= 0 else ()
            block = cut("code", run, 0, len(blocks) + 1)
            blocks.append(replace(block, within=within, line=filled[0] + 1))
    return blocks


def _parts(lines: Sequence[Line], found: Sequence[Definition]) -> list[_Part]:
    """Return the definitions that are units, each with its scopes; a short function is one unit."""
    parts: list[_Part] = []
    open_parts: list[_Part] = []
    for one in found:
        while open_parts and open_parts[-1].last < one.first:
            open_parts.pop()
        if open_parts and not _holds(open_parts[-1], one):
            continue
        outer = open_parts[-1].scopes if open_parts else ()
        is_short = one.last - one.first < _LONG_FUNCTION
        scopes = (*outer, _scope(lines, one))
        part = _Part(one.first, one.last, scopes, is_short and not one.holds_others)
        parts.append(part)
        open_parts.append(part)
    return parts


def _holds(outer: _Part, inner: Definition) -> bool:
    """Tell whether a part is read by the definitions inside it, and one of them lies in it."""
    same = (outer.first, outer.last) == (inner.first, inner.last)
    return not outer.is_leaf and not same and inner.last <= outer.last


def _scope(lines: Sequence[Line], one: Definition) -> Scope:
    """Return the signature of a definition as a scope, named by the line that its name stands on."""
    start, end = _offset(lines, one.signature), _offset(lines, one.signature_end)
    text = _between(lines, one.signature, one.signature_end)[:_LONGEST_SIGNATURE]
    end = min(end, start + len(text.rstrip(" \t\n{\\")))
    named = one.name_end or one.signature_end
    begin = max(one.signature, (named[0], 0))
    name = " ".join(_between(lines, begin, named).split()) or text
    return Scope(" ".join(name.split())[:_LONGEST_NAME].strip(" {}():=\\"), start, max(start + 1, end))


def _offset(lines: Sequence[Line], place: Place) -> int:
    """Return the code point of a (line, byte column)."""
    row, column = place
    line = lines[row]
    if line.text.isascii():
        return line.start + min(column, len(line.text))
    return line.start + len(line.text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "replace"))


def _between(lines: Sequence[Line], start: Place, end: Place) -> str:
    """Return the text from one place to another, its lines joined as they stand."""
    first, last = _offset(lines, start), _offset(lines, end)
    whole = lines[start[0] : end[0] + 1]
    base = whole[0].start
    text = ""
    for line in whole:
        text = text.ljust(line.start - base, "\n") + line.text
    return text[first - base : last - base]
