"""Parse Markdown: the decoded file is the canonical text, markdown-it-py says where its blocks are.

Blocks leave out the marks around them: number signs and underlines of headings, fences, front matter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from .decode import decode
from .evidence import Block, BlockKind, Parsed
from .plain import plain
from .text_lines import Line, lines_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_FRONT_MATTER = re.compile(
    r"\A---[ \t]*(?:\r\n|\r|\n)(.*?)^(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|\Z)", re.S | re.M
)
_TITLE = re.compile(r"^title:[ \t]*[\"']?(.+?)[\"']?[ \t]*$", re.M)
_TAGS = r"(?:\s|<!--.*?-->|<(script|style)\b.*?</\1\s*>|<[/!?a-z][^>]*>)*"
_LEADING_TAGS = re.compile(_TAGS, re.S | re.I)
_HTML_HEADING = re.compile(r"\s*(?:<(?:div|center|p|a)\b[^>]*>\s*)*<h([1-6])\b", re.I)
_COLON_FENCE = re.compile(r":{3,}\s*(?:\{?[\w-]+\}?)?")
_ADMONITION = re.compile(r"(?:!!!|\?\?\?\+?)\s+[\w -]+")
_PROSE_FENCE = re.compile(
    r"\{(?:note|tip|hint|important|warning|caution|danger|error|attention|seealso|admonition|versionadded"
    r"|versionchanged|deprecated)\}.*"
)


def parse_markdown(data: bytes, path: str) -> Parsed:
    """Return a Markdown file as blocks over its decoded text."""
    text = decode(data)
    front = _FRONT_MATTER.match(text)
    begin = front.end() if front else 0
    body = text[begin:]
    lines = [Line(begin + line.start, begin + line.end, line.text) for line in lines_of(body)]
    tokens = _parser().parse("\n".join(line.text for line in lines))
    blocks = tuple(_untangled(_Reading(text, lines).blocks(tokens)))
    return Parsed(text, blocks, _title(text, front, blocks, path), "text/markdown", "markdown/1")


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table")


def _title(text: str, front: re.Match[str] | None, blocks: Sequence[Block], path: str) -> str:
    """Return the first heading of level 1, else the title of the front matter, else the file's name."""
    heading = next((block for block in blocks if block.kind == "heading" and block.level == 1), None)
    if heading:
        return plain(text[heading.start : heading.end])
    named = _TITLE.search(front[1]) if front else None
    return named[1] if named else PurePosixPath(path).stem


@dataclass(slots=True)
class _Reading:
    """Turn markdown-it's tokens with their line ranges into blocks with offsets."""

    text: str
    lines: Sequence[Line]
    _groups: int = 0
    _lists: list[int] = field(default_factory=list)
    _table: int = 0
    _announced: bool = False

    def blocks(self, tokens: Sequence[Token]) -> list[Block]:
        """Return the blocks of a token stream; a block may begin inside the one before it."""
        found = (self._block(token, tokens[i - 1].type if i else "") for i, token in enumerate(tokens))
        return [block for block in found if block is not None]

    def _block(self, token: Token, before: str) -> Block | None:
        """Return the block that a token stands for, if any; note where lists and tables begin and end."""
        kind = token.type
        if kind in ("bullet_list_open", "ordered_list_open"):
            self._groups += not self._lists
            self._lists.append(self._groups)
        elif kind in ("bullet_list_close", "ordered_list_close"):
            self._lists.pop()
        elif kind == "table_open":
            self._groups += 1
            self._table = self._groups
        elif kind == "tr_open":
            return self._cut("header" if before == "thead_open" else "row", token, group=self._table)
        elif kind == "heading_open":
            return self._heading(token)
        elif kind == "inline" and before == "paragraph_open":
            return self._paragraph(token)
        elif kind in ("fence", "code_block"):
            return self._code(token)
        elif kind == "html_block":
            return self._html(token)
        return None

    def _heading(self, token: Token) -> Block | None:
        """Return a heading without its number signs or underline."""
        block = self._cut("heading", token, level=int(token.tag[1:]))
        if block is None:
            return None
        raw = self.text[block.start : block.end]
        if token.markup in ("=", "-"):
            bare = re.sub(r"(?:\r\n|\r|\n)[ >\t]*[=-]+[ \t]*\Z", "", raw)
            return replace(block, end=block.start + len(bare.rstrip()))
        bare = re.sub(r"[ \t]+#+[ \t]*\Z", "", raw)
        opening = re.match(r"(?:[>\s]|[-*+]\s|\d+[.)]\s)*#+[ \t]*", bare)
        start = opening.end() if opening else 0
        return (
            replace(block, start=block.start + start, end=block.start + len(bare))
            if bare[start:].strip()
            else None
        )

    def _paragraph(self, token: Token) -> Block | None:
        """Return a paragraph or item without the marks of a note around it."""
        first, last = token.map or (0, 0)
        self._announced = bool(_ADMONITION.match(self.lines[first].bare)) if last else False
        if last - first > 1 and _is_mark(self.lines[first].bare):
            first += 1
        if last - first > 1 and _COLON_FENCE.fullmatch(self.lines[last - 1].bare):
            last -= 1
        if self._lists:
            return self._between("item", first, last, len(self._lists), self._lists[-1])
        return self._between("paragraph", first, last)

    def _code(self, token: Token) -> Block | None:
        """Return a listing without its fences; the content of a note is a paragraph."""
        first, last = token.map or (0, 0)
        if token.type == "code_block" and self._announced:
            return self._between("paragraph", first, last)
        self._announced = False
        if token.type == "fence":
            closed = last - first > 1 and self.lines[last - 1].bare.lstrip("> \t").startswith(token.markup)
            inner = (first + 1, last - 1 if closed else last)
            if _PROSE_FENCE.fullmatch(token.info.strip()):
                within = self._between("paragraph", *inner)
                return within or self._between("paragraph", first, first + 1)
            first, last = inner
        group = self._lists[-1] if self._lists else self._next_group()
        return self._between("code", first, last, len(self._lists), group)

    def _html(self, token: Token) -> Block | None:
        """Return the text of a block of HTML between its outer tags, as a heading when it is one."""
        block = self._cut("paragraph", token)
        if block is None:
            return None
        raw = self.text[block.start : block.end]
        opening = _LEADING_TAGS.match(raw)
        start = opening.end() if opening else 0
        inner = re.sub(r"(?:\s|<[/!?a-z][^>]*>)*\Z", "", raw[start:], flags=re.I)
        if not any(c.isalnum() for c in re.sub(_TAGS, "", inner, flags=re.S | re.I)):
            return None
        heading = _HTML_HEADING.match(raw)
        block = replace(block, start=block.start + start, end=block.start + start + len(inner))
        return (
            replace(block, kind="heading", level=int(heading[1])) if heading and "<" not in inner else block
        )

    def _next_group(self) -> int:
        self._groups += 1
        return self._groups

    def _cut(self, kind: BlockKind, token: Token, level: int = 0, group: int = 0) -> Block | None:
        first, last = token.map or (0, 0)
        return self._between(kind, first, last, level, group)

    def _between(
        self, kind: BlockKind, first: int, last: int, level: int = 0, group: int = 0
    ) -> Block | None:
        """Return the block of the lines [first, last) without surrounding white space; None when blank."""
        lines = [line for line in self.lines[first:last] if line.bare]
        if not lines:
            return None
        start = lines[0].start + len(lines[0].text) - len(lines[0].text.lstrip())
        return Block(kind, start, lines[-1].start + len(lines[-1].text.rstrip()), level, group)


def _is_mark(line: str) -> bool:
    return bool(_ADMONITION.fullmatch(line) or _COLON_FENCE.fullmatch(line))


def _untangled(blocks: Sequence[Block]) -> list[Block]:
    """Return blocks in order; where a block begins inside the one before, that one ends there."""
    kept: list[Block] = []
    for block in sorted(blocks, key=lambda block: (block.start, block.end)):
        if kept and block.start < kept[-1].end:
            if block.start <= kept[-1].start:
                continue
            kept[-1] = replace(kept[-1], end=block.start)
        kept.append(block)
    return kept
