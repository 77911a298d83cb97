"""Parse HTML: the main content as blocks, with headings, lists, tables, code; no menus, scripts or banners.

A term and its definition are one item, a line break between them; apart from white space and the bars
between the cells of a row the text of a block is the text of its element.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from .decode import decode
from .evidence import BlockKind, Parsed
from .html_content import main_content
from .html_tree import BLOCKS, Paths, steps, text_of
from .layout import Layout

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset(["ul", "ol", "dl", "menu"])
_OF_LISTS = frozenset(["item", "definition", "term"])
_SECTIONS = re.compile(
    r"\b(?:section|chapter|appendix|preface|article|book|part|sect\d|refsect\d|refentry)\b"
)
_CALLOUTS = re.compile(r"\b(?:note|warning|tip|caution|important|admonition|alert|callout)\b")
_DECLARED = re.compile(rb"(?:charset|encoding)=[\"']?\s*([\w.:-]+)", re.I)
_MOST_TERMS = 4
"""Terms that may share one definition; more of them are entries of their own."""


def parse_html(data: bytes, path: str) -> Parsed:
    """Return the main content of an HTML page, laid out block by block."""
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser(decode(data, _declared(data)))
    roots, left_out = main_content(page)
    walk = _Walk(Layout(), Paths(page), left_out)
    for root in roots:
        walk.through(root)
    title = _title(page, walk.layout) or PurePosixPath(path).stem
    return walk.layout.parsed(title, "text/html", "html/1")


def _declared(data: bytes) -> str | None:
    """Return the encoding a page states in its first bytes."""
    stated = _DECLARED.search(data[:2048])
    return stated[1].decode("ascii", "replace") if stated else None


def _title(page: LexborHTMLParser, layout: Layout) -> str:
    """Return the page's title, else its first heading."""
    node = page.css_first("title")
    named = text_of(node, ()) if node is not None else ""
    heading = next((block for block in layout.blocks if block.kind == "heading"), None)
    return named or (layout.text[heading.start : heading.end] if heading else "")


@dataclass(slots=True)
class _Place:
    """An open element that says what its text is; `level` is that of a heading, or of a section's heading."""

    node: LexborNode
    role: str
    level: int = 0


@dataclass(slots=True)
class _Walk:
    """Walk a page in order and lay out its blocks."""

    layout: Layout
    paths: Paths
    closed: set[int]
    _open: list[_Place] = field(default_factory=list)
    _line: list[str] = field(default_factory=list)
    _terms: list[str] = field(default_factory=list)
    _group: int = 0

    def through(self, root: LexborNode) -> None:
        """Lay out a node and everything in it."""
        for node, entering in steps(root, self.closed):
            tag = node.tag or ""
            if tag == "-text" or tag == "br":
                self._line.append(("\n" if tag == "br" else node.text_content or "") if entering else "")
            elif tag in BLOCKS:
                self._flush(node if not entering else node.parent or node)
                if entering:
                    self._enter(node, tag)
                else:
                    self._leave(node)
        self._flush(root)

    def _enter(self, node: LexborNode, tag: str) -> None:
        if tag == "table" and _is_data(node):
            self._settle()
            self._table(node)
            self.closed.add(node.mem_id)
        elif tag in _HEADINGS and not self._within("item", "definition", "callout", "term"):
            self._open.append(_Place(node, "heading", self._level(_HEADINGS[tag])))
        elif tag == "pre":
            self._settle()
            self._open.append(_Place(node, "code"))
        elif tag in _LISTS:
            self._settle()
            if not self._within("list"):
                self._group = self.layout.next_group()
            self._open.append(_Place(node, "list"))
        elif (role := _role(node, tag)) and (role not in _OF_LISTS or self._within("list")):
            self._open.append(_Place(node, role))

    def _leave(self, node: LexborNode) -> None:
        if self._open and self._open[-1].node.mem_id == node.mem_id:
            if self._open[-1].role in ("list", "definition"):
                self._settle()
            self._open.pop()

    def _within(self, *roles: str) -> bool:
        return any(place.role in roles for place in self._open)

    def _depth(self) -> int:
        return sum(place.role == "list" for place in self._open)

    def _level(self, level: int) -> int:
        """Return a heading's level below the headings of the sections around it."""
        sections = [place for place in self._open if place.role == "section"]
        titled = [place.level for place in sections if place.level]
        first = bool(sections) and not sections[-1].level
        outer = max(titled, default=0) if first else max([place.level for place in sections[:-1]], default=0)
        level = min(6, max(level, outer + 1))
        if first:
            sections[-1].level = level
        return level

    def _flush(self, owner: LexborNode) -> None:
        """Lay out the text read since the last block began."""
        raw, self._line = "".join(self._line), []
        text = " ".join(raw.split())
        if not text:
            return
        place = next((one for one in reversed(self._open) if one.role not in ("section", "callout")), None)
        role = place.role if place is not None else ""
        if place is None or role in ("list", "caption"):
            self._add("caption" if role == "caption" else "paragraph", text, owner)
        elif role == "code":
            group = self._group if self._depth() else self.layout.next_group()
            self._add("code", raw.strip("\n").rstrip(), place.node, self._depth(), group)
        elif role == "heading":
            self._add("heading", text, place.node, place.level)
        elif role == "term":
            self._terms.append(text)
        else:
            self._item(text, owner if not self._terms else place.node.parent or owner)

    def _item(self, text: str, owner: LexborNode) -> None:
        """Lay out the text of an item; the first of a definition stands with its terms."""
        while len(self._terms) > _MOST_TERMS:
            self._add("item", self._terms.pop(0), owner, self._depth(), self._group)
        self._add("item", "\n".join([*self._terms, text]), owner, self._depth(), self._group)
        self._terms = []

    def _settle(self) -> None:
        """Lay out terms that have no text of their own behind them."""
        if self._terms:
            owner = next(place.node for place in reversed(self._open) if place.role == "list")
            for term in self._terms:
                self._add("item", term, owner, max(1, self._depth()), self._group)
            self._terms = []

    def _add(self, kind: BlockKind, text: str, node: LexborNode, level: int = 0, group: int = 0) -> None:
        self.layout.add(kind, text, level, group, self.paths.of(node))

    def _table(self, node: LexborNode) -> None:
        """Lay out a table row by row, its header rows as such."""
        group = self.layout.next_group()
        caption = next((child for child in node.iter() if child.tag == "caption"), None)
        if caption is not None:
            self._add("caption", text_of(caption, self.closed), caption, 0, group)
        body_began = False
        for row in _rows(node):
            cells = _cells(row)
            texts = [text_of(cell, self.closed) for cell in cells]
            is_header = not body_began and (_is_head(row) or all(cell.tag == "th" for cell in cells))
            body_began = body_began or not is_header
            if any(texts):
                self._add("header" if is_header else "row", " | ".join(texts), row, 0, group)


def _role(node: LexborNode, tag: str) -> str:
    """Return what an element makes of the text in it."""
    if tag in ("li", "dd"):
        return "item" if tag == "li" else "definition"
    if tag == "dt":
        return "term"
    if tag in ("figcaption", "caption"):
        return "caption"
    names = node.attributes.get("class") or ""
    if tag in ("div", "aside", "blockquote") and _CALLOUTS.search(names):
        return "callout"
    return "section" if tag in ("section", "article") or (tag == "div" and _SECTIONS.search(names)) else ""


def _rows(table: LexborNode) -> list[LexborNode]:
    """Return the rows of a table, not those of tables in its cells."""
    parts = [child for child in table.iter() if child.tag in ("thead", "tbody", "tfoot")]
    return [row for part in [table, *parts] for row in part.iter() if row.tag == "tr"]


def _cells(row: LexborNode) -> list[LexborNode]:
    return [child for child in row.iter() if child.tag in ("td", "th")]


def _is_head(row: LexborNode) -> bool:
    return row.parent is not None and row.parent.tag == "thead"


def _is_data(table: LexborNode) -> bool:
    """Tell whether a table holds data; one that only arranges other blocks is walked through."""
    rows: Sequence[LexborNode] = _rows(table)
    if table.attributes.get("role") == "presentation" or all(len(_cells(row)) < 2 for row in rows):
        return False
    if table.css_first("table table, h1, h2, h3") is not None:
        return False
    return table.css_first("th") is not None or table.css_first("ul, ol, dl, pre, form") is None
