"""Plain wording of a stretch of canonical text: white space, dashes, quotation marks and markup folded.

Both sides of a comparison go through `plain`, so that a claim may be shown without Markdown signs and is
still compared word for word. Nothing else about the wording changes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

_DASHES = str.maketrans(
    dict.fromkeys("‐‑‒–—―−", "-") | dict.fromkeys("“”„«»‟", '"') | dict.fromkeys("‘’‚‛", "'")
)
_IMAGE_OR_LINK = re.compile(
    r"!?\[([^\]\[]*)\](?:\([^()\s]*(?:\([^()]*\)[^()\s]*)?(?:\s+\"[^\"]*\")?\)|\[[^\]]*\])"
)
_ROLE = re.compile(r"(?:\{[\w:.+-]+\}|:[\w.+-]+(?::[\w.+-]+)*:)(?=`)")
_STRONG = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1", re.S)
_EMPHASIS = re.compile(r"(?<![\w*])([*_])(?=[^\s*_])([^*_]+?)(?<=[^\s*_])\1(?![\w*])", re.S)
_CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
MARKER = re.compile(r"^\s*(?:[-*+•‣◦·]|\(?\d{1,3}[.)]|>|#{1,6})\s+")
_RULE_CELL = re.compile(r":?-{2,}:?")


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """Return the wording of a text in one line, without markup signs and list markers."""
    line = " ".join(text.translate(_DASHES).split())
    line = MARKER.sub("", line)
    line = _IMAGE_OR_LINK.sub(r"\1", line)
    line = _ROLE.sub("", line)
    for pattern in (_CODE, _STRONG, _EMPHASIS):
        line = pattern.sub(r"\2", line)
    return " ".join(line.split())


def cells(row: str) -> list[str]:
    """Return the cells of a table row written with bars."""
    inner = row.strip().removeprefix("|").removesuffix("|")
    return [plain(cell.replace("\\|", "|")) for cell in re.split(r"(?<!\\)\|", inner)]


def row_as_text(row: str, governing: Sequence[str]) -> str:
    """Read a table row out with its header: `station: ST-001; max load kN: 101`; plain when it has none."""
    header = next((line for line in reversed(governing) if "|" in line), None)
    values = cells(row)
    if header is None or "|" not in row:
        return plain(row)
    names = cells(header)
    pairs = [
        f"{name}: {value}" if name else value
        for name, value in zip(names, values, strict=False)
        if value and not _RULE_CELL.fullmatch(value)
    ]
    return "; ".join([*pairs, *values[len(names) :]])
