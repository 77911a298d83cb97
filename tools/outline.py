"""Walk the blocks of a text and give each sentence its section and what governs it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .evidence import Block, Locator, Parsed, Scope, SentenceKind
from .places import lines_place
from .plain import plain
from .sentences import cut_sentences

CODE_LINES = 8
"""Lines of a unit of code at most."""

CODE_CHARACTERS = 400
"""Characters of a unit of code at most."""

_SIGNATURE = re.compile(
    r"\s*(?:(?:async\s+)?def|class|function|fn|func|public|private|protected|static|impl|struct|interface|sub)\b"
    r"|\S[^=;]*\)\s*\{\s*$"
)
_LINE = re.compile(r"[^\r\n]+")
_KINDS: dict[str, SentenceKind] = {
    "heading": "heading",
    "paragraph": "prose",
    "caption": "prose",
    "item": "item",
    "header": "row",
    "row": "row",
    "code": "code",
}

_GAP = "\n\n"

SpanPair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence with its block's index, its section and what governs it."""

    start: int
    end: int
    kind: SentenceKind
    block: int
    section: int
    governed_by: tuple[SpanPair, ...]
    locator: Locator


@dataclass(frozen=True, slots=True)
class _Indented:
    """A line of code that deeper lines stand under, with its span when it is a signature."""

    indent: int
    signature: SpanPair | None


@dataclass(slots=True)
class _Course:
    """Where the walk stands: open headings, section, lead-in, parent items, header of the table, code."""

    headings: list[Block] = field(default_factory=list)
    section: int = 0
    before: Block | None = None
    lead: SpanPair | None = None
    lead_group: int = 0
    items: list[Block] = field(default_factory=list)
    table: dict[int, list[SpanPair]] = field(default_factory=dict)
    scopes: list[_Indented] = field(default_factory=list)
    within: tuple[Scope, ...] = ()


@dataclass(slots=True)
class _Lines:
    """Count the lines of a file forwards through the units of a block."""

    at: int
    line: int

    def place(self, text: str, start: int, end: int) -> str:
        """Return the lines of a unit, which begins behind the one before."""
        self.line += text.count("\n", self.at, start)
        self.at = start
        return lines_place(self.line, self.line + text.count("\n", start, end))


def outline(parsed: Parsed) -> list[Unit]:
    """Return the sentences of a text in order."""
    course = _Course()
    units: list[Unit] = []
    blocks = parsed.blocks
    i = 0
    while i < len(blocks):
        flow = _flow(blocks, i)
        units += _block_units(parsed, flow, i, course)
        i += len(flow)
    return units


def _flow(blocks: Sequence[Block], i: int) -> Sequence[Block]:
    """Return the blocks of one paragraph, which may run over a page."""
    first, last = blocks[i], i + 1
    if first.kind == "paragraph" and first.group:
        while last < len(blocks) and blocks[last].kind == "paragraph" and blocks[last].group == first.group:
            last += 1
    return blocks[i:last]


def _block_units(parsed: Parsed, flow: Sequence[Block], index: int, course: _Course) -> list[Unit]:
    block = flow[0]
    _advance(course, block)
    governed = _governing(parsed.text, block, course)
    path = _path(parsed.text, block, course)
    lines = _Lines(block.start, block.line) if block.line is not None else None
    units = []
    for start, end, extra in _cuts(parsed.text, block, flow[-1].end, course):
        touched = [one for one in flow if one.start < end and start < one.end]
        offset = next((i for i, one in enumerate(flow) if one.start <= start < one.end), 0)
        element = lines.place(parsed.text, start, end) if lines else block.element
        locator = Locator(_page(touched[0]), _page(touched[-1]), path, element)
        # What is read with a unit stands last: the header of a row, the nearest signature of code.
        above = (extra, governed) if block.kind == "row" else (governed, extra)
        spans = _apart(*above, (start, end))
        units.append(Unit(start, end, _KINDS[block.kind], index + offset, course.section, spans, locator))
    _remember(parsed.text, course, flow[-1], units)
    return units


def _apart(governed: Sequence[SpanPair], extra: Sequence[SpanPair], unit: SpanPair) -> tuple[SpanPair, ...]:
    """Return what governs a unit, each stretch once and nothing of the unit itself."""
    new = [one for one in extra if not any(a <= one[0] and one[1] <= b for a, b in governed)]
    return tuple(dict.fromkeys(one for one in (*governed, *new) if one[1] <= unit[0] or unit[1] <= one[0]))


def _page(block: Block) -> int | None:
    return block.page


def _path(text: str, block: Block, course: _Course) -> tuple[str, ...]:
    """Return the names of what a block stands in: headings, then the scopes that no heading names."""
    scopes = (scope.name for scope in block.within if scope.name)
    return (*(_heading_text(text, one) for one in course.headings), *scopes)


def _heading_text(text: str, block: Block) -> str:
    return plain(text[block.start : block.end]).rstrip("#= ").strip()


def _advance(course: _Course, block: Block) -> None:
    """Open and close headings; each heading begins a section, and so does each other named scope."""
    within = tuple(scope for scope in block.within if scope.name)
    if within != course.within:
        course.section += 1
        course.within, course.scopes = within, []
    if block.kind == "heading" and not block.within:
        course.headings = [one for one in course.headings if one.level < block.level] + [block]
        course.section += 1
        course.lead, course.items = None, []
    elif block.kind == "item":
        course.items = [one for one in course.items if one.group == block.group and one.level < block.level]
    if block.kind != "code":
        course.scopes = []


def _governing(text: str, block: Block, course: _Course) -> tuple[SpanPair, ...]:
    """Return the spans that govern a block: headings above it, lead-in, parent items, header of its table."""
    above = course.headings[:-1] if block.kind == "heading" else course.headings
    spans = [(one.start, one.end) for one in above] + [(one.start, one.end) for one in block.within]
    leads = block.kind in ("item", "code", "row", "header")
    if leads and course.lead and course.lead_group in (0, block.group):
        spans.append(course.lead)
    if block.kind == "item":
        spans += [(one.start, one.end) for one in course.items]
    if block.kind == "code":
        inside = [one for one in course.items if one.group == block.group and one.level <= block.level]
        spans += [(one.start, one.end) for one in inside]
    if block.kind == "row":
        spans += course.table.get(block.group, [])
    return tuple(dict.fromkeys(spans))


def _remember(text: str, course: _Course, block: Block, units: Sequence[Unit]) -> None:
    """Keep what may govern the blocks behind this one."""
    if block.kind == "paragraph":
        last = units[-1] if units else None
        introduces = last is not None and text[last.start : last.end].rstrip().endswith(":")
        course.lead = (last.start, last.end) if last is not None and introduces else None
        course.lead_group = 0
    elif block.kind in ("item", "row", "header", "code") and course.lead:
        course.lead_group = course.lead_group or block.group
    if block.kind == "item":
        course.items.append(block)
    if block.kind in ("header", "caption"):
        course.table.setdefault(block.group, []).append((block.start, block.end))


def _cuts(
    text: str, block: Block, end: int, course: _Course
) -> Iterator[tuple[int, int, tuple[SpanPair, ...]]]:
    """Yield the units of a block: sentences, rows, or for code a few lines each with their signature."""
    if block.kind in ("heading", "header"):
        yield from ((block.start + a, block.start + b, ()) for a, b in _whole(text[block.start : block.end]))
    elif block.kind == "code":
        yield from _code_cuts(text, block, course.scopes)
    elif block.kind == "row":
        yield from _row_cuts(text, block)
    else:
        # A paragraph that runs over a page is one flow: the gap between its blocks is no paragraph break.
        flow = text[block.start : end].replace(_GAP, "  ") if end > block.end else text[block.start : end]
        yield from ((block.start + a, block.start + b, ()) for a, b in cut_sentences(flow))


def _whole(text: str) -> list[tuple[int, int]]:
    """Return a text as one unit, cut only when it is longer than a sentence may be."""
    return cut_sentences(text) if len(text) > CODE_CHARACTERS else [(0, len(text))]


def _row_cuts(text: str, block: Block) -> Iterator[tuple[int, int, tuple[SpanPair, ...]]]:
    """Yield a row as one unit; what had to be cut off a long one is governed by its beginning."""
    first: tuple[SpanPair, ...] = ()
    for a, b in _whole(text[block.start : block.end]):
        yield block.start + a, block.start + b, first
        first = first or ((block.start + a, block.start + b),)


def _code_cuts(
    text: str, block: Block, scopes: list[_Indented]
) -> Iterator[tuple[int, int, tuple[SpanPair, ...]]]:
    """Yield runs of lines; those in a function carry its signature, also over the blank lines in it."""
    for run in _runs(text, block):
        governing = _signatures(text, run, scopes)
        start, end = run[0][0], run[-1][1]
        for a, b in [(start, end)] if end - start <= CODE_CHARACTERS else _hard(text, run):
            yield a, b, governing


def _runs(text: str, block: Block) -> list[list[SpanPair]]:
    """Return the lines of a listing in runs, cut at blank lines where they get long."""
    runs: list[list[SpanPair]] = []
    for match in _LINE.finditer(text, block.start, block.end):
        if not match[0].strip():
            continue
        if runs and not _opens_run(text, runs[-1], match.span()):
            runs[-1].append(match.span())
        else:
            runs.append([match.span()])
    return runs


def _opens_run(text: str, run: Sequence[SpanPair], line: SpanPair) -> bool:
    """Tell whether a line begins a new unit: the run is full, or half full before a blank line or dedent."""
    if len(run) >= CODE_LINES or line[1] - run[0][0] > CODE_CHARACTERS:
        return True
    gap = text[run[-1][1] : line[0]].count("\n") > 1
    return len(run) >= CODE_LINES // 2 and (gap or _indent(text, line) < _indent(text, run[0]))


def _hard(text: str, run: Sequence[SpanPair]) -> Iterator[SpanPair]:
    """Yield the pieces of an overlong line."""
    for start, end in run:
        yield from ((start + a, start + b) for a, b in cut_sentences(text[start:end]))


def _indent(text: str, line: SpanPair) -> int:
    """Return the indentation of a line, of which a block's first may begin behind it."""
    begin = text.rfind("\n", max(0, line[0] - 200), line[0]) + 1
    raw = text[begin : line[1]] if begin else text[line[0] : line[1]]
    return len(raw) - len(raw.lstrip())


def _signatures(text: str, run: Sequence[SpanPair], scopes: list[_Indented]) -> tuple[SpanPair, ...]:
    """Return the signatures that a run's first line stands under, outermost first; open and close scopes."""
    governing: tuple[SpanPair, ...] = ()
    for i, line in enumerate(run):
        bare = text[line[0] : line[1]].strip()
        indent = _indent(text, line)
        closes = not bare.startswith((")", "{"))
        while closes and scopes and scopes[-1].indent >= indent:
            scopes.pop()
        if i == 0:
            governing = tuple(one.signature for one in scopes if one.signature)
        if closes:
            scopes.append(_Indented(indent, line if _SIGNATURE.match(bare) else None))
    return governing
