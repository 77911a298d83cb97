"""What splitting a text gives: cut sentences, cut passages, and the limits they keep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .evidence import Locator, SentenceKind

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
