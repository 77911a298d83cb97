"""Parse DOCX: paragraphs and tables in order, headings by style, rows with their cells, notes at the end."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from .docx_xml import cells, content, is_bold, named, text_boxes, text_of, value
from .errors import DamagedFileError, EncryptedFileError
from .evidence import BlockKind, Parsed
from .layout import Layout

_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_HEADING = re.compile(r"heading (\d)", re.I)
_CONTENTS = re.compile(r"toc \d|table of figures")
_NO_TITLE = re.compile(
    r"(?:word|microsoft word|untitled|document ?\d*)\b.*|.*\.(?:docx?|dotx?|rtf|pdf)", re.I
)
_LONGEST_HEADING = 100
"""Characters of a bold line that may stand for a heading in a file without heading styles."""

MOST_UNPACKED = 400_000_000
"""Bytes of the unpacked parts at most, so that a small archive cannot fill the memory."""

_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    SyntaxError,  # lxml's XMLSyntaxError
    KeyError,
    ValueError,  # python-docx: not a Word file
    IndexError,
    AttributeError,  # python-docx: a part is missing
    TypeError,
    EOFError,
    OSError,
    NotImplementedError,  # a compression method that zipfile does not know
)


def parse_docx(data: bytes, path: str) -> Parsed:
    """Return a DOCX file laid out block by block."""
    _refuse(data)
    try:
        walk = _read(data)
        title = _title(walk)
    except _DAMAGE as error:
        raise DamagedFileError("not a readable Word file") from error
    return walk.layout.parsed(title or PurePosixPath(path).stem, _MEDIA_TYPE, "docx/1")


def _refuse(data: bytes) -> None:
    """Raise for files that are encrypted, of the old format, no archive, or too large when unpacked."""
    if data.startswith(_OLE):
        if _ENCRYPTED in data:
            raise EncryptedFileError("password required")
        raise DamagedFileError("an old Word file; save it as .docx")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.infolist()
    except _DAMAGE as error:
        raise DamagedFileError("not a readable Word file") from error
    if any(part.flag_bits & 1 for part in parts):
        raise EncryptedFileError("password required")
    if sum(part.file_size for part in parts) > MOST_UNPACKED:
        raise DamagedFileError(f"unpacks to more than {MOST_UNPACKED // 1_000_000} MB")


def _read(data: bytes) -> _Walk:
    from docx import Document

    document = Document(io.BytesIO(data))
    walk = _Walk(_Styles.of(document))
    walk.named = document.core_properties.title or ""
    walk.through(document.element.body)
    for kind in ("footnote", "endnote"):
        walk.notes(kind, document.part.rels.values())
    return walk


def _title(walk: _Walk) -> str:
    """Return the title the file names, unless Word made it up, else its title line or first heading."""
    given = " ".join(walk.named.split())
    if given and not _NO_TITLE.fullmatch(given):
        return given
    first = next((block for block in walk.layout.blocks if block.kind == "heading"), None)
    return walk.title or (walk.layout.text[first.start : first.end] if first else "")


@dataclass(frozen=True, slots=True)
class _Styles:
    """What the styles of a file say of paragraphs, by style id: name, level of heading, depth of list."""

    names: dict[str, str]
    headings: dict[str, int]
    lists: dict[str, int]

    @classmethod
    def of(cls, document: Any) -> _Styles:  # noqa: ANN401  (docx.document.Document is untyped)
        """Return the styles of a file; what a style does not say it has from the one it is based on."""
        elements = {
            style.get(named("styleId")): style for style in document.styles.element.iter(named("style"))
        }
        styles = cls({}, {}, {})
        for id in elements:
            chain = list(_chain(id, elements))
            styles.names[id] = (value(elements[id], "name") or "").casefold()
            level = next((level for style in chain if (level := _style_level(style)) is not None), None)
            if level:
                styles.headings[id] = level
            if any(value(style, "pPr", "numPr", "numId") not in (None, "0") for style in chain):
                styles.lists[id] = 1 + int(value(elements[id], "pPr", "numPr", "ilvl") or 0)
        return styles


def _chain(id: str, elements: dict[str, Any]) -> Iterator[Any]:
    """Yield a style and those it is based on."""
    seen: set[str] = set()
    current: str | None = id
    while current in elements and current not in seen:
        seen.add(current)
        yield elements[current]
        current = value(elements[current], "basedOn")


def _style_level(style: Any) -> int | None:  # noqa: ANN401
    """Return the heading level a style states: 1 to 6, 0 for running text, None when it states none."""
    match = _HEADING.fullmatch(value(style, "name") or "")
    if match:
        return min(6, max(1, int(match[1])))
    return _outline_level(style)


def _outline_level(element: Any) -> int | None:  # noqa: ANN401
    outline = value(element, "pPr", "outlineLvl")
    if outline is None or not outline.isdecimal():
        return None
    return int(outline) + 1 if int(outline) < 6 else 0


@dataclass(slots=True)
class _Walk:
    """Lay out paragraphs and tables with their places counted from 1."""

    styles: _Styles
    layout: Layout = field(default_factory=Layout)
    named: str = ""
    title: str = ""
    _paragraphs: int = 0
    _tables: int = 0
    _list: int = 0
    _bold_leads: bool = False

    def through(self, body: Any) -> None:  # noqa: ANN401
        """Lay out the body of a file."""
        blocks = list(content(body, "p", "tbl"))
        self._bold_leads = not any(self._heading(block) for block in blocks if block.tag == named("p"))
        for block in blocks:
            if block.tag == named("p"):
                self._paragraphs += 1
                self._paragraph(block, f"paragraph {self._paragraphs}")
            else:
                self._tables += 1
                self._table(block, f"table {self._tables}")

    def notes(self, kind: str, relations: Any) -> None:  # noqa: ANN401
        """Lay out the footnotes or endnotes of a file."""
        from docx.oxml.parser import parse_xml

        self._list = 0
        for relation in relations:
            if relation.reltype.endswith(f"/{kind}s") and not relation.is_external:
                notes = parse_xml(relation.target_part.blob)
                own = [
                    note for note in notes.iter(named(kind)) if note.get(named("type")) in (None, "normal")
                ]
                for number, note in enumerate(own, 1):
                    self.layout.add("paragraph", text_of(note), element=f"{kind} {number}")

    def _paragraph(self, paragraph: Any, element: str) -> None:  # noqa: ANN401
        """Lay out one paragraph as heading, item or prose, and the text boxes in it."""
        text = text_of(paragraph)
        if text and not _CONTENTS.match(self._style(paragraph)):
            kind, level = self._kind(paragraph, text)
            if kind == "item":
                self._list = self._list or self.layout.next_group()
            else:
                self._list = 0
            self.layout.add(kind, text, level, self._list, element)
        boxes = [text_of(box) for box in text_boxes(paragraph)]
        for text in dict.fromkeys(boxes):
            self._list = 0
            self.layout.add("paragraph", text, element=element)

    def _kind(self, paragraph: Any, text: str) -> tuple[BlockKind, int]:  # noqa: ANN401
        style = value(paragraph, "pPr", "pStyle") or ""
        name = self._style(paragraph)
        if name == "title":
            self.title = self.title or text
            return "heading", 1
        level = self._heading(paragraph)
        if level:
            return "heading", level
        depth = self._depth(paragraph, style, name)
        if depth:
            return "item", depth
        if (
            self._bold_leads
            and len(text) <= _LONGEST_HEADING
            and text[-1] not in ".,;:"
            and is_bold(paragraph)
        ):
            return "heading", 2
        return "paragraph", 0

    def _style(self, paragraph: Any) -> str:  # noqa: ANN401
        return self.styles.names.get(value(paragraph, "pPr", "pStyle") or "", "")

    def _heading(self, paragraph: Any) -> int:  # noqa: ANN401
        """Return a paragraph's heading level, 0 for running text."""
        own = _outline_level(paragraph)
        level = self.styles.headings.get(value(paragraph, "pPr", "pStyle") or "", 0) if own is None else own
        return level if level and text_of(paragraph) else 0

    def _depth(self, paragraph: Any, style: str, name: str) -> int:  # noqa: ANN401
        """Return the nesting depth of a list item from 1, 0 for what is none."""
        number = value(paragraph, "pPr", "numPr", "numId")
        if number == "0":
            return 0
        if number is not None:
            return 1 + int(value(paragraph, "pPr", "numPr", "ilvl") or 0)
        named_depth = re.fullmatch(r"list (?:bullet|number)(?: (\d))?", name)
        return int(named_depth[1] or 1) if named_depth else self.styles.lists.get(style, 0)

    def _table(self, table: Any, element: str) -> None:  # noqa: ANN401
        """Lay out a table row by row, the first as its header; one that only arranges text as paragraphs."""
        rows = list(content(table, "tr"))
        self._list = 0
        if _arranges(rows):
            for number, row in enumerate(rows, 1):
                for paragraph in row.iter(named("p")):
                    self._paragraph(paragraph, f"{element} row {number}")
            self._list = 0
            return
        group = self.layout.next_group()
        for number, row in enumerate(rows, 1):
            texts = cells(row)
            kind: BlockKind = "header" if number == 1 and len(rows) > 1 else "row"
            if any(texts):
                self.layout.add(kind, " | ".join(texts), 0, group, f"{element} row {number}")


def _arranges(rows: list[Any]) -> bool:
    """Tell whether a table has one column only, or tables in its cells."""
    one_column = all(sum(1 for _ in content(row, "tc")) < 2 for row in rows)
    return one_column or any(next(row.iter(named("tbl")), None) is not None for row in rows)
