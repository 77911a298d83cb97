"""The sentences of one passage as a compact JSON text, with offsets, governing spans and locators.

They are read a few passages at a time, so each passage has its own; what its sentences share is kept once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .cuts import SentenceCut
from .evidence import Locator, Sentence, Span
from .places import joint_place


@dataclass(frozen=True, slots=True)
class Unit:
    """A stored sentence with the place a reader finds it at."""

    sentence: Sentence
    locator: Locator


def pack(sentences: Sequence[SentenceCut]) -> str:
    """Return the stored form of the sentences of one passage."""
    governors: dict[tuple[tuple[int, int], ...], int] = {}
    places: dict[Locator, int] = {}
    rows = [
        [
            cut.start,
            cut.end,
            cut.kind,
            governors.setdefault(cut.governed_by, len(governors)),
            places.setdefault(cut.locator, len(places)),
        ]
        for cut in sentences
    ]
    located = [[place.page, place.last_page, place.heading, place.element] for place in places]
    return json.dumps([rows, list(governors), located], ensure_ascii=False, separators=(",", ":"))


def unpack(stored: str, version: int, first: int) -> list[Unit]:
    """Return the sentences of a passage whose first sentence has the ordinal `first`."""
    rows, governors, located = json.loads(stored)
    spans = [tuple(Span(version, start, end) for start, end in pairs) for pairs in governors]
    places = [_locator(parts) for parts in located]
    return [
        Unit(Sentence(ordinal, Span(version, start, end), spans[governor], kind), places[place])
        for ordinal, (start, end, kind, governor, place) in enumerate(rows, first)
    ]


def joint_locator(locators: Iterable[Locator]) -> Locator:
    """Return the place of a stretch that begins at the first locator and ends at the last."""
    places = list(locators)
    if not places:
        return Locator()
    pages = [page for place in places for page in (place.page, place.last_page) if page is not None]
    first, last = (min(pages), max(pages)) if pages else (None, None)
    element = joint_place(places[0].element, places[-1].element)
    return Locator(first, last if last != first else None, places[0].heading, element)


def _locator(parts: Sequence[Any]) -> Locator:
    page, last_page, heading, element = parts
    return Locator(page, last_page, tuple(heading), element)
