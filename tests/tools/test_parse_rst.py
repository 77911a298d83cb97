"""reStructuredText: directives give their content, literal blocks are code, targets are silent."""

from __future__ import annotations

from quaere.tools.evidence import Parsed
from quaere.tools.parse import parse
from quaere.tools.split import Limits, split


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


def test_what_a_signature_describes_stands_in_its_scope():
    parsed = read(
        "Desk\n====\n\n.. class:: Desk(place)\n\n   Where keys are.\n\n   .. method:: ring(times=1)\n      :async:\n\n"
        "      Ring the bell.\n\nAfter.\n"
    )
    assert [
        (tuple(scope.name for scope in b.within), parsed.text[b.start : b.end]) for b in parsed.blocks
    ] == [
        ((), "Desk"),
        (("Desk(place)",), "Desk(place)"),
        (("Desk(place)",), "Where keys are."),
        (("Desk(place)", "ring(times=1)"), "ring(times=1)"),
        (("Desk(place)", "ring(times=1)"), "Ring the bell."),
        ((), "After."),
    ]
    cut = split(parsed, lambda texts: [len(text) // 3 + 2 for text in texts], Limits())
    ring = next(one for one in cut.sentences if "Ring the" in parsed.text[one.start : one.end])
    assert ring.locator.heading == ("Desk", "Desk(place)", "ring(times=1)")
    assert [parsed.text[a:b] for a, b in ring.governed_by] == ["Desk", "Desk(place)", "ring(times=1)"]


def test_footnotes_and_figures_give_their_text():
    parsed = read(
        "See [1]_.\n\n.. [1] The fee rose\n   in 2024.\n.. [CIT] Smith, 2001.\n\n"
        ".. figure:: bell.png\n   :alt: A bell\n\n   The bell.\n\n.. math:: a^2\n"
    )
    assert shape(parsed)[1:] == [
        ("paragraph", 0, "The fee rose\n   in 2024."),
        ("paragraph", 0, "Smith, 2001."),
        ("paragraph", 0, "The bell."),
        ("code", 0, "a^2"),
    ]


def test_the_version_something_came_with_is_told_with_its_word():
    parsed = read("Text.\n\n.. versionadded:: 2.0\n   The bell.\n")
    assert shape(parsed)[1:] == [("paragraph", 0, "versionadded:: 2.0"), ("paragraph", 0, "The bell.")]


def test_fields_are_items_with_the_lines_they_run_over():
    parsed = read(":Author: Ann\n:Version: 2\n   or so\n\n:ref:`x <y>` is a role.\n")
    assert shape(parsed) == [
        ("item", 1, ":Author: Ann"),
        ("item", 1, ":Version: 2\n   or so"),
        ("paragraph", 0, ":ref:`x <y>` is a role."),
    ]


def test_tables_hold_blank_lines_and_headers_from_options():
    simple = read("=====  =====\ndrink  price\n=====  =====\ntea    3\n\nmilk   2\n=====  =====\n\nAfter.\n")
    assert [kind for kind, *_ in shape(simple)] == ["header", "row", "row", "paragraph"]
    separated = read('.. csv-table:: Loads\n   :header: "station", "kN"\n\n   "ST-1", 12\n   "ST-2", 13\n')
    assert shape(separated)[1:] == [
        ("header", 0, '"station", "kN"'),
        ("row", 0, '"ST-1", 12'),
        ("row", 0, '"ST-2", 13'),
    ]
