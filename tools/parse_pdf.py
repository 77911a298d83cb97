"""Parse PDF: the text layer page by page, lines joined to paragraphs, running heads left out.

The canonical text holds the blocks one after another, a blank line between; the two parts of a paragraph
that runs over a page are two blocks of one `group` with a single space between, so that a sentence may cross.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil
from pathlib import PurePosixPath

from .errors import EmptyFileError
from .evidence import Block, BlockKind, Parsed
from .pdf_headings import Headings, find_headings
from .pdf_layer import Layer, Line, Page, read_layer
from .pdf_margins import main_text

_SENTENCE_END = re.compile(r"[.!?:;…]['\"”’)\]]*(?:\s?\d{1,2})?$")
_BULLETS = "•●∙·▪■◦○‣▸►–—*-"
_ITEM = re.compile(rf"(?:[{re.escape(_BULLETS)}]|\(?\d{{1,2}}[.)]|\(?[a-z][.)])\s+\S")
_OPENING = re.compile(r"[\"'“‘(\[]*[A-Z\d•●▪◦–<$/]")
_NOTE_MARK = re.compile(r"\d{1,3}|[*†‡§]")
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|\S+@\S+\.\w+")
_MENDED = ("/", "_", "=", "?", "&", "@")
_GAP = "\n\n"
_SHORT = 0.8
"""Share of the usual length of a line up to which a line that had room for the next word ends on purpose."""

_FEWEST_ROWS = 4
"""Lines of a run that may be the rows of a table or listing."""

_RAGGED = 0.4
"""Share of the lines of a run that end far from the margin from which it is a table or listing."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A block before it is laid out."""

    kind: BlockKind
    text: str
    page: int
    level: int = 0
    group: int = 0
    is_note: bool = False
    is_minor: bool = False


def parse_pdf(data: bytes, path: str) -> Parsed:
    """Return the text layer of a PDF with pages on the blocks; EmptyFileError for a scan without text."""
    layer = read_layer(data)
    empty = [page.number for page in layer.pages if not page.has_text]
    if len(empty) == len(layer.pages):
        raise EmptyFileError("no text on any page (a scan?)")
    pages = main_text(layer)
    headings = find_headings(pages, layer.outline)
    pieces = [piece for page in pages for piece in _pieces(page, headings)]
    text, blocks = _lay_out(_grouped(_flowing(list(_with_headers(pieces)))))
    warnings = tuple(f"page {number} has no text" for number in empty)
    title = _title(layer, headings) or PurePosixPath(path).stem
    return Parsed(text, tuple(blocks), title, "application/pdf", "pdf/1", warnings)


def _title(layer: Layer, headings: Headings) -> str:
    """Return the title the file names, unless it names a file, else the largest first line."""
    named = layer.title
    if named and not re.search(r"\.\w{2,4}$|^untitled", named, re.I):
        return " ".join(named.split())
    lines = [line for line in layer.pages[0].lines if line.text and line.size > 1.3 * headings.body]
    return max(lines, key=lambda line: line.size).text if lines else ""


def _pieces(page: Page, headings: Headings) -> Iterator[_Piece]:
    """Yield the headings, listings, paragraphs, items and rows of a page."""
    run: list[Line] = []
    usual = _usual_length(page.lines)
    i = 0
    while i < len(page.lines):
        line = page.lines[i]
        taken, level = headings.at(page, i)
        if taken or _parts(run, line, usual):
            yield from _joined(run, page.number, headings)
            run = []
        if taken:
            text = " ".join(one.text for one in page.lines[i : i + taken])
            minor = line.size <= headings.body and not text[0].isdigit()
            yield _Piece("heading", text, page.number, level, is_minor=minor)
        elif line.text:
            run.append(line)
        i += taken or 1
    yield from _joined(run, page.number, headings)


def _usual_length(lines: Sequence[Line]) -> float:
    """Return the length that four in five lines do not exceed."""
    lengths = sorted(len(line.text) for line in lines if line.text)
    return lengths[ceil(0.8 * (len(lengths) - 1))] if lengths else 0


def _parts(run: Sequence[Line], line: Line, usual: float) -> bool:
    """Tell whether a new block begins with a line."""
    if not run:
        return False
    last = run[-1]
    if len(run) == 1 and _NOTE_MARK.fullmatch(last.text) and line.text:
        return False
    if not line.text or line.mono != last.mono:
        return not line.text or not _is_inline(last, line)
    if line.mono:
        return False
    if (
        abs(line.size - last.size) > 1
        and min(line.size, last.size) > 0
        and not _NOTE_MARK.fullmatch(last.text)
    ):
        return True
    if _ADDRESS.fullmatch(last.text) and line.text[:1].isupper():
        return True
    if _ITEM.match(run[0].text) and not _ITEM.match(line.text) and run[0].size and line.size:
        return line.left < run[0].left + 2
    ended = bool(_SENTENCE_END.search(last.text))
    had_room = _had_room(last, line, usual)
    if _ITEM.match(line.text):
        return ended or had_room or bool(_ITEM.match(run[0].text)) or line.text[0] in _BULLETS[:10]
    if ended and len(last.text) < 0.9 * usual:
        return True
    return had_room and bool(_OPENING.match(line.text))


def _is_inline(last: Line, line: Line) -> bool:
    """Tell whether monospaced words only begin or end in the middle of a sentence."""
    return (last.mono and line.text[:1].islower()) or (line.mono and not _SENTENCE_END.search(last.text))


def _had_room(last: Line, line: Line, usual: float) -> bool:
    """Tell whether the next line's first word would have fitted, so that the line ends on purpose."""
    return len(last.text) + 1 + len(line.text.split(None, 1)[0]) < _SHORT * usual


def _joined(run: Sequence[Line], page: int, headings: Headings) -> Iterator[_Piece]:
    """Yield a run of lines as one listing, one item, the rows of a table, or one paragraph."""
    if not run:
        return
    is_note = 0 < run[0].size <= 0.86 * headings.body
    if all(line.mono for line in run) and (len(run) > 1 or " " in run[0].text.strip()):
        yield _Piece("code", _listing(run), page)
    elif _ITEM.match(run[0].text):
        yield _Piece("item", _prose(run), page, 1, is_note=is_note)
    elif _are_rows(run):
        yield from (
            _Piece("header" if i == 0 and line.bold else "row", line.text.strip(), page)
            for i, line in enumerate(run)
        )
    else:
        yield _Piece("paragraph", _prose(run), page, is_note=is_note)


def _are_rows(run: Sequence[Line]) -> bool:
    """Tell whether many lines of a run end far from the margin, as rows do and prose does not."""
    if len(run) < _FEWEST_ROWS:
        return False
    lengths = [len(line.text) for line in run]
    width = sorted(lengths)[-2]
    return sum(length < 0.75 * width for length in lengths[:-1]) >= _RAGGED * (len(run) - 1)


def _listing(run: Sequence[Line]) -> str:
    """Return a listing, indented as on the page; a monospaced character is 0.6 of its size wide."""
    margin = min(line.left for line in run)
    indents = [round((line.left - margin) / (0.6 * line.size)) if line.size else 0 for line in run]
    return "\n".join(" " * indent + line.text.strip() for indent, line in zip(indents, run, strict=True))


def _prose(run: Sequence[Line]) -> str:
    """Join lines with spaces; a path or address that is broken at a sign goes on without one."""
    text = run[0].text.strip()
    for line in run[1:]:
        broken = (
            text.endswith(_MENDED) and "/" in text.rsplit(None, 1)[-1] and len(text.rsplit(None, 1)[-1]) > 1
        )
        text += line.text.strip() if broken else f" {line.text.strip()}"
    return text


def _flowing(pieces: Sequence[_Piece]) -> list[_Piece]:
    """Give both parts of a paragraph that runs over a page one group; notes between them move behind."""
    flowing = list(pieces)
    group = 0
    for i in [i for i, piece in enumerate(flowing) if i and flowing[i - 1].page < piece.page]:
        last = next((k for k in range(i - 1, -1, -1) if not flowing[k].is_note), None)
        if last is None or flowing[last].page == flowing[i].page or not _runs_on(flowing[last], flowing[i]):
            continue
        group = flowing[last].group or group + 1
        one, other = (replace(flowing[k], kind="paragraph", level=0, group=group) for k in (last, i))
        flowing[last : i + 1] = [one, other, *flowing[last + 1 : i]]
    return flowing


def _runs_on(one: _Piece, other: _Piece) -> bool:
    """Tell whether a block ends within a sentence and the first one of the next page goes on in it."""
    if one.kind not in ("paragraph", "item") or other.kind != "paragraph" or _SENTENCE_END.search(one.text):
        return False
    first = other.text.lstrip("\"“‘'([")[:1]
    return first.islower() or first.isdigit() or (len(one.text) > 200 and other.text[:1].isalpha())


def _with_headers(pieces: Sequence[_Piece]) -> Iterator[_Piece]:
    """Turn bold lines in the size of the text right above rows into headers, and their like elsewhere."""
    above = [one.is_minor and other.kind == "row" for one, other in pairwise(pieces)]
    named = {piece.text for piece, is_header in zip(pieces, above, strict=False) if is_header}
    before: BlockKind = "heading"
    for piece in pieces:
        kind = piece.kind
        if piece.is_minor and piece.text in named:
            kind = "header"
        elif before == "header" and kind == "paragraph":
            kind = "row"
        yield replace(piece, kind=kind, level=piece.level if kind == piece.kind else 0)
        before = kind


def _grouped(pieces: Sequence[_Piece]) -> Iterator[_Piece]:
    """Number the lists, tables and listings behind the flows, and nest items by their sign."""
    group = max([0, *(piece.group for piece in pieces)])
    signs: list[str] = []
    before: BlockKind = "heading"
    for piece in pieces:
        if piece.is_note and piece.kind == "paragraph":
            yield piece
            continue
        family: BlockKind = "row" if piece.kind == "header" else piece.kind
        if piece.kind == "header" or family != before or piece.kind == "code":
            group += 1
            signs = []
        before = family
        if piece.kind == "item":
            sign = _sign(piece.text)
            signs = signs[: signs.index(sign) + 1] if sign in signs else [*signs, sign]
            yield replace(piece, group=group, level=len(signs))
        elif piece.kind in ("row", "header", "code"):
            yield replace(piece, group=group)
        else:
            yield piece


def _sign(text: str) -> str:
    """Return the kind of sign an item begins with: a bullet as it is, `1` or `a` for counted ones."""
    first = text.lstrip("(")[0]
    return "1" if first.isdigit() else "a" if first.isalpha() else first


def _lay_out(pieces: Iterator[_Piece]) -> tuple[str, list[Block]]:
    """Lay out blocks one after another."""
    parts: list[str] = []
    blocks: list[Block] = []
    length = 0
    for piece in pieces:
        flows = (
            blocks and piece.kind == blocks[-1].kind == "paragraph" and 0 < piece.group == blocks[-1].group
        )
        gap = "" if not blocks else " " if flows else _GAP
        start = length + len(gap)
        parts += [gap, piece.text]
        length = start + len(piece.text)
        blocks.append(Block(piece.kind, start, length, piece.level, piece.group, piece.page))
    return "".join(parts), blocks
