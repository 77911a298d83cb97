"""Tell the text of a page from what only frames it: running heads, page numbers, tables of contents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from .pdf_layer import Layer, Line, Page

_NUMBER = re.compile(r"^\d+(?!\S)|(?<!\S)\d+(?=(?:\s*(?:/|of)\s*\d+)?$)")
_ROMAN = re.compile(r"(?=[ivxl])(?:xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_BARE_NUMBER = re.compile(r"\W*(page\s*)?(\d{1,4})(\s*(?:/|of)\s*\d{1,4})?\W*", re.I)
_LAST_ROMAN = re.compile(r"(?<=\s)[ivxl]+$")
_OF_ALL = re.compile(r"\s*(?:/|of)\s*\d+$")
_LEADERS = re.compile(r"(?:[.·…_]\s?){4,}\s*(\d+|[ivxlc]+)\s*$", re.I)
_LAST_NUMBER = re.compile(r"^(?:\d+(?:\.\d+)*\.?\s+)?(.+?)\s+(?:\d+|[ivxlc]+)$", re.I)
EDGE = 3
"""Lines at the top and at the bottom of a page that may be running heads."""

OFTEN = 0.4
"""Share of the pages on which the same line, digits aside, makes it a running head."""

NEARLY_ALL = 0.9
"""The same for a line that reads as a sentence, such as a notice of confidentiality."""

FEWEST = 3
"""Pages on which a running head stands at least."""

LONGEST = 160
"""Characters of a running head at most."""

_SENTENCE_WORDS = 5
_FEWEST_ENTRIES = 5
"""Lines with leaders that make a page part of a table of contents."""


def main_text(layer: Layer) -> list[Page]:
    """Return the pages without running heads, page numbers and entries of tables of contents."""
    framing = _framing(layer.pages)
    titles = {_folded(entry.title) for entry in layer.outline}
    pages: list[Page] = []
    fewest = _FEWEST_ENTRIES
    for page in layer.pages:
        entries = _contents(page, len(layer.pages), titles, fewest)
        fewest = 1 if entries else _FEWEST_ENTRIES
        pages.append(_unnumbered(_without(page, framing[page.number] | entries)))
    return pages


def _without(page: Page, dropped: set[int]) -> Page:
    return Page(page.number, tuple(line for i, line in enumerate(page.lines) if i not in dropped))


def _unnumbered(page: Page) -> Page:
    """Return a page without the bare page number that is left as its first or last line."""
    filled = [i for i, line in enumerate(page.lines) if line.text]
    ends = {*filled[:1], *filled[-1:]}
    return _without(page, {i for i in ends if _is_bare_number(page.lines[i].text, page.number)})


def _framing(pages: Sequence[Page]) -> dict[int, set[int]]:
    """Return the indices of framing lines by page number."""
    edges = {page.number: list(_edges(page)) for page in pages}
    offset = _page_offset(pages, edges)
    shapes = Counter(
        (shape, top)
        for page in pages
        for shape, top in {
            (shape, top)
            for i, top in edges[page.number]
            for shape in _shapes(page.lines[i].text, page.number, offset)
        }
    )
    fewest = max(2, min(FEWEST, round(0.6 * len(pages))))
    found: dict[int, set[int]] = {}
    for page in pages:
        found[page.number] = set()
        for i, top in edges[page.number]:
            text = page.lines[i].text
            count = max(shapes[shape, top] for shape in _shapes(text, page.number, offset))
            running = count >= fewest and not (page.number == 1 and top) and _is_label(text, count, pages)
            numbered = _carries_number(text, page.number, offset) and _is_outer(page, i, found[page.number])
            if len(text) <= LONGEST and (numbered or running):
                found[page.number].add(i)
    return found


def _edges(page: Page) -> Iterator[tuple[int, bool]]:
    """Yield index and whether at the top of the lines at a page's edges, from the outside in."""
    filled = [i for i, line in enumerate(page.lines) if line.text]
    yield from ((i, True) for i in filled[:EDGE])
    yield from ((i, False) for i in list(reversed(filled))[:EDGE])


def _is_outer(page: Page, index: int, dropped: set[int]) -> bool:
    """Tell whether nothing but framing lines stands outside of a line."""
    kept = [i for i, line in enumerate(page.lines) if line.text and i not in dropped]
    return index in (*kept[:1], *kept[-1:])


def _shapes(text: str, page: int, offset: int | None) -> set[str]:
    """Return a line as it is and with its page number, counted or printed, as `#`."""
    own = {page, page + (offset or 0)}
    counted = _NUMBER.sub(lambda match: "#" if int(match[0][-6:]) in own else match[0], text)
    return {text.casefold(), _LAST_ROMAN.sub("#", counted).casefold()}


def _is_label(text: str, count: int, pages: Sequence[Page]) -> bool:
    """Tell whether a line that comes back frames the pages: worded as no sentence is, or on nearly all."""
    ended = text.rstrip().endswith((".", ";", ",", ":", "!", "?"))
    if (ended or text[:1].islower()) and len(text.split()) >= _SENTENCE_WORDS:
        return len(pages) > FEWEST and count >= NEARLY_ALL * len(pages)
    if count >= OFTEN * len(pages) and len(pages) > 1:
        return True
    return not ended and not text[:1].islower() and any(c.isalpha() for c in text)


def _page_offset(pages: Sequence[Page], edges: dict[int, list[tuple[int, bool]]]) -> int | None:
    """Return printed page number minus page, when most pages print theirs at an edge."""
    offsets = Counter(
        offset
        for page in pages
        for offset in {
            number - page.number
            for i, _ in edges[page.number]
            for number in _outer_numbers(page.lines[i].text)
        }
    )
    if not offsets:
        return None
    offset, count = offsets.most_common(1)[0]
    return offset if count >= max(FEWEST, 0.5 * len(pages)) else None


def _outer_numbers(text: str) -> set[int]:
    """Return the whole numbers a line begins or ends with; of `3 / 57` and `3 of 57` the first."""
    words = _OF_ALL.sub("", text).split() or ["?"]
    return {int(word) for word in (words[0], words[-1]) if word.isdecimal() and len(word) < 5}


def _carries_number(text: str, page: int, offset: int | None) -> bool:
    return offset is not None and page + offset in _outer_numbers(text)


def _is_bare_number(text: str, page: int) -> bool:
    """Tell whether a line is nothing but a page number; an amount that stands alone is none."""
    match = _BARE_NUMBER.fullmatch(text)
    if match:
        return bool(match[1] or match[3]) or int(match[2]) == page
    return bool(_ROMAN.fullmatch(text))


def _contents(page: Page, pages: int, titles: set[str], fewest: int) -> set[int]:
    """Return the indices of the lines of a table of contents: leaders and page numbers that only grow."""
    led = [(i, match[1]) for i, line in enumerate(page.lines) if (match := _LEADERS.search(line.text))]
    numbers = [int(number) for _, number in led if number.isdecimal()]
    if len(led) < fewest or any(a > b for a, b in pairwise(numbers)) or max([0, *numbers]) > pages:
        return set()
    rest = {i for i, line in enumerate(page.lines) if _is_entry(line, titles)}
    return {i for i, _ in led} | rest


def _is_entry(line: Line, titles: set[str]) -> bool:
    match = _LAST_NUMBER.match(line.text)
    return bool(match) and _folded(match[1] if match else "") in titles


def _folded(title: str) -> str:
    """Return a title without its number, for comparison."""
    return " ".join(re.sub(r"^(?:chapter\s+)?[\dA-Z]?[\d.]*\s+", "", title.casefold()).split())
