"""The words of a checkup: what a check looks at, how it stands, what was found and what to do about it."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from .embed import Encoder

State = Literal["ok", "warning", "failed"]

REPAIR = "run `quaere doctor --repair`"

EVERYTHING = 5_000
"""Items up to which a check looks at each of them; of more it looks at a sample."""

SAMPLE = 1_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Finding:
    """How something stands, what was found, and the way out where it is not well."""

    state: State
    found: str
    way_out: str = ""


@dataclass(frozen=True, slots=True)
class Stores:
    """What a check may look at: the `.quaere` folder, its database in one transaction, the encoder if any."""

    folder: Path
    db: sqlite3.Connection
    encoder: Encoder | None


Look = Callable[[Stores], Finding]


def ok(found: str) -> Finding:
    """Return that all is well."""
    return Finding("ok", found)


def warning(found: str, way_out: str) -> Finding:
    """Return that something is amiss which makes no answer wrong."""
    return Finding("warning", found, way_out)


def failed(found: str, way_out: str = REPAIR) -> Finding:
    """Return that something is wrong."""
    return Finding("failed", found, way_out)


def some(items: Sequence[T]) -> list[T]:
    """Return all of few items, and of many the same sample each time."""
    if len(items) <= EVERYTHING:
        return list(items)
    return [items[at] for at in sorted(random.Random(0).sample(range(len(items)), SAMPLE))]


def counted(number: int, noun: str, several: str = "") -> str:
    """Return a number with its noun, such as `2 files`; `several` is a plural that takes no s."""
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"
