"""Plain wording of a stretch of canonical text: white space, dashes, quotation marks and markup folded.

Both sides of a comparison go through `plain`, so that a claim may be shown without Markdown signs and is
still compared word for word. Nothing else about the wording changes.
"""

from __future__ import annotations

import csv
import json
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
_TARGET = re.compile(r"`([^`<>]*[^`<>\s])\s*<[^`<>\s]+>`_{0,2}(?!\w)")
_STRONG = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1", re.S)
_EMPHASIS = re.compile(r"(?<![\w*])([*_])(?=[^\s*_])([^*_]+?)(?<=[^\s*_])\1(?![\w*])", re.S)
_CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
MARKER = re.compile(r"^\s*(?:[-*+•‣◦·]|\(?\d{1,3}[.)]|>|#{1,6})\s+")
_NUMBER = re.compile(r"[-+]?[\d.,]+")
_RULE_CELL = re.compile(r":?-{2,}:?")


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """Return the wording of a text in one line, without markup signs and list markers."""
    line = " ".join(text.translate(_DASHES).split())
    line = MARKER.sub("", line)
    line = _IMAGE_OR_LINK.sub(r"\1", line)
    line = _TARGET.sub(r"\1", _ROLE.sub("", line))
    line = line[:-1] if line.endswith("::") else line
    for pattern in (_CODE, _STRONG, _EMPHASIS):
        line = pattern.sub(r"\2", line)
    return " ".join(line.split())


def cells(row: str) -> list[str]:
    """Return the cells of a table row written with bars."""
    inner = row.strip().removeprefix("|").removesuffix("|")
    return [plain(cell.replace("\\|", "|")) for cell in re.split(r"(?<!\\)\|", inner)]


def row_as_text(row: str, governing: Sequence[str]) -> str:
    """Read a row or record out with its names: `station: ST-001; load: 101`; plain when it has none."""
    told = (f"{name}: {value}" if name else value for name, value in named_cells(row, governing))
    return "; ".join(told) or plain(row)


def named_cells(row: str, governing: Sequence[str]) -> list[tuple[str, str]]:
    """Return the filled cells of a row or record with their names, an empty one where it has none.

    Nothing is returned where it is not sure which names are those of the cells.
    """
    if "|" in row and any("|" in line for line in governing):
        return _paired(cells(next(line for line in reversed(governing) if "|" in line)), cells(row), row)
    record = _record(row)
    if record:
        return [(name, _value(value)) for name, value in record.items()]
    for separator in ",;\t" if governing else "":
        names, values = _separated(governing[-1], separator), _separated(row, separator)
        if len(names) == len(values) > 1 and not any(_NUMBER.fullmatch(name) for name in names):
            return _paired(names, [plain(value) for value in values], row)
    return []


def _paired(names: Sequence[str], values: Sequence[str], row: str) -> list[tuple[str, str]]:
    """Return values with their names; nothing where a row has another width and no bars around it."""
    if len(values) != len(names) and not row.lstrip().startswith("|"):
        return []
    named = [*names, *[""] * (len(values) - len(names))]
    pairs = zip(named, values, strict=False)
    return [(name, value) for name, value in pairs if value and not (name and _RULE_CELL.fullmatch(value))]


def _record(row: str) -> dict[str, object]:
    """Return the members of a JSON object, or of a stretch of one; empty where there are none."""
    text = row.strip().rstrip(",")
    if not text.startswith(("{", '"')):
        return {}
    try:
        found = json.loads(text if text.startswith("{") else f"{{{text}}}", parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _value(value: object) -> str:
    """Return a value of a record in one line."""
    if isinstance(value, dict):
        return "(" + "; ".join(f"{name}: {_value(one)}" for name, one in value.items()) + ")"
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    return plain(str(value))


def _separated(row: str, separator: str) -> list[str]:
    """Return the cells of a row of separated values."""
    if separator not in row:
        return []
    try:
        return next(csv.reader([row], delimiter=separator, skipinitialspace=True, strict=True), [])
    except csv.Error:
        return []
