"""Walk a tree of selectolax without recursion, and name the places of its nodes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

BLOCKS = frozenset(
    re.findall(
        r"\w+",
        """address article aside blockquote body caption center dd details dialog div dl dt fieldset
        figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr legend li main menu nav ol
        optgroup option p pre search section summary table tbody td tfoot th thead tr ul""",
    )
)
"""Elements that break the line."""

_NAME = re.compile(r"[A-Za-z_][\w-]*")


def steps(root: LexborNode, closed: Container[int]) -> Iterator[tuple[LexborNode, bool]]:
    """Yield every node twice, on entering (True) and on leaving it.

    What stands in `closed` is left out; a node that gets there while it is entered is not gone into.
    """
    node, top = root, root.mem_id
    while True:
        if node.mem_id not in closed:
            yield node, True
            child = node.child if node.mem_id not in closed else None
            if child is not None:
                node = child
                continue
            yield node, False
        while node.mem_id == top or node.next is None:
            if node.mem_id == top or node.parent is None:
                return
            node = node.parent
            yield node, False
        node = node.next


def text_of(root: LexborNode, closed: Container[int]) -> str:
    """Return the text of a node in one line; blocks and line breaks part words."""
    return " ".join("".join(_words(root, closed)).split())


def _words(root: LexborNode, closed: Container[int]) -> Iterator[str]:
    for node, entering in steps(root, closed):
        if node.tag == "-text":
            if entering:
                yield node.text_content or ""
        elif node.tag == "br" or node.tag in BLOCKS:
            yield " "


def inside(node: LexborNode, tags: Container[str | None], role: str = "") -> bool:
    """Tell whether a node lies in an element of one of the tags, or of a role."""
    parent = node.parent
    while parent is not None:
        if parent.tag in tags or (role and parent.attributes.get("role") == role):
            return True
        parent = parent.parent
    return False


class Paths:
    """Name nodes by CSS paths: from the nearest unique id, else from the body, with places among siblings."""

    def __init__(self, page: LexborHTMLParser) -> None:
        ids = Counter(node.attributes.get("id") for node in page.css("[id]"))
        self._unique = {name for name, count in ids.items() if name and count == 1}
        self._places: dict[int, int] = {}

    def of(self, node: LexborNode) -> str:
        """Return the path of an element."""
        found: list[str] = []
        current: LexborNode | None = node
        while current is not None and current.tag not in (None, "html", "body", "-undef", "-document"):
            identity = current.attributes.get("id")
            if identity in self._unique and identity is not None and '"' not in identity:
                found.append(f"#{identity}" if _NAME.fullmatch(identity) else f'[id="{identity}"]')
                break
            found.append(f"{current.tag}:nth-of-type({self._place(current)})")
            current = current.parent
        else:
            found.append("body")
        return " > ".join(reversed(found))

    def _place(self, node: LexborNode) -> int:
        if node.mem_id not in self._places and node.parent is not None:
            counts: Counter[str | None] = Counter()
            for sibling in node.parent.iter():
                counts[sibling.tag] += 1
                self._places[sibling.mem_id] = counts[sibling.tag]
        return self._places.get(node.mem_id, 1)
