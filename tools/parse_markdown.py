"""Parse Markdown: the decoded file is the canonical text, markdown-it-py says where its blocks are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from .decode import decode
from .evidence import Block, BlockKind, Parsed
from .plain import plain

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.S | re.M)
_TITLE = re.compile(r"^title:[ \t]*[\"']?(.+?)[\"']?[ \t]*$", re.M)
_ROW_RULE = re.compile(r"^[\s|:\-]+$")


def parse_markdown(data: bytes, path: str) -> Parsed:
    """Return a Markdown file as blocks over its decoded text."""
    text = decode(data)
    front = _FRONT_MATTER.match(text)
    begin = front.end() if front else 0
    blocks = _Layout(text, begin).blocks(_parser().parse(_unified(text[begin:])))
    return Parsed(text, tuple(blocks), _title(text, front, blocks, path), "text/markdown", "markdown/1")


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table")


def _unified(text: str) -> str:
    """Return text in which only \\n ends a line, of the same lines."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _title(text: str, front: re.Match[str] | None, blocks: Sequence[Block], path: str) -> str:
    named = _TITLE.search(front[1]) if front else None
    if named:
        return named[1]
    heading = next((block for block in blocks if block.kind == "heading" and block.level == 1), None)
    return plain(text[heading.start : heading.end]) if heading else PurePosixPath(path).stem


class _Layout:
    """Turn markdown-it's tokens with their line ranges into blocks with offsets."""

    def __init__(self, text: str, begin: int) -> None:
        self._text = text
        lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n|\Z)", text[begin:])
        self._starts = [begin, *(begin + end for end in accumulate(len(line) for line in lines))]
        self._group = 0

    def blocks(self, tokens: Sequence[Token]) -> list[Block]:
        """Return the blocks of a token stream in order."""
        found: list[Block] = []
        lists: list[int] = []
        tables: list[int] = []
        for i, token in enumerate(tokens):
            if token.type in ("bullet_list_open", "ordered_list_open"):
                self._group += not lists
                lists.append(self._group)
            elif token.type in ("bullet_list_close", "ordered_list_close"):
                lists.pop()
            elif token.type == "table_open":
                self._group += 1
                tables.append(self._group)
            elif token.type == "table_close":
                tables.pop()
            block = self._block(tokens, i, lists, tables)
            if block:
                found.append(block)
        return _untangled(found)

    def _block(
        self, tokens: Sequence[Token], i: int, lists: Sequence[int], tables: Sequence[int]
    ) -> Block | None:
        token = tokens[i]
        if token.type == "heading_open":
            return self._cut("heading", token, level=int(token.tag[1:]))
        if token.type == "tr_open" and tables:
            kind: BlockKind = "header" if tokens[i - 1].type == "thead_open" else "row"
            return self._cut(kind, token, group=tables[-1])
        if token.type == "inline" and tokens[i - 1].type == "paragraph_open":
            if lists:
                return self._cut("item", token, level=len(lists), group=lists[-1])
            return self._cut("paragraph", token)
        if token.type in ("fence", "code_block"):
            self._group += 1
            return self._cut("code", token, level=len(lists), group=lists[-1] if lists else self._group)
        if token.type == "html_block" and _has_words(token.content):
            return self._cut("paragraph", token)
        return None

    def _cut(self, kind: BlockKind, token: Token, level: int = 0, group: int = 0) -> Block | None:
        """Return the block of a token's lines without surrounding white space; None when it is blank."""
        if token.map is None:
            return None
        first, last = token.map
        start, end = self._starts[first], self._starts[min(last, len(self._starts) - 1)]
        raw = self._text[start:end]
        if not raw.strip():
            return None
        start += len(raw) - len(raw.lstrip())
        return Block(kind, start, start + len(raw.strip()), level, group)


def _has_words(content: str) -> bool:
    """Tell whether an HTML block holds text beside its tags and comments."""
    bare = re.sub(r"<!--.*?-->|<(script|style)\b.*?</\1>|<[^>]*>", " ", content, flags=re.S | re.I)
    return any(character.isalnum() for character in bare)


def _untangled(blocks: Sequence[Block]) -> list[Block]:
    """Return blocks in order; where a block begins inside the one before, that one ends there."""
    ordered = sorted(blocks, key=lambda block: (block.start, block.end))
    kept: list[Block] = []
    for block in ordered:
        if kept and block.start < kept[-1].end:
            if block.start <= kept[-1].start:
                continue
            kept[-1] = replace(kept[-1], end=block.start)
        kept.append(block)
    return kept
