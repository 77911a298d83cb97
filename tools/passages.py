"""Pack sentences into passages: section by section, block by block, under the token bound of the encoder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from .cuts import CountTokens, Limits, PassageCut, SentenceCut, Split
from .evidence import Parsed
from .outline import Unit
from .prefixes import SPECIAL, Prefixes


@dataclass(frozen=True, slots=True)
class _Sized:
    """A sentence with the tokens it adds to a passage."""

    unit: Unit
    tokens: int


_Group = list[_Sized]


@dataclass(frozen=True, slots=True)
class _Room:
    """Tokens a passage may use for its sentences, as a rule and at most."""

    target: int
    most: int


@dataclass(frozen=True, slots=True)
class _Packing:
    """What packing one text goes by."""

    parsed: Parsed
    prefixes: Prefixes
    count: CountTokens
    limits: Limits

    def most(self, unit: Unit) -> int:
        """Return the tokens a sentence may have beside the prefix of a passage that begins with it."""
        return max(1, self.limits.tokens - self.prefixes.tokens(unit))

    def room(self, section: Sequence[_Sized]) -> _Room:
        """Return the room in the passages of a section."""
        most = min(self.most(one.unit) for one in section)
        return _Room(min(self.limits.target, most), most)

    def tokens(self, groups: Sequence[_Group]) -> list[int]:
        """Return the tokens of passages with their prefixes, as they are encoded."""
        texts = []
        for group in groups:
            prefix = self.prefixes.of([one.unit for one in group])
            text = self.parsed.text[group[0].unit.start : group[-1].unit.end]
            texts.append(f"{prefix}\n{text}" if prefix else text)
        return self.count(texts) if texts else []


def pack_passages(parsed: Parsed, units: Sequence[Unit], count: CountTokens, limits: Limits) -> Split:
    """Return sentences and passages of a text; a sentence too long for a passage is cut hard."""
    packing = _Packing(parsed, Prefixes(parsed, units, count, limits.tokens), count, limits)
    sections = _sections(_sized(packing, units))
    groups = [group for section in sections for group in _packed(parsed, section, packing.room(section))]
    return _numbered(_bounded(packing, groups), packing.prefixes)


def _sized(packing: _Packing, units: Sequence[Unit]) -> list[_Sized]:
    """Count all sentences at once and cut those that no passage could hold, until each piece fits."""
    text = packing.parsed.text
    counts = packing.count([text[unit.start : unit.end] for unit in units]) if units else []
    sized = [_Sized(unit, max(1, tokens - SPECIAL) + 1) for unit, tokens in zip(units, counts, strict=True)]
    wide = [
        one.unit for one in sized if one.tokens > packing.most(one.unit) and len(_halves(text, one.unit)) > 1
    ]
    if not wide:
        return sized
    cut = {unit.start for unit in wide}
    pieces = _sized(packing, [half for unit in wide for half in _halves(text, unit)])
    kept = [one for one in sized if one.unit.start not in cut]
    return sorted(kept + pieces, key=lambda one: one.unit.start)


def _halves(text: str, unit: Unit) -> list[Unit]:
    """Return a unit in two, cut at white space near its middle or anywhere; one character stays whole."""
    middle = (unit.start + unit.end) // 2
    space = text.rfind(" ", unit.start + 1, middle)
    at = space if space > unit.start + (middle - unit.start) // 2 else middle
    halves = (_stripped(text, replace(unit, end=at)), _stripped(text, replace(unit, start=at)))
    return [half for half in halves if half.start < half.end]


def _stripped(text: str, unit: Unit) -> Unit:
    raw = text[unit.start : unit.end]
    start = unit.start + len(raw) - len(raw.lstrip())
    return replace(unit, start=start, end=start + len(raw.strip()))


def _sections(sized: Sequence[_Sized]) -> Iterator[_Group]:
    """Yield the sentences of each section; one that is only a heading opens the first section below it."""
    waiting: _Group = []
    for _, members in groupby(sized, key=lambda one: one.unit.section):
        section = list(members)
        above = waiting[-1].unit.locator.heading if waiting else ()
        if section[0].unit.locator.heading[: len(above)] != above:
            yield waiting
            waiting = []
        waiting += section
        if not _only_heading(waiting):
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def _only_heading(group: Sequence[_Sized]) -> bool:
    return all(one.unit.kind == "heading" for one in group)


def _packed(parsed: Parsed, section: Sequence[_Sized], room: _Room) -> list[_Group]:
    """Pack a section into passages: what belongs together stays together where it fits into one."""
    packed: list[_Group] = [[]]
    used = 0
    for whole in _wholes(parsed, section):
        size = _tokens(whole)
        if size > room.target and used > room.target // 2 and not _only_heading(packed[-1]):
            packed.append([])
            used = 0
        for part in _parts(parsed, whole, room.target):
            size = _tokens(part)
            most = room.most if _only_heading(packed[-1]) else room.target
            if used and used + size > most:
                packed.append([])
                used = 0
            packed[-1] += part
            used += size
    return [group for group in packed if group]


def _tokens(group: Sequence[_Sized]) -> int:
    return sum(one.tokens for one in group)


def _parts(parsed: Parsed, whole: _Group, target: int) -> Iterator[_Group]:
    """Yield what belongs together in one part when it fits, else by blocks, else by sentences."""
    if _tokens(whole) <= target:
        yield whole
        return
    for _, members in groupby(_led_in(parsed, whole), key=lambda led: led[-1].unit.block):
        led = list(members)
        block = [one for part in led for one in part]
        yield from [block] if _tokens(block) <= target else led


def _led_in(parsed: Parsed, whole: _Group) -> Iterator[_Group]:
    """Yield single sentences, but one that leads in what follows together with the first of that."""
    held: _Group = []
    for one in whole:
        held.append(one)
        if not _leads_in(parsed, one.unit):
            yield held
            held = []
    if held:
        yield held


def _wholes(parsed: Parsed, section: Sequence[_Sized]) -> Iterator[_Group]:
    """Yield paragraphs, and lists, tables and listings each with the paragraph that leads them in."""
    held: _Group = []
    for _, members in groupby(section, key=lambda one: _structure(parsed, one.unit)):
        held += members
        if not _leads_in(parsed, held[-1].unit):
            yield held
            held = []
    if held:
        yield held


def _structure(parsed: Parsed, unit: Unit) -> tuple[str, int]:
    """Return what the sentences of one paragraph, list, table or listing have in common."""
    block = parsed.blocks[unit.block]
    return ("group", block.group) if block.group else ("block", unit.block)


def _leads_in(parsed: Parsed, unit: Unit) -> bool:
    return unit.kind == "prose" and parsed.text[unit.end - 1] in ":："


def _bounded(packing: _Packing, groups: Sequence[_Group]) -> list[_Group]:
    """Halve the passages that are over the bound when prefix and text are counted together."""
    bounded: list[_Group] = []
    for group, tokens in zip(groups, packing.tokens(groups), strict=True):
        halves = _split_group(packing.parsed.text, group) if tokens > packing.limits.tokens else [group]
        bounded += _bounded(packing, halves) if len(halves) > 1 else [group]
    return bounded


def _split_group(text: str, group: _Group) -> list[_Group]:
    if len(group) > 1:
        return [group[: len(group) // 2], group[len(group) // 2 :]]
    return [[_Sized(half, group[0].tokens)] for half in _halves(text, group[0].unit)]


def _numbered(groups: Sequence[_Group], prefixes: Prefixes) -> Split:
    """Give sentences and passages their numbers, and passages the span of their section."""
    parents = _parents(groups)
    sentences: list[SentenceCut] = []
    passages: list[PassageCut] = []
    for group in groups:
        units = [one.unit for one in group]
        first = len(sentences)
        sentences += [SentenceCut(u.start, u.end, u.kind, u.governed_by, u.locator) for u in units]
        start, end = units[0].start, units[-1].end
        parent = parents[units[-1].section]
        passages.append(
            PassageCut(
                start,
                end,
                units[-1].locator.heading,
                first,
                len(sentences),
                (min(parent[0], start), parent[1]),
                prefixes.of(units),
            )
        )
    return Split(tuple(sentences), tuple(passages))


def _parents(groups: Sequence[_Group]) -> dict[int, tuple[int, int]]:
    """Return the span of each section by its number."""
    parents: dict[int, tuple[int, int]] = {}
    for unit in (one.unit for group in groups for one in group):
        start, _ = parents.get(unit.section, (unit.start, unit.end))
        parents[unit.section] = (start, unit.end)
    return parents
