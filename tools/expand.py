"""Read on around a passage: its neighbours, its section, its whole document."""

from __future__ import annotations

from typing import Literal

from .reader import Reader

Reach = Literal["around", "section", "document"]


def reach_of(reader: Reader, passage: int, reach: Reach, limit: int) -> list[int] | None:
    """Return at most `limit` passage ids within reach, nearest first; None when the passage is unreadable."""
    found = reader.passages([passage]).get(passage)
    if found is None:
        return None
    if reach == "around":
        around = reader.neighbours(passage, 1, 1)
    elif reach == "section":
        around = reader.section(passage)
    else:
        around = reader.document_passages(found.origin)
    near = sorted((one for one in around if one != passage), key=lambda one: (abs(one - passage), one))
    return near[:limit]
