"""Read reStructuredText: headings, directives, literal blocks, lists and tables over the decoded text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from .decode import decode
from .evidence import Parsed, Scope
from .text_headings import Headings, title_of, underlined
from .text_lines import Flow, Line, chunks, lines_of

_NOTE = re.compile(r"\s*\.\.\s+\[(?:[\w#*][\w.:+-]*|\*)\]\s+(?=\S)")
_DIRECTIVE = re.compile(r"\s*\.\.\s+(?P<name>[\w:+.-]+)::\s*(?P<argument>.*)")
_EXPLICIT = re.compile(r"\s*\.\.(?:\s|$)")
_CODE = frozenset(
    ["code-block", "code", "sourcecode", "literalinclude", "parsed-literal", "prompt", "console", "math"]
)
_SILENT = re.compile(
    r"toctree|contents|include|index|meta|raw|image|module|currentmodule|py:module|py:currentmodule|highlight"
    r"|default-role|role|auto\w+|sectnum|cssclass|tabularcolumns|unicode|replace|date|todolist|bibliography"
)
_DESCRIBED = re.compile(
    r"(?:(?:py|c|cpp|js|rst|std):)?(?:function|class|method|classmethod|staticmethod|attribute|property|data"
    r"|exception|decorator|decoratormethod|macro|struct|enum|enumerator|type|var|member|option|cmdoption|program"
    r"|envvar|describe|object|confval|setting|directive|role|opcode)"
)
"""Directives whose argument is a signature and whose content describes it."""

_TOLD = re.compile(r"version\w+|deprecated|only|ifconfig|default-domain")
"""Directives whose argument says little without their name."""

_FIELD = re.compile(r"\s*:(?!\w+:`)[^:\s][^:]*:(?:\s|$)")
_LONGEST_NAME = 80
_HEADER_OPTION = re.compile(r"\s*:header:\s*(?=\S)")
_OPTION = re.compile(r"\s*:[\w-]+:(?:\s|$)")
_SIMPLE_RULE = re.compile(r"\s*=+(?:\s+=+)+\s*|\s*=+(?:\s+=+)*\s*")
_GRID_RULE = re.compile(r"\s*\+(?:[-=]+\+)+\s*")


def parse_rst(data: bytes, path: str) -> Parsed:
    """Return a reStructuredText file as blocks over its decoded text."""
    text = decode(data)
    reading = _Reading()
    reading.body(lines_of(text))
    blocks = tuple(reading.flow.blocks)
    return Parsed(text, blocks, title_of(text, blocks, PurePosixPath(path)), "text/plain", "rst/1")


@dataclass(frozen=True, slots=True)
class _Directive:
    """A directive: its first line as matched, the lines of its options, the lines of its content."""

    match: re.Match[str]
    line: Line
    options: Sequence[Line]
    content: Sequence[Line]

    @property
    def name(self) -> str:
        """Return the name before the two colons."""
        return self.match["name"]

    @property
    def argument(self) -> Line | None:
        """Return what stands on the first line behind the two colons."""
        return _behind(self.line, self.match.start("argument")) if self.match["argument"].strip() else None


@dataclass(slots=True)
class _Reading:
    """Read bodies of lines; those of directives are read the same way."""

    flow: Flow = field(default_factory=Flow)
    _headings: Headings = field(default_factory=Headings)

    def body(self, lines: Sequence[Line]) -> None:
        """Read a body of lines from top to bottom."""
        i = 0
        while i < len(lines):
            if not lines[i].bare:
                i += 1
            elif _EXPLICIT.match(lines[i].text):
                end = _end_of_indented(lines, i + 1, lines[i].indent)
                self._explicit(lines[i:end])
                i = end
            else:
                i += self._paragraph(lines, i)

    def _explicit(self, lines: Sequence[Line]) -> None:
        """Read a directive with its content; comments, targets and substitutions are silent."""
        note = _NOTE.match(lines[0].text)
        if note:
            self.flow.prose([_behind(lines[0], note.end()), *lines[1:]])
            return
        match = _DIRECTIVE.match(lines[0].text)
        if match is None or (_SILENT.fullmatch(match["name"]) and not _DESCRIBED.fullmatch(match["name"])):
            return
        end = next((i for i, line in enumerate(lines) if i and not _OPTION.match(line.text)), len(lines))
        self._directive(_Directive(match, lines[0], lines[1:end], lines[end:]))

    def _directive(self, one: _Directive) -> None:
        """Read a directive by what its argument is: code, a signature, a file's name or text."""
        argument = one.argument
        if one.name in _CODE:
            self._code([argument, *one.content] if argument and one.name == "math" else one.content)
        elif one.name == "csv-table":
            self._separated(one)
        elif argument and _DESCRIBED.fullmatch(one.name):
            self._described(argument, one.content)
        else:
            if argument and one.name != "figure":
                told = bool(_TOLD.fullmatch(one.name))
                self.flow.prose([_behind(one.line, one.match.start("name")) if told else argument])
            self.body(one.content)

    def _described(self, signature: Line, content: Sequence[Line]) -> None:
        """Read what a signature describes as standing in its scope."""
        begin = len(self.flow.blocks)
        self.flow.add("paragraph", [signature])
        self.body(content)
        blocks = self.flow.blocks
        if begin < len(blocks):
            scope = Scope(signature.bare[:_LONGEST_NAME], blocks[begin].start, blocks[begin].end)
            blocks[begin:] = [replace(block, within=(scope, *block.within)) for block in blocks[begin:]]

    def _separated(self, one: _Directive) -> None:
        """Read a table of separated values, whose header may be an option."""
        if one.argument:
            self.flow.add("paragraph", [one.argument])
        group = self.flow.next_group()
        for line in one.options:
            header = _HEADER_OPTION.match(line.text)
            if header:
                self.flow.add("header", [_behind(line, header.end())], 0, group)
        for line in one.content:
            if line.bare:
                self.flow.add("row", [line], 0, group)

    def _code(self, lines: Sequence[Line]) -> None:
        filled = [i for i, line in enumerate(lines) if line.bare]
        if filled:
            self.flow.listing(lines[filled[0] : filled[-1] + 1])

    def _paragraph(self, lines: Sequence[Line], i: int) -> int:
        """Read the run of lines that begins at i, with the literal block it announces; return its lines."""
        run = next(chunks(lines[i:]))
        explicit = next((k for k, line in enumerate(run) if k and _EXPLICIT.match(line.text)), len(run))
        run = run[:explicit]
        if _is_table(run):
            return self._table(lines, i)
        taken = underlined(run)
        if taken and not run[taken - 1].indent:
            self.flow.add("heading", [run[taken - 2]], self._headings.level_of(run, taken))
            return taken
        return self._text(lines, i, run)

    def _text(self, lines: Sequence[Line], i: int, run: list[Line]) -> int:
        if run[0].bare.startswith(">>>"):
            self.flow.listing(run)
            return len(run)
        if _FIELD.match(run[0].text):
            return self._fields(run)
        self.flow.prose(run)
        if not run[-1].bare.endswith("::"):
            return len(run)
        end = _end_of_indented(lines, i + len(run), min(line.indent for line in run))
        self._code(lines[i + len(run) : end])
        return end - i

    def _table(self, lines: Sequence[Line], i: int) -> int:
        """Read a table; a simple one may hold blank lines and ends with its last rule."""
        run: Sequence[Line] = next(chunks(lines[i:]))
        if _SIMPLE_RULE.fullmatch(run[0].text):
            rules = (k for k in range(i + 1, len(lines)) if _SIMPLE_RULE.fullmatch(lines[k].text))
            last = (k for k in rules if k + 1 == len(lines) or not lines[k + 1].bare)
            run = lines[i : next(last, i + len(run) - 1) + 1]
        self.flow.table(run)
        return len(run)

    def _fields(self, run: Sequence[Line]) -> int:
        """Read a list of fields, each with the lines it runs over."""
        group = self.flow.next_group()
        starts = [k for k, line in enumerate(run) if _FIELD.match(line.text)]
        for start, end in zip(starts, [*starts[1:], len(run)], strict=True):
            self.flow.add("item", run[start:end], 1, group)
        return len(run)


def _behind(line: Line, column: int) -> Line:
    """Return the rest of a line from a column on."""
    return Line(line.start + column, line.end, line.text[column:])


def _is_table(run: Sequence[Line]) -> bool:
    if _GRID_RULE.fullmatch(run[0].text):
        return True
    return len(run) > 3 and bool(_SIMPLE_RULE.fullmatch(run[0].text)) and " " in run[0].bare


def _end_of_indented(lines: Sequence[Line], i: int, indent: int) -> int:
    """Return the index behind the lines from i on that are blank or indented more."""
    end = i
    while i < len(lines) and (not lines[i].bare or lines[i].indent > indent):
        i += 1
        end = i if lines[i - 1].bare else end
    return end
