"""Parse plain text and whatever reads as text; the canonical text is the decoded file.

By the file's suffix: tables (.csv, .tsv), records (.json, .jsonl, .log), source code, reStructuredText; all
else is prose with headings where they are evident, lists, rows in columns and indented code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from .decode import decode
from .evidence import Block, Parsed
from .text_headings import Headings, headline_level, underlined
from .text_lines import ITEM, Flow, Line, chunks, lines_of

_TABLES = frozenset([".csv", ".tsv"])
_RECORDS = frozenset([".json", ".jsonl", ".ndjson", ".log"])
_MARKUP = frozenset([".rst", ".rest"])
_CODE = frozenset(
    re.findall(
        r"\.\w+",
        """.py .pyi .js .jsx .mjs .ts .tsx .java .kt .kts .scala .c .h .cc .cpp .hpp .cs .go .rs
        .rb .php .swift .lua .pl .r .jl .hs .ex .exs .erl .clj .el .lisp .sh .bash .zsh .fish
        .ps1 .bat .sql .css .scss .less .toml .yaml .yml .ini .cfg .conf .properties .env .xml
        .xsd .svg .gradle .cmake .mk .tf .proto .graphql .diff .patch .dockerfile""",
    )
)
_SIGNS = re.compile(r"[{}();=<>$|\\]|\s--\w|^\s*(?:#|>>>|\.\.\.)")
_CODE_INDENT = 4
_MARGIN_SHARE = 0.2
"""Share of the lines that an indent must have to be the margin of the text."""

_CODE_SHARE = 0.5
"""Share of the lines of an indented run that carry signs of code from which it is a listing."""


def parse_text(data: bytes, path: str) -> Parsed:
    """Return a text file as blocks over its decoded text."""
    text = decode(data)
    name = PurePosixPath(path)
    blocks = _reading(name.suffix.lower())(lines_of(text))
    return Parsed(text, tuple(blocks), _title(text, blocks, name), "text/plain", "text/1")


def _reading(suffix: str) -> Callable[[Sequence[Line]], list[Block]]:
    """Return how the lines of a file are read, by its suffix."""
    if suffix in _MARKUP:
        from .parse_rst import read_rst

        return read_rst
    if suffix in _TABLES:
        return _table
    if suffix in _RECORDS:
        return _records
    return _code if suffix in _CODE else _prose


def _title(text: str, blocks: Sequence[Block], name: PurePosixPath) -> str:
    """Return the first heading when the file opens with it, else the file's name."""
    first = next((block for block in blocks if block.kind != "code"), None)
    if first and first.kind == "heading":
        return " ".join(text[first.start : first.end].split())
    return name.stem or name.name


def _table(lines: Sequence[Line]) -> list[Block]:
    """Return the first record as header and every other one as a row; a quoted cell may hold line breaks."""
    flow = Flow()
    group = flow.next_group()
    record: list[Line] = []
    for line in lines:
        if record or line.bare:
            record.append(line)
        if record and sum(one.text.count('"') for one in record) % 2 == 0:
            flow.add("row" if flow.blocks else "header", record, 0, group)
            record = []
    for line in record:
        if line.bare:
            flow.add("row", [line], 0, group)
    return flow.blocks


def _records(lines: Sequence[Line]) -> list[Block]:
    flow = Flow()
    group = flow.next_group()
    for line in lines:
        if line.bare:
            flow.add("row", [line], 0, group)
    return flow.blocks


def _code(lines: Sequence[Line]) -> list[Block]:
    """Return the blocks of source code: cut at blank lines before a line that is not indented."""
    flow = Flow()
    group = flow.next_group()
    block: list[Line] = []
    for chunk in chunks(lines):
        if block and not chunk[0].indent:
            flow.add("code", block, 0, group)
            block = []
        block += chunk
    if block:
        flow.add("code", block, 0, group)
    return flow.blocks


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
