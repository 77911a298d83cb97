"""Read reStructuredText: headings, directives, literal blocks, lists and tables over the decoded text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from .decode import decode
from .evidence import Parsed
from .text_headings import Headings, title_of, underlined
from .text_lines import Flow, Line, chunks, lines_of

_DIRECTIVE = re.compile(r"\s*\.\.\s+(?P<name>[\w:+.-]+)::\s*(?P<argument>.*)")
_EXPLICIT = re.compile(r"\s*\.\.(?:\s|$)")
_CODE = frozenset(
    ["code-block", "code", "sourcecode", "literalinclude", "parsed-literal", "prompt", "console", "math"]
)
_SILENT = re.compile(
    r"toctree|contents|include|index|meta|raw|image|module|currentmodule|py:module|py:currentmodule|highlight"
    r"|default-role|role|auto\w+|sectnum|cssclass|class|tabularcolumns|unicode|replace|date|todolist|bibliography"
)
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
        match = _DIRECTIVE.match(lines[0].text)
        if match is None or _SILENT.fullmatch(match["name"]):
            return
        content = lines[1:]
        while content and _OPTION.match(content[0].text):
            content = content[1:]
        if match["name"] in _CODE:
            self._code(content)
            return
        if match["argument"].strip():
            start = lines[0].start + match.start("argument")
            self.flow.prose([Line(start, lines[0].end, match["argument"])])
        self.body(content)

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
        self.flow.prose(run)
        if not run[-1].bare.endswith("::"):
            return len(run)
        end = _end_of_indented(lines, i + len(run), min(line.indent for line in run))
        self._code(lines[i + len(run) : end])
        return end - i

    def _table(self, lines: Sequence[Line], i: int) -> int:
        """Read a table; a simple one may hold blank lines and ends with its last rule."""
        run = next(chunks(lines[i:]))
        self.flow.table(run)
        return len(run)


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
