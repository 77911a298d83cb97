"""The contextual prefix of a passage: title, heading path, and the header or signature it goes on under.

It is indexed with the passage's text and never quoted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from .cuts import CountTokens
from .evidence import Parsed
from .outline import Unit
from .plain import plain

CHARACTERS = 160
"""Characters of a line of a prefix at most, about 40 tokens; the middle of a longer path is left out."""

SPECIAL = 2
"""Special tokens that every count includes and a joined passage has only once."""

Path = tuple[str, ...]


class Prefixes:
    """Know the prefix of any passage of one text; path and header have a quarter of its tokens each."""

    def __init__(self, parsed: Parsed, units: Sequence[Unit], count: CountTokens, tokens: int) -> None:
        self._title = plain(parsed.title)
        self._headers: dict[int, Path] = {
            block.start: (plain(parsed.text[block.start : block.end]),)
            for block in parsed.blocks
            if block.kind == "header"
        }
        for start, end in _signatures(parsed, units):
            self._headers[start] = (plain(parsed.text[start:end])[:CHARACTERS],)
        self._paths = {heading: self._path(heading) for heading in {unit.locator.heading for unit in units}}
        paths = [*self._paths.values(), *self._headers.values()]
        self._lines = _fitted(sorted(set(paths)), count, tokens // 4)

    def of(self, units: Sequence[Unit]) -> str:
        """Return the prefix of a passage; rows and code that go on end it with their header or signature."""
        keys = [self._paths[units[-1].locator.heading], *self._header(units[0])]
        return "\n".join(line for line in (self._lines[key][0] for key in keys) if line)

    def tokens(self, unit: Unit) -> int:
        """Return the tokens of the prefix of a passage that begins with a unit, special tokens included."""
        keys = [self._paths[unit.locator.heading], *self._header(unit)]
        return SPECIAL + sum(self._lines[key][1] for key in keys)

    def _path(self, heading: Path) -> Path:
        return tuple(dict.fromkeys(part for part in (self._title, *heading) if part))

    def _header(self, unit: Unit) -> list[Path]:
        """Return the header row that governs a row, or the signature that governs code, where it has one."""
        if unit.kind not in ("row", "code"):
            return []
        found = [self._headers[start] for start, _ in unit.governed_by if start in self._headers]
        return found[-1:]


def _signatures(parsed: Parsed, units: Sequence[Unit]) -> set[tuple[int, int]]:
    """Return the spans of signatures in listings; those that name a scope are in the heading path already."""
    listings = [
        (block.start, block.end) for block in parsed.blocks if block.kind == "code" and not block.within
    ]
    found = {span for unit in units if unit.kind == "code" for span in unit.governed_by}
    before = [bisect_right(listings, (start, len(parsed.text))) - 1 for start, _ in sorted(found)]
    return {
        span for span, i in zip(sorted(found), before, strict=True) if i >= 0 and span[0] < listings[i][1]
    }


def _fitted(paths: Iterable[Path], count: CountTokens, most: int) -> dict[Path, tuple[str, int]]:
    """Return each path as a line with its tokens; while it has more than `most`, half its characters go."""
    fitted: dict[Path, tuple[str, int]] = {}
    left = list(paths)
    characters = CHARACTERS
    while left:
        lines = [_shortened(path, characters) for path in left]
        for path, line, tokens in zip(left, lines, count(lines), strict=True):
            if tokens - SPECIAL <= most or not line:
                fitted[path] = (line, max(0, tokens - SPECIAL) + 1)
        left = [path for path in left if path not in fitted]
        characters //= 2
    return fitted


def _shortened(path: Path, characters: int) -> str:
    """Return a path within a length: the middle parts go first, then the ends are cut."""
    parts = list(path)
    while len(" > ".join(parts)) > characters and len(parts) > 2:
        parts.pop(len(parts) // 2)
    line = " > ".join(parts)
    if len(line) > characters and len(parts) == 2:
        first = parts[0][: max(characters // 3, characters - len(parts[1]) - 3)]
        line = f"{first} > {parts[1]}"
    return line[:characters]
