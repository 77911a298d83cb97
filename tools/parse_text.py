"""Parse plain text and whatever reads as text; the canonical text is the decoded file.

A log is read line by line; all else is prose with headings where they are evident, lists, rows in columns and
indented code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from .decode import decode
from .evidence import Block, Parsed
from .places import lines_place
from .text_headings import Headings, headline_level, title_of, underlined
from .text_lines import ITEM, Flow, Line, chunks, cut, lines_of

_SIGNS = re.compile(r"[{}();=<>$|\\]|\s--\w|^\s*(?:#|>>>|\.\.\.)")
_CODE_INDENT = 4
_MOST_LINES = 40
"""Lines of one entry of a log at most."""

_MARGIN_SHARE = 0.2
"""Share of the lines that an indent must have to be the margin of the text."""

_CODE_SHARE = 0.5
"""Share of the lines of an indented run that carry signs of code from which it is a listing."""


def parse_text(data: bytes, path: str) -> Parsed:
    """Return a text file as blocks over its decoded text."""
    text = decode(data)
    name = PurePosixPath(path)
    if name.suffix.lower() == ".log":
        blocks = tuple(_log(lines_of(text)))
        return Parsed(text, blocks, name.stem or name.name, "text/plain", "log/1")
    blocks = tuple(_prose(lines_of(text)))
    return Parsed(text, blocks, title_of(text, blocks, name), "text/plain", "text/1")


def _log(lines: Sequence[Line]) -> list[Block]:
    """Return a line a row; lines that are indented, as those of a traceback, go on in the row before."""
    rows: list[list[tuple[int, Line]]] = []
    for numbered in enumerate(lines, 1):
        line = numbered[1]
        if rows and line.bare and line.indent and len(rows[-1]) < _MOST_LINES:
            rows[-1].append(numbered)
        elif line.bare:
            rows.append([numbered])
    blocks = (cut("row", [line for _, line in row], 0, 1) for row in rows)
    return [
        replace(block, element=lines_place(row[0][0], row[-1][0]))
        for block, row in zip(blocks, rows, strict=True)
    ]


def _prose(lines: Sequence[Line]) -> list[Block]:
    reading = _Prose(list(chunks(lines)))
    return reading.blocks()


@dataclass(slots=True)
class _Prose:
    """Read running text chunk by chunk."""

    runs: list[list[Line]]
    _flow: Flow = field(default_factory=Flow)
    _headings: Headings = field(default_factory=Headings)

    def blocks(self) -> list[Block]:
        """Return headings, paragraphs, items, rows and listings in order."""
        margin = _margin(self.runs)
        for i, run in enumerate(self.runs):
            taken = underlined(run)
            if taken:
                self._flow.add("heading", [run[taken - 2]], self._headings.level_of(run, taken))
                run = run[taken:]
            elif level := self._headline(i):
                self._flow.add("heading", run, level)
                continue
            if run and _is_listing(run, margin):
                self._flow.listing(run)
            elif run:
                self._flow.prose(run)
        return self._flow.blocks

    def _headline(self, i: int) -> int:
        """Return the level of a single line that is evidently a heading, else 0."""
        run = self.runs[i]
        if len(run) > 1 or i + 1 == len(self.runs):
            return 0
        item = ITEM.match(run[0].text)
        follows = ITEM.match(self.runs[i + 1][0].text)
        if item and (self._flow.in_list or follows):
            return 0
        return headline_level(run[0].bare, is_first=i == 0)


def _margin(runs: Sequence[Sequence[Line]]) -> int:
    """Return the columns by which running text is indented: the fewest that many lines share."""
    counts = Counter(line.indent for run in runs for line in run)
    shared = [indent for indent, count in counts.items() if count >= _MARGIN_SHARE * counts.total()]
    return min(shared, default=0)


def _is_listing(run: Sequence[Line], margin: int) -> bool:
    """Tell whether a run is code: indented beyond the text, and worded as code is."""
    if ITEM.match(run[0].text) or min(line.indent for line in run) < margin + _CODE_INDENT:
        return False
    return sum(bool(_SIGNS.search(line.text)) for line in run) >= _CODE_SHARE * len(run)
