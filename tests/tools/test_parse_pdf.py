"""PDFs are read page by page, without what frames the pages, and sentences cross page breaks whole."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pdf_files import write_pdf
from quaere.tools.errors import DamagedFileError, EmptyFileError, EncryptedFileError, UnreadableError
from quaere.tools.evidence import Block, Parsed
from quaere.tools.parse import parse
from typeset_pdf import Set, typeset_pdf

PROSE = [
    "The house stands at the end of the lane and is open from May until the end of October, as",
    "long as the weather allows. Guests find the key in the box beside the door, and they leave it",
    "there when they go.",
]


def texts(parsed: Parsed, kind: str | None = None) -> list[str]:
    return [parsed.text[b.start : b.end] for b in parsed.blocks if kind in (None, b.kind)]


def block_with(parsed: Parsed, phrase: str) -> Block:
    return next(block for block in parsed.blocks if phrase in parsed.text[block.start : block.end])


def test_lines_are_joined_to_paragraphs():
    parsed = parse(write_pdf(["\n".join(PROSE)]), "house.pdf")
    assert texts(parsed) == [" ".join(PROSE)]
    assert parsed.title == "house"


def test_the_title_is_the_one_the_file_names():
    assert parse(write_pdf(["Some text."], title="House rules"), "x.pdf").title == "House rules"
    assert parse(write_pdf(["Some text."], title="rules_final.doc"), "x.pdf").title == "x"


def test_a_sentence_over_a_page_break_is_one_flow_of_two_pages():
    pages = ["Welcome to the house.", "Rules.\nThe deposit is", "300 EUR, paid on arrival.", ""]
    parsed = parse(write_pdf(pages), "house.pdf")
    before, behind = block_with(parsed, "The deposit is"), block_with(parsed, "300 EUR")
    assert (before.page, behind.page) == (2, 3)
    assert before.group == behind.group > 0
    assert parsed.text[before.start : behind.end] == "The deposit is 300 EUR, paid on arrival."
    assert parsed.warnings == ("page 4 has no text",)


def test_a_page_that_ends_with_a_sentence_does_not_flow_on():
    parsed = parse(write_pdf(["The deposit is due.", "300 EUR are paid on arrival."]), "house.pdf")
    assert [block.group for block in parsed.blocks] == [0, 0]


def test_running_heads_and_page_numbers_are_not_in_the_text():
    pages = [
        f"The Guest House Handbook\n{PROSE[0]}\n{PROSE[1]} Rule {'x' * n}.\nPage {n}" for n in range(1, 7)
    ]
    parsed = parse(write_pdf(pages), "house.pdf")
    assert "Page" not in parsed.text
    assert parsed.text.count("The Guest House Handbook") == 1
    assert {block.page for block in parsed.blocks} == set(range(1, 7))


def test_a_footer_does_not_part_a_sentence():
    ends = ["Spring is quiet.", "Summer is loud and the fee for", "the dog is 5 EUR.", "Winter is cold."]
    pages = [f"{end}\n{n} of 4" for n, end in enumerate(ends, 1)]
    assert "and the fee for the dog is 5 EUR." in parse(write_pdf(pages), "house.pdf").text


def test_sentences_that_come_back_stay_in_the_text():
    pages = [
        f"Every guest pays 12 EUR on arrival.\nThis is what page {n} says of rooms." for n in range(1, 4)
    ]
    parsed = parse(write_pdf(pages), "house.pdf")
    assert parsed.text.count("Every guest pays 12 EUR on arrival.") == 3
    assert parsed.text.count("says of rooms") == 3


def test_headings_found_by_type_nest_by_number_and_size():
    lines = [Set("House rules", 20, "bold"), Set("1. Arrival", 16, "bold")]
    lines += [Set(line) for line in PROSE] + [Set("1.1 Keys", 13, "bold")] + [Set(line) for line in PROSE]
    parsed = parse(typeset_pdf([lines]), "house.pdf")
    headings = [(b.level, parsed.text[b.start : b.end]) for b in parsed.blocks if b.kind == "heading"]
    assert headings == [(1, "House rules"), (1, "1. Arrival"), (2, "1.1 Keys")]
    assert parsed.title == "House rules"


def test_an_outline_decides_what_is_a_heading():
    lines = [Set("Arrival", 14, "bold"), *map(Set, PROSE), Set("Bring a towel", 14, "bold"), *map(Set, PROSE)]
    more = [Set("Keys", 14, "bold"), *map(Set, PROSE), Set("Leaving", 14, "bold"), *map(Set, PROSE)]
    parsed = parse(typeset_pdf([lines, more], [("Arrival", 1), ("Keys", 2), ("Leaving", 2)]), "house.pdf")
    assert texts(parsed, "heading") == ["Arrival", "Keys", "Leaving"]


def test_listings_keep_their_lines_and_indents():
    code = [Set("def fee():", 10, "mono"), Set("return 12", 10, "mono", 84)]
    parsed = parse(typeset_pdf([[*map(Set, PROSE), *code, *map(Set, PROSE)]]), "house.pdf")
    assert texts(parsed, "code") == ["def fee():\n    return 12"]


def test_items_end_where_the_text_moves_back_to_the_margin():
    lines = [
        *map(Set, PROSE),
        Set("• A towel for each guest and another one for the beach, which is", left=70),
    ]
    lines += [
        Set("a long walk away", left=80),
        Set("• Shoes", left=70),
        Set("In winter the house is closed."),
    ]
    parsed = parse(typeset_pdf([lines]), "house.pdf")
    items = [block for block in parsed.blocks if block.kind == "item"]
    assert [parsed.text[b.start : b.end].split()[-1] for b in items] == ["away", "Shoes"]
    assert len({block.group for block in items}) == 1
    assert texts(parsed)[-1] == "In winter the house is closed."


def test_rows_of_a_table_are_blocks_of_one_group():
    rows = ["Single room 40 EUR", "Double 60", "Suite with a view of the lake 90 EUR", "Tent 9", "Dog 5 EUR"]
    parsed = parse(typeset_pdf([[*map(Set, PROSE), *map(Set, rows), *map(Set, PROSE)]]), "house.pdf")
    found = [block for block in parsed.blocks if "EUR" in parsed.text[block.start : block.end]]
    assert [parsed.text[block.start : block.end] for block in found] == [rows[0], rows[2], rows[4]]


def test_a_table_of_contents_is_left_out_and_a_price_list_is_not():
    entries = [
        Set(f"{title} ........ {page}")
        for page, title in enumerate(["Arrival", "Keys", "Pets", "Fees", "Map"], 1)
    ]
    rest = [[Set(f"Text of page {n} as a sentence.")] for n in range(2, 7)]
    assert "Pets" not in parse(typeset_pdf([entries, *rest]), "a.pdf").text
    prices = [
        Set(f"{drink} ........ {price}")
        for drink, price in zip(["Tea", "Milk", "Mate", "Cocoa", "Wine"], [3, 2, 4, 4, 9], strict=True)
    ]
    assert "Cocoa ........ 4" in parse(typeset_pdf([prices, *rest]), "a.pdf").text


def test_a_password_is_named_and_an_owner_password_opens():
    with pytest.raises(EncryptedFileError, match="password required"):
        parse(write_pdf(["The fee is 12 EUR."], user="secret"), "locked.pdf")
    assert "12 EUR" in parse(write_pdf(["The fee is 12 EUR."], owner="secret"), "open.pdf").text


def test_a_scan_is_empty_and_damage_is_named():
    with pytest.raises(EmptyFileError, match="no text on any page"):
        parse(write_pdf(["", ""]), "scan.pdf")
    with pytest.raises(DamagedFileError):
        parse(b"%PDF-1.4\nnothing", "x.pdf")
    with pytest.raises(DamagedFileError):
        parse(b"no PDF at all", "x.pdf")


WHOLE = write_pdf(["The fee is 12 EUR.\nIt is paid on arrival.", "Second page."])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(WHOLE)), st.binary(max_size=12), st.integers(0, 40))
def test_a_mutilated_pdf_is_read_or_refused(place: int, patch: bytes, cut: int):
    data = WHOLE[:place] + patch + WHOLE[place + cut :]
    try:
        parsed = parse(data, "x.pdf")
    except UnreadableError:
        return
    assert all(parsed.text[block.start : block.end].strip() for block in parsed.blocks)
