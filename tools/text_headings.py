"""Tell the headings of plain text: underlined, numbered, in capitals, or the title line of a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from .evidence import Block
from .text_lines import Line

_UNDERLINE = re.compile(r"([=\-~^\"'`#*+:._<>])\1{2,}")
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,3})*)[.)]?\s+\S.*")
_NAMED = re.compile(
    r"(?:(?P<high>chapter|part|appendix|annex|book)|section|article|clause|schedule|paragraph|step)"
    r"\s+(?:\d+(?:\.\d+)*|[IVXLC]+|[A-Z])\b.*|§+\s*\d+.*",
    re.I,
)
_LONGEST = 80
"""Characters of a heading at most."""


@dataclass(slots=True)
class Headings:
    """Number the styles of underlining by their first use, as reStructuredText does."""

    _styles: list[str] = field(default_factory=list)

    def level_of(self, run: Sequence[Line], taken: int) -> int:
        """Return the level of the heading in the first `taken` lines of a run."""
        style = run[taken - 1].bare[0] * (taken - 1)
        if style not in self._styles:
            self._styles.append(style)
        return min(6, self._styles.index(style) + 1)


def title_of(text: str, blocks: Sequence[Block], name: PurePosixPath) -> str:
    """Return the first heading when a file opens with it, else the file's name."""
    first = next((block for block in blocks if block.kind != "code"), None)
    if first and first.kind == "heading":
        return " ".join(text[first.start : first.end].split())
    return name.stem or name.name


def underlined(run: Sequence[Line]) -> int:
    """Return the lines a heading with a line under it (2), or over and under it (3), takes; else 0."""
    for taken in (3, 2):
        if len(run) < taken:
            continue
        title, under = run[taken - 2].bare, run[taken - 1].bare
        over = taken == 2 or run[0].bare == under
        long_enough = len(under) >= len(title) - 2 and (
            taken == 3 or not run[0].indent or len(title) < _LONGEST
        )
        if over and long_enough and _UNDERLINE.fullmatch(under) and any(c.isalnum() for c in title):
            return taken
    return 0


def headline_level(text: str, is_first: bool) -> int:
    """Return the level of a line that stands alone and reads as a heading, else 0."""
    if len(text) > _LONGEST or text.endswith((".", ",", ";", ":", "!")) or not any(c.isalpha() for c in text):
        return 0
    named = _NAMED.fullmatch(text)
    if named:
        return 1 if named["high"] else 2
    numbered = _NUMBERED.fullmatch(text)
    if numbered:
        return min(6, numbered[1].count(".") + 1)
    if text.isupper() and sum(c.isalpha() for c in text) > 2:
        return 1
    return int(is_first and text[0].isalnum() and not re.search(r"[:@|\t=<>{}]|\s{3}", text))
