"""Lay out blocks of a format without offsets of its own: one after another, a blank line between."""

from __future__ import annotations

from .evidence import Block, BlockKind, Parsed

_GAP = "\n\n"


class Layout:
    """Collect blocks with their text and give each its place in the canonical text."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._parts: list[str] = []
        self._length = 0
        self._groups = 0

    @property
    def text(self) -> str:
        """Return the canonical text so far."""
        return _GAP.join(self._parts)

    def next_group(self) -> int:
        """Return a number for the next list, table or listing."""
        self._groups += 1
        return self._groups

    def add(
        self, kind: BlockKind, text: str, level: int = 0, group: int = 0, element: str | None = None
    ) -> None:
        """Add a block; blank ones are left out."""
        if not text.strip():
            return
        start = self._length + (len(_GAP) if self._parts else 0)
        self._parts.append(text)
        self._length = start + len(text)
        self.blocks.append(Block(kind, start, self._length, level, group, None, element))

    def parsed(self, title: str, media_type: str, parser: str) -> Parsed:
        """Return what was laid out."""
        return Parsed(self.text, tuple(self.blocks), title, media_type, parser)
