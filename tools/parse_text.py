"""Parse plain text and whatever reads as text: paragraphs, underlined headings, items, tables of CSV, code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from .decode import decode
from .evidence import Block, Parsed

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+:.])\1{2,}\s*$")
_ITEM = re.compile(r"\s*(?:[-*•+◦]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+\S")
_NUMBERED = re.compile(r"(\d+(?:\.\d+)*)\.?\s+[A-Z][^.!?]{2,70}$")
_TABLES = {".csv", ".tsv"}
_RECORDS = {".jsonl", ".ndjson", ".log"}
_CODE = frozenset(
    [
        ".py",
        ".js",
        ".ts",
        ".java",
        ".c",
        ".h",
        ".cpp",
        ".go",
        ".rs",
        ".rb",
        ".sh",
        ".sql",
        ".css",
        ".json",
        ".toml",
        ".yaml",
        ".yml",
        ".ini",
        ".cfg",
        ".conf",
        ".xml",
    ]
)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line with its place; `end` leaves out the line break."""

    start: int
    end: int
    text: str

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())


def parse_text(data: bytes, path: str) -> Parsed:
    """Return a text file as blocks over its decoded text."""
    text = decode(data)
    name = PurePosixPath(path)
    lines = list(_lines(text))
    suffix = name.suffix.lower()
    if suffix in _TABLES:
        blocks = _table(lines)
    elif suffix in _RECORDS:
        blocks = [Block("row", line.start, line.end, group=1) for line in lines if line.text.strip()]
    elif suffix in _CODE:
        blocks = [_block("code", chunk, group=i) for i, chunk in enumerate(_chunks(lines), 1)]
    else:
        blocks = _prose(lines, suffix == ".rst")
    return Parsed(text, tuple(blocks), _title(text, blocks, name), "text/plain", "text/1")


def _lines(text: str) -> Iterator[_Line]:
    for match in _LINE.finditer(text):
        if match.end() > match.start():
            bare = match.group(0).rstrip("\r\n")
            yield _Line(match.start(), match.start() + len(bare), bare)


def _title(text: str, blocks: Sequence[Block], name: PurePosixPath) -> str:
    """Return the first heading when the file opens with it, else the file's name."""
    first = blocks[0] if blocks else None
    if first and first.kind == "heading":
        return text[first.start : first.end].splitlines()[0].strip() or name.stem
    return name.stem


def _table(lines: Sequence[_Line]) -> list[Block]:
    """Return the first line as header and every other one as a row of one table."""
    filled = [line for line in lines if line.text.strip()]
    return [Block("row" if i else "header", line.start, line.end, group=1) for i, line in enumerate(filled)]


def _chunks(lines: Sequence[_Line]) -> Iterator[list[_Line]]:
    """Yield runs of lines between blank ones."""
    chunk: list[_Line] = []
    for line in lines:
        if line.text.strip():
            chunk.append(line)
        elif chunk:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _block(kind: str, chunk: Sequence[_Line], level: int = 0, group: int = 0) -> Block:
    first, last = chunk[0], chunk[-1]
    end = last.start + len(last.text.rstrip())
    return Block(kind, first.start + first.indent, end, level, group)  # type: ignore[arg-type]


def _prose(lines: Sequence[_Line], marked: bool) -> list[Block]:
    """Return paragraphs, headings and items; `marked` for reStructuredText, where `::` opens a literal block."""
    blocks: list[Block] = []
    signs: list[str] = []
    literal = False
    for chunk in _chunks(lines):
        heading = _heading(chunk, signs)
        if heading:
            blocks += heading
            chunk = chunk[2 if not _UNDERLINE.match(chunk[0].text) else 3 :]
            literal = False
        if not chunk or (marked and _is_directive(chunk)):
            literal = bool(chunk) and chunk[0].text.lstrip().startswith(".. code")
            continue
        literal = literal and min(line.indent for line in chunk) > 0
        group = len(blocks) + 1
        blocks += [_block("code", chunk, group=group)] if literal else _paragraph_or_items(chunk, blocks)
        literal = literal or (marked and chunk[-1].text.rstrip().endswith("::"))
    return blocks


def _is_directive(chunk: Sequence[_Line]) -> bool:
    return all(line.text.lstrip().startswith((".. ", ":")) or line.indent > 2 for line in chunk) and (
        chunk[0].text.startswith(".. ")
    )


def _heading(chunk: Sequence[_Line], signs: list[str]) -> list[Block]:
    """Return the heading a chunk opens with: underlined (perhaps overlined), or a numbered short line."""
    over = bool(_UNDERLINE.match(chunk[0].text)) and len(chunk) > 2
    lines = chunk[1:3] if over else chunk[:2]
    if len(lines) == 2 and lines[0].text.strip() and not lines[0].indent:
        match = _UNDERLINE.match(lines[1].text)
        if match and len(lines[1].text.strip()) >= len(lines[0].text.strip()) - 2:
            sign = match[1] + ("o" if over else "")
            if sign not in signs:
                signs.append(sign)
            return [_block("heading", lines[:1], level=min(6, signs.index(sign) + 1))]
    return []


def _paragraph_or_items(chunk: Sequence[_Line], before: Sequence[Block]) -> list[Block]:
    """Return a chunk as one paragraph, as a numbered heading, or as its items with the lines they run over."""
    numbered = _NUMBERED.match(chunk[0].text.strip())
    if numbered and len(chunk) == 1 and not chunk[0].indent:
        return [_block("heading", chunk, level=min(6, numbered[1].count(".") + 1))]
    runs: list[list[_Line]] = []
    for line in chunk:
        if _ITEM.match(line.text) or not runs:
            runs.append([line])
        else:
            runs[-1].append(line)
    group = before[-1].group if before and before[-1].kind == "item" else len(before) + 1
    return [
        _block("item", run, level=1 + run[0].indent // 2, group=group)
        if _ITEM.match(run[0].text)
        else _block("paragraph", run)
        for run in runs
    ]
