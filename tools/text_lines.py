"""Lines of a decoded text with their places, and the blocks that are cut from them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from .evidence import Block, BlockKind

_LINE = re.compile(r"[^\r\n]+")
_BREAK = re.compile(r"\r\n|\r|\n")
TAB = 8
"""Columns of a tab stop."""

ITEM = re.compile(r"\s*(?P<sign>[-*•‣◦·+–—]|\(?(?:\d{1,3}|#|[a-zA-Z]|[ivx]{1,4})[.)])(?P<gap>\s+)(?=\S)")
_PAIR = re.compile(r"\s*[^\W\d_][^:.?!]{0,40}:\s+\S")
_COLUMN = re.compile(r"\S(?:\s{3,}|\t)\S")
_RULE = re.compile(r"[\s|+=:*_~.–—-]*")
_LONG = 160
"""Characters from which a line counts as a paragraph of its own."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its line break; `indent` is in columns."""

    start: int
    end: int
    text: str

    @property
    def bare(self) -> str:
        """Return the line without white space around it."""
        return self.text.strip()

    @property
    def indent(self) -> int:
        """Return the columns before the first character."""
        expanded = self.text.expandtabs(TAB)
        return len(expanded) - len(expanded.lstrip())


def lines_of(text: str) -> list[Line]:
    """Return all lines of a text, blank ones too; \\n, \\r\\n and \\r end a line."""
    lines = []
    start = 0
    for match in _BREAK.finditer(text):
        lines.append(Line(start, match.start(), text[start : match.start()]))
        start = match.end()
    return [*lines, Line(start, len(text), text[start:])]


def chunks(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield the runs of lines between blank ones."""
    chunk: list[Line] = []
    for line in lines:
        if line.bare:
            chunk.append(line)
        elif chunk:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def cut(kind: BlockKind, chunk: Sequence[Line], level: int = 0, group: int = 0) -> Block:
    """Return the block of a run of lines, from its first letter to its last."""
    first, last = chunk[0], chunk[-1]
    start = first.start + len(first.text) - len(first.text.lstrip())
    return Block(kind, start, last.start + len(last.text.rstrip()), level, group)


@dataclass(slots=True)
class Flow:
    """Collect blocks in order, with the numbers of their groups and the nesting of the list that is open."""

    blocks: list[Block] = field(default_factory=list)
    _groups: int = 0
    _indents: list[int] = field(default_factory=list)

    def next_group(self) -> int:
        """Return a number for the next list, table or listing."""
        self._groups += 1
        return self._groups

    @property
    def in_list(self) -> bool:
        """Tell whether the last block belongs to a list that may go on."""
        return bool(self._indents)

    def add(self, kind: BlockKind, chunk: Sequence[Line], level: int = 0, group: int = 0) -> None:
        """Add a run of lines as one block; it ends an open list."""
        self._indents = []
        self._put(kind, chunk, level, group)

    def listing(self, chunk: Sequence[Line]) -> None:
        """Add a run of lines as code; within a list it belongs to the list."""
        if chunk:
            within = self._indents if self._indents and chunk[0].indent > self._indents[0] else []
            group = self._groups if within else self.next_group()
            self._put("code", chunk, len(within), group)
            self._indents = list(within)

    def prose(self, chunk: Sequence[Line]) -> None:
        """Add a run of lines as items, rows, pairs or paragraphs."""
        if any(ITEM.match(line.text) for line in chunk) and _begins_list(chunk, self.in_list):
            self._items(chunk)
        elif self._indents and chunk[0].indent > self._indents[0]:
            self._put("item", chunk, max(1, self._nesting(chunk[0].indent)), self._groups)
        elif are_rows(chunk):
            self.table(chunk)
        elif len(chunk) > 1 and all(_PAIR.match(line.text) for line in chunk):
            self._each("item", chunk)
        elif any(len(line.text) > _LONG for line in chunk):
            for line in chunk:
                self.add("paragraph", [line])
        else:
            self.add("paragraph", chunk)

    def table(self, chunk: Sequence[Line]) -> None:
        """Add a run of lines as a table; what stands above its first inner rule is its header."""
        group = self.next_group()
        rules = [i for i, line in enumerate(chunk) if _RULE.fullmatch(line.text)]
        header = next((i for i in rules if any(k < i and k not in rules for k in range(i))), 0)
        header = header if any(i > header and i not in rules for i in range(len(chunk))) else 0
        for i, line in enumerate(chunk):
            if i not in rules:
                self.add("header" if i < header else "row", [line], 0, group)

    def _each(self, kind: BlockKind, chunk: Sequence[Line]) -> None:
        group = self.next_group()
        for line in chunk:
            self.add(kind, [line], 1, group)

    def _items(self, chunk: Sequence[Line]) -> None:
        """Add the items of a run with the lines they run over; a lead-in before the first is a paragraph."""
        runs: list[list[Line]] = []
        for line in chunk:
            if ITEM.match(line.text) or not runs:
                runs.append([line])
            else:
                runs[-1].append(line)
        if not ITEM.match(runs[0][0].text):
            first = runs.pop(0)
            if self._indents and first[0].indent > self._indents[0]:
                self._put("item", first, max(1, self._nesting(first[0].indent)), self._groups)
            else:
                self.add("paragraph", first)
        for run in runs:
            self._open(run[0].indent)
            self._put("item", run, len(self._indents), self._groups)

    def _open(self, indent: int) -> None:
        """Nest the next item by its indent; a list that is not open begins."""
        if not self._indents:
            self.next_group()
        while self._indents and self._indents[-1] > indent:
            self._indents.pop()
        if not self._indents or self._indents[-1] < indent:
            self._indents.append(indent)

    def _nesting(self, indent: int) -> int:
        return sum(one < indent for one in self._indents)

    def _put(self, kind: BlockKind, chunk: Sequence[Line], level: int, group: int) -> None:
        if kind == "code" or not all(_RULE.fullmatch(line.text) for line in chunk):
            self.blocks.append(cut(kind, chunk, level, group))


def _begins_list(chunk: Sequence[Line], in_list: bool) -> bool:
    """Tell whether the items of a run are a list, not a sentence that happens to wrap before a dash."""
    if ITEM.match(chunk[0].text) or in_list:
        return True
    before = next(one for one, other in pairwise(chunk) if ITEM.match(other.text))
    return (
        before.bare.endswith((":", ".", ";", ")")) or sum(bool(ITEM.match(line.text)) for line in chunk) > 1
    )


def are_rows(chunk: Sequence[Line]) -> bool:
    """Tell whether every line is a row: cells between bars, or in columns far apart."""
    filled = [line for line in chunk if not _RULE.fullmatch(line.text)]
    if len(filled) < 2:
        return False
    bars = all(line.bare.count("|") > 1 or " | " in line.text for line in filled)
    return bars or (len(filled) > 2 and all(_COLUMN.search(line.bare) for line in filled))
