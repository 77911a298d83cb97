"""reStructuredText: directives give their content, literal blocks are code, targets are silent."""

from __future__ import annotations

from quaere.tools.evidence import Parsed
from quaere.tools.parse import parse


def read(text: str) -> Parsed:
    return parse(text.encode(), "guide.rst")


def shape(parsed: Parsed) -> list[tuple[str, int, str]]:
    return [(b.kind, b.level, parsed.text[b.start : b.end]) for b in parsed.blocks]


def test_overlined_and_underlined_headings_nest_by_first_use():
    parsed = read("=======\n Guide\n=======\n\nFees\n====\n\nPets\n----\n\nCats\n====\n")
    assert shape(parsed) == [
        ("heading", 1, "Guide"),
        ("heading", 2, "Fees"),
        ("heading", 3, "Pets"),
        ("heading", 2, "Cats"),
    ]
    assert parsed.title == "Guide"


def test_notes_keep_their_text_and_targets_are_silent():
    parsed = read(
        ".. _fees:\n\n.. note::\n    The fee is 12 EUR.\n\n.. warning:: No cats.\n\n"
        ".. toctree::\n   :maxdepth: 2\n\n   a\n"
    )
    assert shape(parsed) == [("paragraph", 0, "The fee is 12 EUR."), ("paragraph", 0, "No cats.")]


def test_code_blocks_and_literal_blocks_are_listings():
    parsed = read(
        ".. code-block:: sh\n   :caption: x\n\n   make\n\n   make demo\n\n"
        "Like this::\n\n    ls --all\n\nAfter.\n\n>>> 1 + 1\n2\n"
    )
    assert shape(parsed) == [
        ("code", 0, "make\n\n   make demo"),
        ("paragraph", 0, "Like this::"),
        ("code", 0, "ls --all"),
        ("paragraph", 0, "After."),
        ("code", 0, ">>> 1 + 1\n2"),
    ]


def test_simple_and_grid_tables_have_a_header():
    simple = read("=====  =====\ndrink  price\n=====  =====\ntea    3\nmilk   2\n=====  =====\n")
    assert [kind for kind, *_ in shape(simple)] == ["header", "row", "row"]
    grid = read("+-------+---+\n| drink | p |\n+=======+===+\n| tea   | 3 |\n+-------+---+\n")
    assert [kind for kind, *_ in shape(grid)] == ["header", "row"]


def test_items_hold_the_listings_in_them():
    parsed = read("- first::\n\n      make\n\n- second\n\nEnd.\n")
    assert [(kind, level) for kind, level, _ in shape(parsed)] == [
        ("item", 1),
        ("code", 1),
        ("item", 1),
        ("paragraph", 0),
    ]
    assert len({block.group for block in parsed.blocks[:3]}) == 1


def test_definitions_stand_with_their_terms():
    assert shape(read("deposit\n  What is paid on arrival.\n")) == [
        ("paragraph", 0, "deposit\n  What is paid on arrival.")
    ]
