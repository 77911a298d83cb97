"""A row or record is read out with the names of its cells, and as it stands where they are not known."""

from __future__ import annotations

import pytest
from quaere.tools.plain import plain, row_as_text


@pytest.mark.parametrize(
    ("row", "governing", "text"),
    [
        ("| ST-001 | 101 |", ["Loads", "| station | kN |"], "station: ST-001; kN: 101"),
        ("tea | 3", ["drink | price"], "drink: tea; price: 3"),
        ("00M,Thigpen,31.95", ["iata,name,latitude"], "iata: 00M; name: Thigpen; latitude: 31.95"),
        ('tea;"hot; ""sweet"""', ["drink;note"], 'drink: tea; note: hot; "sweet"'),
        ('tea,"hot\nand sweet"', ["drink,note"], "drink: tea; note: hot and sweet"),
        ('{"id": 4, "ok": true, "at": {"x": 1.50}, "tags": ["a", "b"]}', [], "id: 4; ok: true; at: (x: 1.50); tags: a, b"),
        ('"id": 4, "name": "caf\\u00e9"', [], "id: 4; name: café"),
    ],
)  # fmt: skip
def test_cells_are_read_with_their_names(row, governing, text):
    assert row_as_text(row, governing) == text


@pytest.mark.parametrize(
    ("row", "governing"),
    [
        ("1,2,3", []),
        ("1,2", ["a,b,c"]),
        ("tea | 3 | hot", ["drink | price"]),
        ("3,4", ["1,2"]),
        ("{broken", []),
        ('"quoted" start', []),
        ('a,"open', ["x,y"]),
    ],
)
def test_a_row_whose_names_are_not_sure_stays_as_it_is(row, governing):
    assert row_as_text(row, governing) == row


@pytest.mark.parametrize(
    ("text", "wording"),
    [
        ("See :ref:`the tool <cli>` and `its docs <https://x.example/y>`__.", "See the tool and its docs."),
        ("Install it with Homebrew::", "Install it with Homebrew:"),
        ("Use ``a::b`` and `x < y > z`.", "Use a::b and x < y > z."),
    ],
)
def test_references_are_told_by_their_words(text, wording):
    assert plain(text) == wording
