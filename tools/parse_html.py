"""Parse HTML: the main content as blocks, with headings, lists, tables and code; no menus, scripts or banners."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from .decode import decode
from .evidence import BlockKind, Parsed
from .layout import Layout

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_NEVER = (
    "script, style, noscript, template, svg, iframe, head, object, canvas, button, select, input, textarea"
)
_BESIDE = (
    "nav, header, footer, aside, form, dialog, [role=navigation], [role=banner], [role=contentinfo], "
    "[role=search], [role=complementary], [role=dialog], [aria-hidden=true], [hidden], .navheader, .navfooter, "
    ".toc, .related, .sphinxsidebar, .headerlink, .breadcrumb, .breadcrumbs, .sidebar, .menu, .navbar, .skip-link"
)
_BANNER = re.compile(r"\b(?:cookie|cookies|consent|gdpr|popup|newsletter|advert|social-share)", re.I)
_MAIN = "main, [role=main], article"
_FEWEST_LEFT = 0.3
"""Share of the words of the body below which the choice of main content is not trusted."""

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "center",
        "details",
        "dd",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
        "body",
    ]
)


def parse_html(data: bytes, path: str) -> Parsed:
    """Return the main content of an HTML page, laid out block by block."""
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser(_text_of(data))
    title = _page_title(page)
    layout = Layout()
    for root in _main_content(page):
        _Walk(layout).walk(root)
    heading = next((b for b in layout.blocks if b.kind == "heading"), None)
    named = title or (layout.text[heading.start : heading.end] if heading else PurePosixPath(path).stem)
    return layout.parsed(named, "text/html", "html/1")


def _text_of(data: bytes) -> str:
    """Decode a page; a charset it declares itself is tried before detection."""
    declared = re.search(rb"charset=[\"']?\s*([\w.:-]+)", data[:2048], re.I)
    if declared and not data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        try:
            return data.decode(declared[1].decode("ascii"))
        except (LookupError, UnicodeDecodeError):
            pass
    return decode(data)


def _page_title(page: LexborHTMLParser) -> str:
    node = page.css_first("title")
    return " ".join(node.text().split()) if node else ""


def _main_content(page: LexborHTMLParser) -> list[LexborNode]:
    """Return the nodes that hold the main content, in order."""
    body = page.body
    if body is None:
        return []
    for node in page.css(_NEVER):
        node.decompose()
    everything = _words(body)
    for node in page.css(_BANNERS):
        if _BANNER.search(f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}"):
            node.decompose()
    main = [node for node in page.css(_MAIN) if not _inside_one(node)] or [body]
    kept = sum(_words(node) - _words_beside(node) for node in main)
    if kept < _FEWEST_LEFT * everything and main != [body]:
        main = [body]
    if _words(body) - _words_beside(body) >= _FEWEST_LEFT * everything or main != [body]:
        for node in page.css(_BESIDE):
            node.decompose()
    return main


_BANNERS = "[class], [id]"


def _inside_one(node: LexborNode) -> bool:
    """Tell whether a node lies inside another one of the main content."""
    parent = node.parent
    while parent is not None:
        if parent.tag in ("main", "article") or parent.attributes.get("role") == "main":
            return True
        parent = parent.parent
    return False


def _words(node: LexborNode) -> int:
    return len(node.text(separator=" ").split())


def _words_beside(node: LexborNode) -> int:
    """Return the words of menus and the like inside a node, each counted once."""
    found = node.css(_BESIDE)
    return sum(_words(one) for one in found if not any(one is not o and _holds(o, one) for o in found))


def _holds(outer: LexborNode, inner: LexborNode) -> bool:
    parent = inner.parent
    while parent is not None:
        if parent.mem_id == outer.mem_id:
            return True
        parent = parent.parent
    return False


class _Walk:
    """Walk a page in order and lay out its blocks."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._depth = 0
        self._group = 0

    def walk(self, node: LexborNode) -> None:
        """Lay out a node and everything in it."""
        tag = node.tag or ""
        if tag in _HEADINGS:
            self._add("heading", node, level=_HEADINGS[tag])
        elif tag == "pre":
            self._add("code", node, group=self._layout.next_group(), keep_lines=True)
        elif tag == "table":
            self._table(node)
        elif tag in ("ul", "ol", "dl"):
            self._list(node)
        else:
            self._flow(node, "paragraph")

    def _flow(self, node: LexborNode, kind: BlockKind) -> None:
        """Lay out inline stretches as one block each and block children on their own."""
        stretch: list[LexborNode] = []
        for child in _children(node):
            if _is_block(child):
                self._stretch(kind, stretch, node)
                stretch = []
                self.walk(child)
            else:
                stretch.append(child)
        self._stretch(kind, stretch, node)

    def _stretch(self, kind: BlockKind, nodes: Sequence[LexborNode], parent: LexborNode) -> None:
        text = _join(_inline(node) for node in nodes)
        level, group = (self._depth, self._group) if kind == "item" else (0, 0)
        self._layout.add(kind, text, level=level, group=group, element=_element(parent))

    def _add(
        self, kind: BlockKind, node: LexborNode, level: int = 0, group: int = 0, keep_lines: bool = False
    ) -> None:
        text = node.text().strip("\n") if keep_lines else _join([_inline(node)])
        self._layout.add(kind, text, level=level, group=group, element=_element(node))

    def _list(self, node: LexborNode) -> None:
        """Lay out a list; a term and its definition are one item."""
        self._depth += 1
        if self._depth == 1:
            self._group = self._layout.next_group()
        terms: list[str] = []
        for child in _children(node):
            if child.tag == "dt":
                terms.append(_join([_inline(child)]))
            elif child.tag == "dd":
                self._definition(child, ", ".join(terms))
                terms = []
            elif child.tag == "li":
                self._flow(child, "item")
            elif _is_block(child):
                self.walk(child)
        self._layout.add(
            "item", ", ".join(terms), level=self._depth, group=self._group, element=_element(node)
        )
        self._depth -= 1

    def _definition(self, node: LexborNode, term: str) -> None:
        """Lay out a definition; its first stretch of text opens with the term."""
        children = list(_children(node))
        first = next((child for child in children if child.text().strip()), None)
        whole = bool(first and first.tag == "p")
        opening = children[: children.index(first) + 1] if first and whole else _leading(children)
        text = _join(_inline(child) for child in opening)
        joined = f"{term}: {text}" if term and text else term or text
        self._layout.add("item", joined, level=self._depth, group=self._group, element=_element(node))
        for child in children[len(opening) :]:
            if _is_block(child) and child.tag != "p":
                self.walk(child)
            else:
                text = _join([_inline(child)])
                self._layout.add("item", text, level=self._depth, group=self._group, element=_element(node))

    def _table(self, node: LexborNode) -> None:
        """Lay out a table row by row; a table that only arranges other blocks is walked through."""
        rows = [row for row in node.css("tr") if _nearest_table(row) == node.mem_id]
        nested = any(
            cell.css_first("table, ul, ol, dl, pre, h1, h2, h3, h4") for row in rows for cell in _cells(row)
        )
        if nested or all(len(_cells(row)) < 2 for row in rows):
            for row in rows:
                for cell in _cells(row):
                    self._flow(cell, "paragraph")
            return
        caption = node.css_first("caption")
        group = self._layout.next_group()
        if caption is not None:
            self._layout.add("caption", _join([_inline(caption)]), group=group, element=_element(node))
        for i, row in enumerate(rows):
            cells = [_join([_inline(cell)]) for cell in _cells(row)]
            header = all(cell.tag == "th" for cell in _cells(row)) and i == 0
            text = " | ".join(cells) if any(cells) else ""
            self._layout.add("header" if header else "row", text, group=group, element=_element(row))


def _children(node: LexborNode) -> Iterator[LexborNode]:
    yield from node.iter(include_text=True)


def _leading(children: Sequence[LexborNode]) -> Sequence[LexborNode]:
    for i, child in enumerate(children):
        if _is_block(child):
            return children[:i]
    return children


def _is_block(node: LexborNode) -> bool:
    """Tell whether a node breaks the line: it is a block element or holds one."""
    if node.tag in _BLOCKS:
        return True
    return any(_is_block(child) for child in node.iter())


def _inline(node: LexborNode) -> str:
    if node.tag == "br":
        return "\n"
    if node.tag == "-text":
        return node.text_content or ""
    if node.tag == "img":
        return node.attributes.get("alt") or ""
    text = "".join(_inline(child) for child in node.iter(include_text=True))
    return f" {text} " if node.tag in _BLOCKS else text


def _join(parts: Iterator[str] | Sequence[str]) -> str:
    return " ".join("".join(parts).split())


def _cells(row: LexborNode) -> list[LexborNode]:
    return [child for child in row.iter() if child.tag in ("td", "th")]


def _nearest_table(row: LexborNode) -> int | None:
    parent = row.parent
    while parent is not None and parent.tag != "table":
        parent = parent.parent
    return parent.mem_id if parent is not None else None


def _element(node: LexborNode) -> str:
    """Return a short path to a node: from the nearest id, else from the body, with places among siblings."""
    steps: list[str] = []
    current: LexborNode | None = node
    while current is not None and current.tag not in (None, "html", "body", "-undef"):
        identity = current.attributes.get("id")
        if identity:
            steps.append(f"#{identity}")
            break
        steps.append(_step(current))
        current = current.parent
    return " > ".join(reversed(steps)) or "body"


def _step(node: LexborNode) -> str:
    place = 1
    before = node.prev
    while before is not None:
        place += before.tag == node.tag
        before = before.prev
    return f"{node.tag}:nth-of-type({place})"
