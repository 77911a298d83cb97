"""Find the headings of a PDF: by its outline, else by larger or bold type and by numbers."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .pdf_layer import Entry, Line, Page

_NUMBER = re.compile(
    r"(?:(?:chapter|section|appendix|part|annex)\s+)?(?:\d+(?:\.\d+)*|[A-Z](?:\.\d+)*)[.:)]?\s+", re.I
)
_LIST = re.compile(r"[•●▪■◦○‣▸►–—*-]\s")
_DEPTH = re.compile(
    r"(?:(?:section|appendix|chapter|part)\s+)?(\d+(?:\.\d+)*|[A-Z](?:\.\d+)+)[.:)]?\s+\S", re.I
)
_TITLE = re.compile(r"\d+(?:\.\d+)*\.?\s+[A-Z0-9/(][^.!?,;]{1,78}$")
_FEWEST_ENTRIES = 3
_LARGER = 1.12
"""Times the body's size from which type counts as larger."""

_LONGEST = 150
_MOST_LINES = 3


@dataclass(frozen=True, slots=True)
class Headings:
    """The headings by (page, index of line): lines taken and level; `body` is the size of running text."""

    found: Mapping[tuple[int, int], tuple[int, int]]
    body: float

    def at(self, page: Page, index: int) -> tuple[int, int]:
        """Return the lines of the heading that begins with a line, and its level; zeros when none does."""
        return self.found.get((page.number, index), (0, 0))


def find_headings(pages: Sequence[Page], outline: Sequence[Entry]) -> Headings:
    """Return the headings of a document."""
    body = _body_size(pages)
    found: dict[tuple[int, int], tuple[int, int]] = {}
    if len(outline) >= _FEWEST_ENTRIES:
        found = _by_outline(pages, outline)
    if len(found) < 0.5 * len(outline) or not found:
        found = {**_by_type(pages, body), **found}
    return Headings(found, body)


def _body_size(pages: Iterable[Page]) -> float:
    """Return the size in which most characters are set, 0 when sizes are unknown."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            sizes[line.size] += len(line.text) if line.size else 0
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _by_outline(pages: Sequence[Page], outline: Sequence[Entry]) -> dict[tuple[int, int], tuple[int, int]]:
    """Find the lines that spell an entry of the outline on its page or the next."""
    entries: dict[int, list[Entry]] = defaultdict(list)
    for entry in outline:
        if entry.page is not None:
            entries[entry.page].append(entry)
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for page in pages:
        for entry in entries[page.number]:
            place = _spelled(page, entry.title, found)
            if place is not None:
                found[page.number, place[0]] = place[1], min(6, entry.level)
    return found


def _spelled(page: Page, title: str, taken: Mapping[tuple[int, int], object]) -> tuple[int, int] | None:
    """Return index and count of the lines that spell a title; the largest type wins."""
    wanted = {_bare(title), _folded(title)}
    places = []
    for i, line in enumerate(page.lines):
        if not line.text or (page.number, i) in taken:
            continue
        text = ""
        for count in range(1, _MOST_LINES + 1):
            text = " ".join([text, *(one.text for one in page.lines[i + count - 1 : i + count])]).strip()
            if wanted & {_bare(text), _folded(text)}:
                places.append((-line.size, i, count))
                break
    return min(places)[1:] if places else None


_QUOTES = str.maketrans("’‘“”–—", "''\"\"--")


@lru_cache(maxsize=4096)
def _folded(text: str) -> str:
    return " ".join(text.translate(_QUOTES).casefold().split())


def _bare(title: str) -> str:
    """Return a title without its number, folded for comparison."""
    folded = _folded(title)
    number = _NUMBER.match(folded)
    return folded[number.end() :] if number else folded


def _by_type(pages: Sequence[Page], body: float) -> dict[tuple[int, int], tuple[int, int]]:
    """Find short lines in larger or bold type, or numbered ones where the type is unknown."""
    runs: list[tuple[int, int, int, Line, str]] = []
    for page in pages:
        i = 0
        while i < len(page.lines):
            count = _run_of_heading(page.lines, i, body)
            if count:
                text = " ".join(line.text for line in page.lines[i : i + count])
                runs.append((page.number, i, count, page.lines[i], text))
            i += count or 1
    sizes = sorted({line.size for *_, line, _ in runs if line.size > _LARGER * body}, reverse=True)
    return {(page, i): (count, _level(line, text, sizes)) for page, i, count, line, text in runs}


def _run_of_heading(lines: Sequence[Line], i: int, body: float) -> int:
    """Return how many lines from the i-th on make one heading, else 0."""
    if not _is_set_apart(lines[i], body):
        return 0
    count = 1
    while i + count < len(lines) and _continues(lines[i], lines[i + count], body):
        count += 1
    text = " ".join(line.text for line in lines[i : i + count])
    if count > _MOST_LINES or len(text) > _LONGEST or text.endswith((".", ",", ";")):
        return 0
    return count if sum(c.isalpha() for c in text) > 1 else 0


def _continues(first: Line, line: Line, body: float) -> bool:
    """Tell whether a line goes on in the heading of the first: same type, and no number of its own."""
    same = line.size == first.size and line.bold == first.bold and _is_set_apart(line, body)
    return same and not _DEPTH.match(line.text)


def _is_set_apart(line: Line, body: float) -> bool:
    if not line.text or line.mono or _LIST.match(line.text):
        return False
    if not line.size or not body:
        return bool(_TITLE.match(line.text))
    return line.size > _LARGER * body or (line.bold and line.size >= 0.95 * body)


def _level(line: Line, text: str, sizes: Sequence[float]) -> int:
    """Return a heading's level by its number, else by the rank of its size."""
    numbered = _DEPTH.match(text)
    if numbered:
        return min(6, numbered[1].count(".") + 1)
    return min(6, sizes.index(line.size) + 1) if line.size in sizes else min(6, len(sizes) + 1)
