"""Parse JSON and JSON Lines: each record, or each member of an object, as one block of the decoded file.

Where a value ends is what the decoder of the standard library says. What is no JSON from some place on is
read as lines of text from there, with a warning that names the place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from json import JSONDecodeError
from pathlib import PurePosixPath

from .decode import decode
from .evidence import Block, BlockKind, Parsed, Scope
from .places import place_of
from .text_lines import Line, lines_of

_WIDE = 400
"""Characters of a value from which it is read member by member."""

_DEEPEST = 12
"""Levels that are read member by member at most."""

_LONGEST_NAME = 80
_LINES = frozenset([".jsonl", ".ndjson"])
_ESCAPE = re.compile(r"(\\[nr](?:\\[nrt]|\s)*)|\\.")
_SPACE = re.compile(r"[ \t\r\n]*")
_BETWEEN = " \t\r\n,"
_CLOSING = {"{": "}", "[": "]"}
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
"""Numbers stay text: only where a value ends counts, and an integer of many digits would be refused."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A member or element: it begins with its key, if it has one; `number` is its place among its like."""

    start: int
    value: int
    end: int
    number: int
    key: Scope | None = None
    is_broken: bool = False

    @property
    def is_wide(self) -> bool:
        """Tell whether it is to be read part by part."""
        return self.is_broken or self.end - self.start > _WIDE


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where parts stand: the scopes around them, the record they belong to, how deep."""

    within: tuple[Scope, ...] = ()
    record: str | None = None
    depth: int = 0


def parse_json(data: bytes, path: str) -> Parsed:
    """Return records and members as blocks over the decoded text."""
    text = decode(data)
    name = PurePosixPath(path)
    reading = _Reading(text)
    lines = [line for line in lines_of(text) if line.bare]
    if reading.has_record_lines(lines, name.suffix.lower() in _LINES):
        reading.record_lines(lines)
    else:
        reading.values()
    title = name.stem or name.name
    return Parsed(text, tuple(reading.blocks), title, "application/json", "json/1", tuple(reading.warnings))


@dataclass(slots=True)
class _Reading:
    """Collect the blocks of one text in order."""

    text: str
    blocks: list[Block] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    _line: int = 1
    _counted: int = 0

    def has_record_lines(self, lines: Sequence[Line], is_named_so: bool) -> bool:
        """Tell whether each line is a record: it is named so, or the first is and another begins below."""
        if not lines or not (is_named_so or (len(lines) > 1 and lines[1].bare[0] in _CLOSING)):
            return False
        start, end = _bare_span(lines[0])
        return is_named_so or (self.text[start] in _CLOSING and self._fault(start, end) is None)

    def record_lines(self, lines: Sequence[Line]) -> None:
        """Read a record a line; the first line that is no JSON is named in a warning."""
        faults = []
        for number, line in enumerate(lines, 1):
            start, end = _bare_span(line)
            part = _Part(start, start, end, number)
            fault = self._fault(start, end)
            if fault:
                faults.append(fault)
            if part.is_wide and not fault:
                self._descend(part, _Frame())
            else:
                self._put([part], _Frame())
        if faults:
            self._warn(faults[0], f"{len(faults)} of {len(lines)} lines are read as text")

    def _fault(self, start: int, end: int) -> JSONDecodeError | None:
        """Return what keeps a line from being one value."""
        try:
            stop = _DECODER.raw_decode(self.text[start:end])[1]
        except JSONDecodeError as error:
            return JSONDecodeError(error.msg, self.text, start + error.pos)
        except RecursionError:
            return JSONDecodeError("Nested too deeply", self.text, start)
        return None if start + stop == end else JSONDecodeError("Extra data", self.text, start + stop)

    def values(self) -> None:
        """Read the parts of the value that is the file, and any value behind it as a record."""
        at, number = self._skip(0), 0
        try:
            while at < len(self.text):
                number += 1
                if number == 1 and self.text[at] in _CLOSING:
                    end = self._inside(at, _Frame())
                else:
                    part = _Part(at, at, self._end(at), number)
                    self._put([part], _Frame()) if not part.is_wide else self._descend(part, _Frame())
                    end = part.end
                at = self._skip(end)
        except JSONDecodeError as fault:
            self._warn(fault, "read as text from there on")
            self._text_lines()

    def _inside(self, at: int, frame: _Frame) -> int:
        """Read the members or elements of the value that begins at a place; return where it ends."""
        run: list[_Part] = []
        parts = self._parts(at)
        try:
            while True:
                part = next(parts)
                if run and (part.is_wide or not self._joins(run, part, frame)):
                    self._put(run, frame)
                    run = []
                if part.is_wide:
                    self._descend(part, frame)
                else:
                    run.append(part)
        except StopIteration as end:
            return int(end.value)
        finally:
            self._put(run, frame)

    def _parts(self, at: int) -> Generator[_Part, None, int]:
        """Yield the parts of the object or array that begins at a place; return where it ends."""
        closing = _CLOSING[self.text[at]]
        number = 0
        at = self._skip(at + 1)
        while self.text[at : at + 1] != closing or number:
            number += 1
            start, key = at, None
            if closing == "}":
                key, at = self._key(at)
            part = self._part(start, at, number, key)
            yield part
            at = self._skip(part.end)
            if self.text[at : at + 1] == closing:
                break
            if self.text[at : at + 1] != ",":
                raise JSONDecodeError("Expecting ',' delimiter", self.text, at)
            at = self._skip(at + 1)
        return at + 1

    def _part(self, start: int, value: int, number: int, key: Scope | None) -> _Part:
        """Return one part; of an object or array that is broken, what is sound in it can still be read."""
        try:
            return _Part(start, value, self._end(value), number, key)
        except JSONDecodeError:
            if self.text[value : value + 1] not in _CLOSING:
                raise
            return _Part(start, value, len(self.text), number, key, is_broken=True)

    def _key(self, at: int) -> tuple[Scope, int]:
        """Return the key of the member that begins at a place, and where its value begins."""
        if self.text[at : at + 1] != '"':
            raise JSONDecodeError("Expecting property name enclosed in double quotes", self.text, at)
        name, end = _DECODER.raw_decode(self.text, at)
        colon = self._skip(end)
        if self.text[colon : colon + 1] != ":":
            raise JSONDecodeError("Expecting ':' delimiter", self.text, colon)
        return Scope(" ".join(name.split())[:_LONGEST_NAME], at, end), self._skip(colon + 1)

    def _joins(self, run: Sequence[_Part], part: _Part, frame: _Frame) -> bool:
        """Tell whether a part goes on in a block: small ones of one record do, and numbers in a row."""
        if part.end - run[0].start > _WIDE:
            return False
        plain = (
            part.key is None and self.text[part.value] not in '{["' and self.text[run[0].value] not in '{["'
        )
        return frame.record is not None or plain

    def _descend(self, part: _Part, frame: _Frame) -> None:
        """Read a wide part by its own parts; the beginning of a record governs what follows in it."""
        begin = len(self.blocks)
        holds_parts = self.text[part.value] in _CLOSING and frame.depth < _DEEPEST
        inner = replace(frame, depth=frame.depth + 1)
        if part.key:
            inner = replace(inner, within=(*frame.within, part.key))
        elif frame.record is None:
            inner = replace(inner, record=place_of("record", part.number))
        if part.key and holds_parts:
            self._block((part.start, part.value + 1), inner, level=min(6, len(inner.within)))
        if holds_parts:
            self._inside(part.value, inner)
        else:
            self._paragraphs(part, inner)
        if part.key is None and frame.record is None:
            self._lead(begin, len(frame.within))

    def _paragraphs(self, part: _Part, frame: _Frame) -> None:
        """Read a long string paragraph by paragraph: the line breaks that it escapes lie between blocks."""
        if part.is_broken:
            self._end(part.value)
        start = part.start
        breaks = (match.span() for match in _ESCAPE.finditer(self.text, part.value, part.end) if match[1])
        for end, behind in [*breaks, (part.end, part.end)]:
            if any(character.isalnum() for character in self.text[start:end]):
                begin = start + len(self.text[start:end]) - len(self.text[start:end].lstrip())
                self._block((begin, begin + len(self.text[begin:end].rstrip())), frame)
            start = behind

    def _lead(self, begin: int, depth: int) -> None:
        """Let the first block of a record govern its other blocks."""
        if begin == len(self.blocks):
            return
        lead = Scope("", self.blocks[begin].start, self.blocks[begin].end)
        for i in range(begin + 1, len(self.blocks)):
            within = self.blocks[i].within
            self.blocks[i] = replace(self.blocks[i], within=(*within[:depth], lead, *within[depth:]))

    def _put(self, run: Sequence[_Part], frame: _Frame) -> None:
        """Add the block of parts that stand one after another."""
        if run:
            counted = frame.record is None and run[0].key is None
            record = place_of("record", run[0].number, run[-1].number) if counted else frame.record
            self._block((run[0].start, run[-1].end), frame, record)

    def _block(self, span: tuple[int, int], frame: _Frame, record: str | None = None, level: int = 0) -> None:
        """Add a block; what belongs to no record is placed by its line."""
        record = record or frame.record
        line = None
        if record is None:
            self._line += self.text.count("\n", self._counted, span[0])
            self._counted = span[0]
            line = self._line
        kind: BlockKind = "heading" if level else "row"
        self.blocks.append(Block(kind, *span, level, 1, None, record, frame.within, line))

    def _text_lines(self) -> None:
        """Read what is behind the last block as lines of text."""
        start = self.blocks[-1].end if self.blocks else 0
        while self.text[start : start + 1] in _BETWEEN and start < len(self.text):
            start += 1
        for line in lines_of(self.text[start:]):
            if any(character.isalnum() for character in line.bare):
                begin, end = _bare_span(line)
                self._block((start + begin, start + end), _Frame())

    def _end(self, at: int) -> int:
        """Return where the value that begins at a place ends."""
        try:
            return _DECODER.raw_decode(self.text, at)[1]
        except RecursionError as error:
            raise JSONDecodeError("Nested too deeply", self.text, at) from error

    def _skip(self, at: int) -> int:
        """Return the place of the next sign that is no white space."""
        found = _SPACE.match(self.text, at)
        return found.end() if found else at

    def _warn(self, fault: JSONDecodeError, instead: str) -> None:
        why = fault.msg[:1].lower() + fault.msg[1:]
        place = f"line {fault.lineno}, column {fault.colno}"
        self.warnings.append(f"not valid JSON at {place} ({why}); {instead}")


def _bare_span(line: Line) -> tuple[int, int]:
    start = line.start + len(line.text) - len(line.text.lstrip())
    return start, start + len(line.bare)
