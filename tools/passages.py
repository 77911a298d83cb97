"""Pack sentences into passages: section by section, block by block, under the token bound of the encoder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from .evidence import Parsed
from .outline import Unit
from .plain import plain
from .split import CountTokens, Limits, PassageCut, SentenceCut, Split

PREFIX_CHARACTERS = 160
"""Characters of a prefix at most, about 40 tokens; the middle of a longer path is left out."""

SPECIAL = 2
"""Special tokens that every count includes and a joined passage has only once."""


@dataclass(frozen=True, slots=True)
class _Sized:
    """A sentence with the tokens it adds to a passage."""

    unit: Unit
    tokens: int


@dataclass(frozen=True, slots=True)
class _Room:
    """Tokens a passage may use for its sentences, as a rule and at most."""

    target: int
    most: int


def pack_passages(parsed: Parsed, units: Sequence[Unit], count: CountTokens, limits: Limits) -> Split:
    """Return sentences and passages of a text; a sentence too long for a passage is cut hard."""
    prefixes = _prefixes(parsed, units)
    widest = max(count(sorted(set(prefixes.values()))), default=SPECIAL)
    widest = min(widest, limits.tokens // 2)
    room = _Room(max(1, min(limits.target, limits.tokens - widest)), max(1, limits.tokens - widest))
    sized = _sized(parsed.text, units, count, room.most)
    groups = [group for section in _sections(sized) for group in _packed(parsed, section, room)]
    groups = [piece for group in groups for piece in _within(parsed, group, count, limits)]
    return _numbered(parsed, groups)


def _sized(text: str, units: Sequence[Unit], count: CountTokens, most: int) -> list[_Sized]:
    """Count all sentences at once and cut those that no passage could hold."""
    counts = count([text[unit.start : unit.end] for unit in units]) if units else []
    sized: list[_Sized] = []
    for unit, tokens in zip(units, counts, strict=True):
        if tokens - SPECIAL + 1 <= most:
            sized.append(_Sized(unit, max(1, tokens - SPECIAL) + 1))
        else:
            sized += _cut_hard(text, unit, count, most)
    return sized


def _cut_hard(text: str, unit: Unit, count: CountTokens, most: int) -> list[_Sized]:
    """Cut a sentence in halves at white space, or anywhere, until each piece fits."""
    tokens = count([text[unit.start : unit.end]])[0]
    if tokens - SPECIAL + 1 <= most or unit.end - unit.start < 2:
        return [_Sized(unit, max(1, tokens - SPECIAL) + 1)]
    middle = (unit.start + unit.end) // 2
    space = text.rfind(" ", unit.start + 1, middle)
    at = space if space > unit.start + (middle - unit.start) // 2 else middle
    halves = (replace(unit, end=at), replace(unit, start=at))
    return [
        piece
        for half in map(lambda u: _stripped(text, u), halves)
        if half
        for piece in _cut_hard(text, half, count, most)
    ]


def _stripped(text: str, unit: Unit) -> Unit | None:
    raw = text[unit.start : unit.end]
    start = unit.start + len(raw) - len(raw.lstrip())
    end = start + len(raw.strip())
    return replace(unit, start=start, end=end) if start < end else None


def _sections(sized: Sequence[_Sized]) -> Iterator[list[_Sized]]:
    """Yield the sentences of each section; one that is only a heading goes with the section behind it."""
    waiting: list[_Sized] = []
    for _, members in groupby(sized, key=lambda one: one.unit.section):
        waiting += members
        if any(one.unit.kind != "heading" for one in waiting):
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def _packed(parsed: Parsed, section: Sequence[_Sized], room: _Room) -> list[list[_Sized]]:
    """Pack the blocks of a section into passages; a block moves on whole when it fits into one of its own."""
    packed: list[list[_Sized]] = []
    used = 0
    for block in _whole_blocks(parsed, section):
        tokens = sum(one.tokens for one in block)
        fits = used + tokens <= room.target
        if (
            packed
            and not fits
            and (tokens <= room.target or used > room.target // 2)
            and not _only_heading(packed[-1])
        ):
            packed.append([])
            used = 0
        for one in block:
            if not packed or used + one.tokens > (room.target if used else room.most):
                if packed and _only_heading(packed[-1]) and used + one.tokens <= room.most:
                    pass
                elif not packed or packed[-1]:
                    packed.append([])
                    used = 0
            packed[-1].append(one)
            used += one.tokens
    return [group for group in packed if group]


def _only_heading(group: Sequence[_Sized]) -> bool:
    return bool(group) and all(one.unit.kind == "heading" for one in group)


def _whole_blocks(parsed: Parsed, section: Sequence[_Sized]) -> Iterator[list[_Sized]]:
    """Yield runs of sentences that belong together: a block, or a lead-in with the first block it leads in."""
    held: list[_Sized] = []
    for _, members in groupby(section, key=lambda one: one.unit.block):
        held += members
        last = held[-1].unit
        if last.kind == "prose" and parsed.text[last.start : last.end].endswith(":"):
            continue
        yield held
        held = []
    if held:
        yield held


def _within(
    parsed: Parsed, group: Sequence[_Sized], count: CountTokens, limits: Limits
) -> Iterator[Sequence[_Sized]]:
    """Yield a group, or its halves, so that prefix and text are within the bound when counted together."""
    text = f"{_prefix(parsed, [one.unit for one in group])}\n{parsed.text[group[0].unit.start : group[-1].unit.end]}"
    if len(group) == 1 or count([text])[0] <= limits.tokens:
        yield group
        return
    middle = len(group) // 2
    yield from _within(parsed, group[:middle], count, limits)
    yield from _within(parsed, group[middle:], count, limits)


def _numbered(parsed: Parsed, groups: Sequence[Sequence[_Sized]]) -> Split:
    """Give sentences and passages their numbers, and passages the span of their section."""
    sections: dict[int, tuple[int, int]] = {}
    for group in groups:
        for unit in (one.unit for one in group):
            start, end = sections.get(unit.section, (unit.start, unit.end))
            sections[unit.section] = (min(start, unit.start), max(end, unit.end))
    sentences: list[SentenceCut] = []
    passages: list[PassageCut] = []
    for group in groups:
        units = [one.unit for one in group]
        first = len(sentences)
        sentences += [SentenceCut(u.start, u.end, u.kind, u.governed_by, u.locator) for u in units]
        parent = sections[units[-1].section]
        span = (min(parent[0], units[0].start), parent[1])
        heading, prefix = units[-1].locator.heading, _prefix(parsed, units)
        passages.append(
            PassageCut(units[0].start, units[-1].end, heading, first, len(sentences), span, prefix)
        )
    return Split(tuple(sentences), tuple(passages))


def _prefixes(parsed: Parsed, units: Sequence[Unit]) -> dict[int, str]:
    """Return the longest prefix a passage of each section can have."""
    found: dict[int, str] = {}
    for unit in units:
        prefix = _prefix(parsed, [unit])
        if len(prefix) >= len(found.get(unit.section, "")):
            found[unit.section] = prefix
    return found


def _prefix(parsed: Parsed, units: Sequence[Unit]) -> str:
    """Return title and heading path of a passage, and the header of a table that it continues."""
    path = list(dict.fromkeys([plain(parsed.title), *units[-1].locator.heading]))
    lines = [_shortened([part for part in path if part])]
    first = units[0]
    if first.kind == "row":
        headers = [
            parsed.text[start:end] for start, end in first.governed_by if _is_row(parsed.text[start:end])
        ]
        lines += [plain(header)[:PREFIX_CHARACTERS] for header in headers[-1:]]
    return "\n".join(line for line in lines if line)


def _is_row(text: str) -> bool:
    return "|" in text or "," in text or "\t" in text


def _shortened(path: Sequence[str]) -> str:
    """Return a path within its length: the middle parts go first, then the ends are cut."""
    parts = list(path)
    while len(" > ".join(parts)) > PREFIX_CHARACTERS and len(parts) > 2:
        parts.pop(len(parts) // 2)
    return " > ".join(part[: PREFIX_CHARACTERS // max(1, len(parts))] for part in parts)
