"""Counted places join to ranges; others keep the first."""

from __future__ import annotations

import pytest
from quaere.tools.places import joint_place, lines_place, place_of


@pytest.mark.parametrize(
    ("first", "last", "joint"),
    [
        ("row 3", "row 12", "rows 3–12"),
        ("row 3", "row 3", "row 3"),
        ("lines 10–17", "lines 18–24", "lines 10–24"),
        ("records 1–4", "record 5", "records 1–5"),
        ("row 3", "line 4", "row 3"),
        ("p[2]", "p[3]", "p[2]"),
        (None, "row 1", None),
    ],
)
def test_a_place_runs_from_the_first_to_the_last(first: str | None, last: str | None, joint: str | None):
    assert joint_place(first, last) == joint


def test_one_place_is_named_in_the_singular():
    assert (place_of("record", 5), lines_place(4, 4), lines_place(4, 9)) == (
        "record 5",
        "line 4",
        "lines 4–9",
    )
