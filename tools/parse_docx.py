"""Parse DOCX: paragraphs and tables in order, headings by style, rows with their cells."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from .errors import DamagedFileError, EncryptedFileError
from .evidence import BlockKind, Parsed
from .layout import Layout

if TYPE_CHECKING:
    from docx.table import Table
    from docx.text.paragraph import Paragraph

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HEADING = re.compile(r"heading (\d)", re.I)
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MOST_UNPACKED = 400_000_000
"""Bytes of the unpacked parts at most, so that a small archive cannot fill the memory."""


def parse_docx(data: bytes, path: str) -> Parsed:
    """Return a DOCX file laid out block by block."""
    document = _open(data)
    walk = _Walk()
    for item in document.iter_inner_content():
        if hasattr(item, "rows"):
            walk.table(item)
        else:
            walk.paragraph(item)
    named = (document.core_properties.title or "").strip()
    heading = next((b for b in walk.layout.blocks if b.kind == "heading"), None)
    first = walk.layout.text[heading.start : heading.end] if heading else PurePosixPath(path).stem
    media = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    return walk.layout.parsed(named or first, media, "docx/1")


def _open(data: bytes) -> Any:  # noqa: ANN401  (docx.document.Document is untyped)
    if data.startswith(_OLE):
        raise EncryptedFileError("password required, or an old .doc file")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(part.file_size for part in archive.infolist()) > MOST_UNPACKED:
                raise DamagedFileError(f"unpacks to more than {MOST_UNPACKED // 1_000_000} MB")
        from docx import Document

        return Document(io.BytesIO(data))
    except DamagedFileError:
        raise
    except Exception as error:
        raise DamagedFileError("not a readable Word file") from error


class _Walk:
    """Lay out paragraphs and tables with their places counted from 1."""

    def __init__(self) -> None:
        self.layout = Layout()
        self._paragraphs = 0
        self._tables = 0
        self._list = 0
        self._levels: dict[str, int] = {}

    def paragraph(self, paragraph: Paragraph) -> None:
        """Lay out one paragraph as heading, item or prose."""
        self._paragraphs += 1
        text = " ".join(paragraph.text.split())
        if not text:
            return
        kind, level = self._kind(paragraph)
        if kind == "item":
            self._list = self._list or self.layout.next_group()
        else:
            self._list = 0
        self.layout.add(kind, text, level, self._list, f"paragraph {self._paragraphs}")

    def _kind(self, paragraph: Paragraph) -> tuple[BlockKind, int]:
        style = (paragraph.style.name if paragraph.style is not None else "") or ""
        heading = _HEADING.match(style)
        if heading:
            return "heading", min(6, max(1, int(heading[1])))
        if style.casefold() == "title":
            return "heading", 1
        level = _list_level(paragraph)
        return ("item", level) if level or style.casefold().startswith("list") else ("paragraph", 0)

    def table(self, table: Table) -> None:
        """Lay out a table: the first row as its header, every row with its cells between bars."""
        self._tables += 1
        group = self.layout.next_group()
        self._list = 0
        for number, row in enumerate(table.rows, 1):
            cells = [" ".join(cell.split()) for cell in _cells(row)]
            text = " | ".join(cells) if any(cells) else ""
            kind: BlockKind = "header" if number == 1 and len(table.rows) > 1 else "row"
            self.layout.add(kind, text, group=group, element=f"table {self._tables} row {number}")


def _list_level(paragraph: Paragraph) -> int:
    """Return the nesting depth of a numbered or bulleted paragraph from 1, else 0."""
    properties = paragraph._p.pPr
    numbering = properties.numPr if properties is not None else None
    if numbering is None or numbering.numId is None or numbering.numId.val == 0:
        return 0
    return 1 + (int(numbering.ilvl.val) if numbering.ilvl is not None else 0)


def _cells(row: Any) -> list[str]:  # noqa: ANN401  (docx.table._Row is untyped)
    """Return the text of each cell of a row; a cell merged over columns counts once."""
    return ["\n".join(p.text for p in cell.paragraphs) for cell in _once(row.cells)]


def _once(cells: Any) -> list[Any]:  # noqa: ANN401
    seen: list[Any] = []
    for cell in cells:
        if not any(cell._tc is other._tc for other in seen):
            seen.append(cell)
    return seen
