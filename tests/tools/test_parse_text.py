"""Plain text is read by what is evident in it: headings, lists, columns, listings, entries of a log."""

from __future__ import annotations

from quaere.tools.evidence import Parsed
from quaere.tools.parse import parse


def read(text: str, name: str = "rules.txt") -> Parsed:
    return parse(text.encode(), name)


def shape(parsed: Parsed) -> list[tuple[str, int, str]]:
    return [(b.kind, b.level, parsed.text[b.start : b.end]) for b in parsed.blocks]


def test_underlines_make_headings_by_their_first_use():
    parsed = read("Rules\n=====\n\nText here.\n\nFees\n----\nThe fee\n\nPets\n----\n\nNone.\n\nMore\n====\n")
    headings = [(level, text) for kind, level, text in shape(parsed) if kind == "heading"]
    assert headings == [(1, "Rules"), (2, "Fees"), (2, "Pets"), (1, "More")]
    assert parsed.title == "Rules"


def test_single_lines_that_read_as_headings_are_some():
    parsed = read(
        "House rules\n\n1. Arrival\n\nKeys are in the box.\n\n1.1 Late arrival\n\nCall us.\n\n"
        "ANNEX\n\nA map.\n\n"
        "§ 12 Fees\n\nThe fee is 12 EUR.\n\nKind regards\n"
    )
    headings = [(level, text) for kind, level, text in shape(parsed) if kind == "heading"]
    assert headings == [
        (1, "House rules"),
        (1, "1. Arrival"),
        (2, "1.1 Late arrival"),
        (1, "ANNEX"),
        (2, "§ 12 Fees"),
    ]
    assert shape(parsed)[-1] == ("paragraph", 0, "Kind regards")


def test_a_salutation_is_no_title():
    assert read("Dear Ms Brown,\n\nThe fee is 12 EUR.\n").title == "rules"
    assert read("The fee is 12 EUR.\n\nSo it is.\n").title == "rules"


def test_items_nest_by_indent_and_keep_their_lines():
    parsed = read("Bring:\n\n- a towel\n  for the beach\n  * red\n- shoes\n\n  in winter\n\nEnd.\n")
    items = [(level, text) for kind, level, text in shape(parsed) if kind == "item"]
    assert items == [(1, "- a towel\n  for the beach"), (2, "* red"), (1, "- shoes"), (1, "in winter")]
    assert len({block.group for block in parsed.blocks if block.kind == "item"}) == 1
    assert shape(parsed)[-1] == ("paragraph", 0, "End.")


def test_numbered_lines_one_after_another_are_items():
    parsed = read("Steps\n\n1. Ring the bell\n\n2. Wait\n\nThen enter.\n")
    assert [kind for kind, *_ in shape(parsed)] == ["heading", "item", "item", "paragraph"]


def test_a_dash_in_a_wrapped_sentence_is_no_item():
    parsed = read("Something that wraps before the\n- dash in it and goes on.\n")
    assert [kind for kind, *_ in shape(parsed)] == ["paragraph"]


def test_pairs_and_columns_are_read_line_by_line():
    pairs = read("Rent: 300 EUR\nDeposit: 600 EUR\nHeating: included\n")
    assert [kind for kind, *_ in shape(pairs)] == ["item"] * 3
    columns = read("Mon    9-12\nTue    10-14\nWed    closed\n")
    assert [kind for kind, *_ in shape(columns)] == ["row"] * 3
    bars = read("| drink | price |\n+-------+-------+\n| tea | 3 |\n")
    assert [kind for kind, *_ in shape(bars)] == ["header", "row"]


def test_one_line_a_paragraph_is_read_as_such():
    line = "This is one long paragraph on a line of its own, as word processors write it. " * 3
    assert [kind for kind, *_ in shape(read(f"{line}\n{line}\n"))] == ["paragraph", "paragraph"]


def test_indented_code_is_a_listing_and_an_indented_quote_is_not():
    parsed = read(
        "Run this:\n\n    make demo; ls --all\n    cd /srv\n\n"
        "As the poet says:\n\n    All is well that ends well\n"
    )
    assert [kind for kind, *_ in shape(parsed)] == ["paragraph", "code", "paragraph", "paragraph"]


def test_rules_between_sections_are_no_blocks():
    assert [text for *_, text in shape(read("One.\n\n-----\n\nTwo.\n\n* * *\n\nThree.\n"))] == [
        "One.",
        "Two.",
        "Three.",
    ]


def test_a_log_is_read_by_entries_with_the_lines_that_belong_to_them():
    parsed = read("10:02 start\n\n10:03 ValueError\n  File x\n10:04 end\n", "x.log")
    assert shape(parsed) == [
        ("row", 0, "10:02 start"),
        ("row", 0, "10:03 ValueError\n  File x"),
        ("row", 0, "10:04 end"),
    ]
    assert [block.element for block in parsed.blocks] == ["line 1", "lines 3–4", "line 5"]


def test_a_file_without_suffix_keeps_its_name_as_title():
    assert read("free for all use.", "docs/LICENSE").title == "LICENSE"
    assert read("a=1", ".env").title == ".env"
    assert read("a=1", "conf/app.ini").title == "app.ini"
