"""Find the main content of a page and what stands beside it: menus, banners, footers, scripts."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from typing import TYPE_CHECKING

from .html_tree import inside, text_of

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_NEVER = """head, script, style, noscript, template, svg, iframe, object, canvas, audio, video, button,
    select, input, textarea, a.headerlink, a.anchor-link"""
_FRAMES = """nav, footer, [role=navigation], [role=contentinfo], [role=search], .navheader, .navfooter,
    .sphinxsidebar, .skip-link, .breadcrumb, .breadcrumbs, .pagination"""
_BESIDE = (
    "header, aside, form, dialog, [role=banner], [role=complementary], [role=dialog], [role=alertdialog]"
)
_MENUS = frozenset(
    re.findall(
        r"\w+",
        """toc menu nav navbar navigation sidebar related topbar masthead submenu mainmenu sitemap
        tableofcontents languages social share sharing tags""",
    )
)
"""Words of a class or id that make an element a menu when it holds little but links."""

_MAIN = "main, [role=main], article"
_KEPT_HEADERS = frozenset(["main", "article", "section"])
_BANNER = re.compile(r"cookie|consent|gdpr|ccpa|onetrust|privacy")
_BANNER_FORM = re.compile(
    r"banner|notice|bar\b|popup|modal|overlay|dialog|consent|accept|message|wall|toast|policy-?info|law|onetrust"
)
_ADVERT = frozenset(["advert", "advertisement", "ads", "newsletter", "promo", "popup", "sponsored"])
_CONTAINERS = frozenset(
    ["div", "section", "aside", "ul", "ol", "dl", "p", "table", "td", "span", "center", "menu"]
)
_AGREEMENT = re.compile(r"\b(?:accept|agree|allow|reject|decline|got it|ok)\b", re.I)
_BANNER_WORDS = 150
"""Words of a banner about cookies at most; what is longer is a text about them."""

_LINKED = 0.6
"""Share of the words of a menu that stand in links."""

FEWEST_LEFT = 0.3
"""Share of the words of a page, frames aside, below which a choice of main content is not trusted."""


def main_content(page: LexborHTMLParser) -> tuple[list[LexborNode], set[int]]:
    """Return the nodes of the main content in order, and the ids of the nodes to leave out."""
    body = page.body
    if body is None:
        return [], set()
    never = _ids(page.css(_NEVER))
    frames = never | _ids(page.css(_FRAMES)) | _banners(page, never)
    beside = frames | _beside(page)
    lean = beside | _menus(page, beside)
    main = [node for node in page.css(_MAIN) if not inside(node, ("main", "article"), "main")]
    choices = [(main, lean), ([body], lean), ([body], beside), ([body], frames)]
    enough = FEWEST_LEFT * _words([body], frames)
    for roots, left_out in choices:
        if roots and _words(roots, left_out) >= max(1, enough):
            return roots, left_out
    return [body], never


def _ids(nodes: Iterable[LexborNode]) -> set[int]:
    return {node.mem_id for node in nodes}


def _words(roots: Iterable[LexborNode], closed: Container[int]) -> int:
    return sum(len(text_of(root, closed).split()) for root in roots)


def _beside(page: LexborHTMLParser) -> set[int]:
    """Return what usually stands beside the content; the header of an article belongs to it."""
    return {
        node.mem_id
        for node in page.css(_BESIDE)
        if not (node.tag == "header" and inside(node, _KEPT_HEADERS, "main"))
    }


def _names(node: LexborNode) -> str:
    return f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}"


def _banners(page: LexborHTMLParser, never: Container[int]) -> set[int]:
    """Return the banners about cookies and the advertisements."""
    return {
        node.mem_id
        for node in page.css("[class], [id]")
        if node.tag in _CONTAINERS and _is_banner(node, never)
    }


def _is_banner(node: LexborNode, never: Container[int]) -> bool:
    names = _names(node).lower()
    if not _ADVERT.isdisjoint(re.split(r"[\s_-]+", (node.attributes.get("class") or "").lower())):
        return _words([node], never) <= _BANNER_WORDS
    if not _BANNER.search(names) or _words([node], never) > _BANNER_WORDS:
        return False
    if node.css_first("h1, h2, h3 + p + p, pre, table") is not None:
        return False
    return bool(_BANNER_FORM.search(names)) or bool(_AGREEMENT.search(node.text(separator=" ")))


def _menus(page: LexborHTMLParser, closed: Container[int]) -> set[int]:
    """Return the lists of links that are named as menus."""
    return {
        node.mem_id
        for node in page.css("[class], [id]")
        if node.tag in _CONTAINERS
        and not _MENUS.isdisjoint(re.split(r"[\s_-]+", _names(node).lower()))
        and _is_linked(node, closed)
    }


def _is_linked(node: LexborNode, closed: Container[int]) -> bool:
    """Tell whether a node holds little but links."""
    words = _words([node], closed)
    return _words(node.css("a"), closed) >= _LINKED * words
