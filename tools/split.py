"""Split a parsed text into sentences with what governs them, and passages by structure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .evidence import Locator, Parsed, SentenceKind

SPLITTER = "split/3"
"""Mark stored with each version; it changes when sentences or passages of the same text would."""

CountTokens = Callable[[Sequence[str]], list[int]]
"""Tokens of each text alone, special tokens included."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Tokens of a passage: `tokens` at most, prefix and special tokens included; `target` as a rule."""

    tokens: int = 256
    target: int = 200


@dataclass(frozen=True, slots=True)
class SentenceCut:
    """A sentence to be stored; offsets are code points of the canonical text, half open."""

    start: int
    end: int
    kind: SentenceKind
    governed_by: tuple[tuple[int, int], ...]
    locator: Locator


@dataclass(frozen=True, slots=True)
class PassageCut:
    """A passage to be stored; `first`..`last` is the half-open range of its sentences, `parent` its section.

    `prefix` (title, heading path, header of a continued table) is indexed with the text and never quoted.
    """

    start: int
    end: int
    heading: tuple[str, ...]
    first: int
    last: int
    parent: tuple[int, int]
    prefix: str


@dataclass(frozen=True, slots=True)
class Split:
    """The sentences of a text in order, and the passages that hold each of them once."""

    sentences: tuple[SentenceCut, ...]
    passages: tuple[PassageCut, ...]


def split(parsed: Parsed, count: CountTokens, limits: Limits) -> Split:
    """Return the sentences and passages of a parsed text; no passage has more than `limits.tokens` tokens."""
    from .outline import outline
    from .passages import pack_passages

    units = outline(parsed)
    return pack_passages(parsed, units, count, limits)
