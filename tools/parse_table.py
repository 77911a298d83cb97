"""Parse tables of separated values (.csv, .tsv): the header and each row as one block of the decoded file.

The csv module of the standard library reads the records, so quoted cells may hold separators, doubled quotes
and line breaks; the lines it took give each record its place.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from .decode import decode
from .evidence import Block, BlockKind, Parsed
from .places import place_of
from .text_lines import Line, lines_of

SEPARATORS = ",;\t|"
"""Signs that may stand between cells; where nothing speaks for one, the first is taken."""

_SAMPLE = 200
"""Lines that are looked at to find the separator, the usual width and the header."""

_MOST_LINES = 500
"""Lines of one record at most; beyond, its opening quote is taken for a sign of the text."""

_STATED = re.compile(r"sep=(.)\s*", re.I)
_VALUE = re.compile(
    r"[-+(]?[$€£]?\s?\d[\d.,' ]*\s?(?:%|[$€£]|e[-+]?\d+)?\)?"
    r"|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[T ][\d:.]+Z?)?"
    r"|\d{1,2}:\d\d(?::\d\d)?|true|false|null|none|n/?a|nan|-|\S+@\S+\.\w+|https?://\S+",
    re.I,
)
_YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d")
_LONGEST_NAME = 120
"""Characters of the name of a column at most."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record by its lines [first, last) with its cells; `number` counts rows from 1."""

    first: int
    last: int
    cells: tuple[str, ...]
    number: int


def parse_table(data: bytes, path: str) -> Parsed:
    """Return the rows of a file as blocks over its decoded text, with what stands above the header."""
    text = decode(data)
    name = PurePosixPath(path)
    lines = lines_of(text)
    separator, skipped = _separator(lines, name.suffix.lower())
    records = list(read_records(lines[skipped:], separator))
    blocks = _blocks(lines[skipped:], records)
    media_type = "text/tab-separated-values" if separator == "\t" else "text/csv"
    return Parsed(text, tuple(blocks), name.stem or name.name, media_type, "table/1")


def read_records(lines: Sequence[Line], separator: str) -> Iterator[Record]:
    """Yield the records of lines in order; a quote that is not closed is a sign of the text."""
    at = number = 0
    while at < len(lines):
        feed = _Feed(lines, at)
        for cells in _until_error(csv.reader(feed, delimiter=separator, skipinitialspace=True, strict=True)):
            number += 1
            yield Record(at, feed.at, tuple(cells), number)
            at = feed.opened = feed.at
        if at < len(lines):
            number += 1
            yield Record(at, at + 1, tuple(lines[at].text.split(separator)), number)
            at += 1


@dataclass(slots=True)
class _Feed:
    """Give the csv module line by line, and no more when a record has too many of them."""

    lines: Sequence[Line]
    at: int
    opened: int = 0

    def __post_init__(self) -> None:
        self.opened = self.at

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        if self.at >= len(self.lines) or self.at - self.opened >= _MOST_LINES:
            raise StopIteration
        self.at += 1
        return f"{self.lines[self.at - 1].text}\n"


def _until_error(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """Yield records until the csv module refuses one: an open quote, a sign behind a closed one."""
    try:
        yield from reader
    except csv.Error:
        return


def _separator(lines: Sequence[Line], suffix: str) -> tuple[str, int]:
    """Return the sign between cells, and how many lines only state it, as `sep=;` does."""
    stated = _STATED.fullmatch(lines[0].text)
    if stated:
        return stated[1], 1
    order = "\t,;|" if suffix in (".tsv", ".tab") else SEPARATORS
    sample = [line for line in lines[:_SAMPLE] if line.bare]
    return max(order, key=lambda sign: (_evenness(sample, sign), -order.index(sign))), 0


def _evenness(lines: Sequence[Line], separator: str) -> float:
    """Return how alike in width the records are by a separator: 0 where it stands in none of them."""
    widths = Counter(len(record.cells) for record in read_records(lines, separator))
    width, count = max(widths.items(), key=lambda pair: (pair[0] > 1, pair[1], pair[0]), default=(1, 0))
    return count / widths.total() if width > 1 else 0.0


def _blocks(lines: Sequence[Line], records: Sequence[Record]) -> list[Block]:
    filled = [record for record in records if any(cell.strip() for cell in record.cells)]
    above = _above_header(filled)
    has_header = names_columns(filled[above : above + _SAMPLE])
    blocks = []
    for i, record in enumerate(filled):
        kind: BlockKind = "caption" if i < above else "header" if i == above and has_header else "row"
        first, last = lines[record.first], lines[record.last - 1]
        start = first.start + len(first.text) - len(first.text.lstrip())
        end = last.start + len(last.text.rstrip())
        if start < end:
            blocks.append(Block(kind, start, end, 0, 1, element=place_of("row", record.number)))
    return blocks


def _above_header(records: Sequence[Record]) -> int:
    """Return how many records at the top are no rows but a title or remark: one cell where rows have more."""
    widths = Counter(len(record.cells) for record in records[:_SAMPLE])
    if not widths or widths.most_common(1)[0][0] < 2:
        return 0
    wide = (i for i, one in enumerate(records[:_SAMPLE]) if sum(bool(cell.strip()) for cell in one.cells) > 1)
    return next(wide, 0)


def names_columns(records: Sequence[Record]) -> bool:
    """Tell whether the first of the records names the columns of the others.

    Names are short words, all different, and do not come again below; years may be names above other values.
    A single column has a name when values such as numbers stand below it.
    """
    if len(records) < 2:
        return False
    names = [cell.strip() for cell in records[0].cells]
    filled = [name for name in names if name]
    if len(set(filled)) < len(filled) or any(len(n) > _LONGEST_NAME or "\n" in n for n in filled):
        return False
    if len(names) == 1 and not any(_VALUE.fullmatch(one.cells[0]) for one in records[1:] if one.cells):
        return False
    columns = [[one.cells[i].strip() for one in records[1:] if i < len(one.cells)] for i in range(len(names))]
    return all(_is_name(name, column) for name, column in zip(names, columns, strict=True) if name)


def _is_name(name: str, column: Sequence[str]) -> bool:
    if _YEAR.fullmatch(name):
        return sum(bool(_YEAR.fullmatch(value)) for value in column) <= len(column) // 2
    return name not in column and not _VALUE.fullmatch(name)
