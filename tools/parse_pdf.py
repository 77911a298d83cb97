"""Parse PDF: the text layer page by page, lines joined to paragraphs, running heads left out of the blocks."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from .errors import DamagedFileError, EmptyFileError, EncryptedFileError
from .evidence import Block, BlockKind, Parsed

if TYPE_CHECKING:
    import pypdfium2

_LOCK = threading.Lock()
"""PDFium keeps state that threads may not share."""

_BROKEN_WORD = re.compile(r"[\ufffe\x02\u00ad]\s*")
_LIGATURES = re.compile(r"[\ufb00-\ufb06]")
_DIGITS = re.compile(r"\d+")
_SENTENCE_END = re.compile(r"[.!?:;…]['\"”’)\]]*$")
_ITEM = re.compile(r"(?:[•●▪◦‣–*-]|\(?\d{1,2}[.)]|\(?[a-z][.)])\s+\S")
_NUMBERED = re.compile(
    r"(?:(?:chapter|section|appendix|part)\s+)?(\d+(?:\.\d+)*|[A-Z](?=\.))\.?\s+[A-Z0-9/(][^.!?]{1,78}$", re.I
)
_LEADERS = re.compile(r"(?:\.\s?){5,}\s*\d+\s*$")
_PAGE_GAP = "\n\n"
RUNNING = 0.4
"""Share of the pages on which the same first or last line makes it a running head."""


@dataclass(frozen=True, slots=True)
class _Page:
    number: int
    lines: tuple[str, ...]


def parse_pdf(data: bytes, path: str) -> Parsed:
    """Return the text layer of a PDF, page after page, with pages on the blocks."""
    raw, title = _read(data)
    pages = [_Page(i, tuple(_lines(text))) for i, text in enumerate(raw, 1)]
    empty = [page.number for page in pages if not any(c.isalnum() for line in page.lines for c in line)]
    if len(empty) == len(pages):
        raise EmptyFileError("no text on any page (a scan?)")
    running = _running_lines(pages)
    text, blocks = _lay_out(pages, running)
    warnings = tuple(f"page {number} has no text" for number in empty)
    named = title or PurePosixPath(path).stem
    return Parsed(text, tuple(_flowing(text, blocks)), named, "application/pdf", "pdf/1", warnings)


def _read(data: bytes) -> tuple[list[str], str]:
    """Return the text of each page and the title of the document."""
    import pypdfium2

    with _LOCK:
        document = _open(pypdfium2, data)
        try:
            title = (document.get_metadata_dict().get("Title") or "").strip()
            return [_page_text(document, i) for i in range(len(document))], title
        except pypdfium2.PdfiumError as error:
            raise DamagedFileError("not a readable PDF") from error
        finally:
            document.close()


def _open(library: Any, data: bytes) -> pypdfium2.PdfDocument:  # noqa: ANN401  (the module)
    try:
        return library.PdfDocument(data)
    except library.PdfiumError as error:
        if "password" in str(error).casefold():
            raise EncryptedFileError("password required") from error
        raise DamagedFileError("not a readable PDF") from error


def _page_text(document: pypdfium2.PdfDocument, index: int) -> str:
    page = document[index]
    layer = page.get_textpage()
    try:
        return str(layer.get_text_bounded())
    finally:
        layer.close()
        page.close()


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of a page with broken words joined and ligatures spelled out."""
    joined = _BROKEN_WORD.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    spelled = _LIGATURES.sub(lambda match: unicodedata.normalize("NFKC", match.group(0)), joined)
    for line in spelled.split("\n"):
        yield " ".join("".join(c for c in line if c.isprintable() or c.isspace()).split())


def _running_lines(pages: Sequence[_Page]) -> set[str]:
    """Return the first and last lines that come back on many pages, digits aside."""
    counts = Counter(_DIGITS.sub("#", line) for page in pages for line in {*_edges(page)})
    fewest = max(3, RUNNING * len(pages))
    return {line for line, count in counts.items() if count >= fewest}


def _edges(page: _Page) -> Iterator[str]:
    filled = [line for line in page.lines if line]
    yield from filled[:2]
    yield from filled[-2:]


def _lay_out(pages: Sequence[_Page], running: set[str]) -> tuple[str, list[Block]]:
    """Lay out the paragraphs of all pages one after another."""
    parts: list[str] = []
    blocks: list[Block] = []
    length = 0
    for page in pages:
        for kind, level, text in _paragraphs(_without_running(page, running)):
            start = length + (len(_PAGE_GAP) if parts else 0)
            parts.append(text)
            length = start + len(text)
            blocks.append(Block(kind, start, length, level, page=page.number))
    return _PAGE_GAP.join(parts), blocks


def _without_running(page: _Page, running: set[str]) -> list[str]:
    """Return a page's lines without running heads, lone page numbers at its edges, and tables of contents."""
    edges = {*_edges(page)}
    return [
        line
        for line in page.lines
        if not _LEADERS.search(line)
        and not (
            line in edges and (_DIGITS.sub("#", line) in running or re.fullmatch(r"[\divxlc]{1,6}", line))
        )
    ]


def _paragraphs(lines: Sequence[str]) -> Iterator[tuple[BlockKind, int, str]]:
    """Join lines to paragraphs, items and headings; a short line that ends a sentence ends its paragraph."""
    usual = _usual_length(lines)
    run: list[str] = []
    for line in lines:
        heading = _NUMBERED.match(line) if len(line) < 0.8 * usual or len(line) < 60 else None
        opens = not line or _ITEM.match(line) or heading
        if run and (opens or _closes(run[-1], usual)):
            yield _joined(run)
            run = []
        if heading and not _SENTENCE_END.search(line):
            yield "heading", min(6, heading[1].count(".") + 1), line
        elif line:
            run.append(line)
    if run:
        yield _joined(run)


def _usual_length(lines: Sequence[str]) -> float:
    lengths = sorted(len(line) for line in lines if line)
    return lengths[int(0.8 * (len(lengths) - 1))] if lengths else 0


def _closes(line: str, usual: float) -> bool:
    """Tell whether a line is the last of its paragraph: short, and a sentence ends with it."""
    return bool(_SENTENCE_END.search(line)) and len(line) < 0.9 * usual


def _joined(run: Sequence[str]) -> tuple[BlockKind, int, str]:
    text = run[0]
    for line in run[1:]:
        text += line if text.endswith(("/", "_")) and not text.endswith(" /") else f" {line}"
    return ("item", 1, text) if _ITEM.match(run[0]) else ("paragraph", 0, text)


def _flowing(text: str, blocks: Sequence[Block]) -> Iterator[Block]:
    """Put the last paragraph of a page and the first of the next into one group when the sentence runs on."""
    group = 0
    flows = [0] * len(blocks)
    for i in range(len(blocks) - 1):
        one, other = blocks[i], blocks[i + 1]
        if one.page != other.page and _runs_on(text, one, other):
            group = flows[i] or group + 1
            flows[i] = flows[i + 1] = group
    lists = group
    for i, (block, flow) in enumerate(zip(blocks, flows, strict=True)):
        if block.kind == "item":
            lists += not (i and blocks[i - 1].kind == "item")
            flow = lists
        yield Block(block.kind, block.start, block.end, block.level, flow, block.page)


def _runs_on(text: str, one: Block, other: Block) -> bool:
    """Tell whether a paragraph ends without the end of a sentence and the next page goes on in it."""
    if (
        one.kind != "paragraph"
        or other.kind != "paragraph"
        or _SENTENCE_END.search(text[one.start : one.end])
    ):
        return False
    first = text[other.start]
    return first.islower() or first.isdigit() or first in "(\"“'"
