"""Read the XML of a Word file: text with insertions and without deletions, cells of rows, notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_TRANSPARENT = frozenset(
    f"{_W}{name}" for name in ("sdt", "sdtContent", "ins", "moveTo", "smartTag", "customXml", "hyperlink")
)
_SKIPPED = frozenset(
    [
        *(f"{_W}{name}" for name in ("del", "moveFrom", "rt", "pPr", "rPr", "txbxContent")),
        "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback",
    ]
)
_SPACES = frozenset(f"{_W}{name}" for name in ("tab", "br", "cr", "ptab"))
_DASH = f"{_W}noBreakHyphen"
_TEXT = f"{_W}t"


def named(name: str) -> str:
    """Return the full name of an element or attribute of WordprocessingML."""
    return _W + name


def text_of(element: Any) -> str:  # noqa: ANN401  (lxml elements are untyped)
    """Return the text of an element in one line, as it reads with all changes accepted."""
    parts: list[str] = []
    stack = [element]
    while stack:
        node = stack.pop()
        if node.tag == _TEXT:
            parts.append(node.text or "")
        elif node.tag in _SPACES:
            parts.append(" ")
        elif node.tag == _DASH:
            parts.append("-")
        elif node.tag not in _SKIPPED or node is element:
            if node.tag == named("p") and parts:
                parts.append(" ")
            stack.extend(reversed(node))
    return " ".join("".join(parts).split())


def content(parent: Any, *names: str) -> Iterator[Any]:  # noqa: ANN401
    """Yield the children of the given names in order, those in content controls and insertions too."""
    wanted = {named(name) for name in names}
    stack = list(reversed(parent))
    while stack:
        node = stack.pop()
        if node.tag in wanted:
            yield node
        elif node.tag in _TRANSPARENT:
            stack.extend(reversed(node))


def text_boxes(paragraph: Any) -> Iterator[Any]:  # noqa: ANN401
    """Yield the paragraphs of the text boxes that are anchored in a paragraph, each once."""
    for box in paragraph.iter(named("txbxContent")):
        if not any(node.tag in _SKIPPED and node.tag != named("txbxContent") for node in box.iterancestors()):
            yield from box.iter(named("p"))


def cells(row: Any) -> list[str]:  # noqa: ANN401
    """Return the text of each cell of a row; a cell over several columns is followed by empty ones."""
    texts: list[str] = []
    for cell in content(row, "tc"):
        span = cell.find(f"{named('tcPr')}/{named('gridSpan')}")
        width = span.get(named("val"), "1") if span is not None else "1"
        texts += [text_of(cell), *[""] * (min(int(width), 63) - 1 if width.isdecimal() else 0)]
    return texts


def is_bold(paragraph: Any) -> bool:  # noqa: ANN401
    """Tell whether every run with text is set in bold by itself."""
    runs = [run for run in paragraph.iter(named("r")) if text_of(run)]
    return bool(runs) and all(_is_on(run.find(f"{named('rPr')}/{named('b')}")) for run in runs)


def _is_on(switch: Any) -> bool:  # noqa: ANN401
    return switch is not None and switch.get(named("val"), "1") not in ("0", "false", "off")


def value(element: Any, *path: str) -> str | None:  # noqa: ANN401
    """Return the `val` of the element at a path below another one, None when there is none."""
    found = element.find("/".join(named(name) for name in path)) if element is not None else None
    return None if found is None else found.get(named("val"))
