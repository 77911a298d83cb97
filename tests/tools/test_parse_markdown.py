"""Markdown blocks are cut from the file and leave out the marks around them."""

from __future__ import annotations

from quaere.tools.evidence import Block, Parsed
from quaere.tools.parse import parse


def read(text: str, name: str = "guide.md") -> Parsed:
    return parse(text.encode(), name)


def shape(parsed: Parsed) -> list[tuple[str, int, str]]:
    return [(b.kind, b.level, parsed.text[b.start : b.end]) for b in parsed.blocks]


def of_kind(parsed: Parsed, kind: str) -> list[Block]:
    return [block for block in parsed.blocks if block.kind == kind]


def test_headings_lose_their_marks_and_keep_their_level():
    parsed = read("# Fees #\n\ntext\n\n## C# and more\n\nSetext\ntitle\n===\n\nLow\n---\n")
    headings = [(level, text) for kind, level, text in shape(parsed) if kind == "heading"]
    assert headings == [(1, "Fees"), (2, "C# and more"), (1, "Setext\ntitle"), (2, "Low")]
    assert parsed.title == "Fees"


def test_front_matter_stays_in_the_text_and_out_of_the_blocks():
    parsed = read('---\ntitle: "House rules"\ntags: [a]\n---\n\nThe fee is 12 EUR.\n')
    assert shape(parsed) == [("paragraph", 0, "The fee is 12 EUR.")]
    assert parsed.text.startswith("---\ntitle:")
    assert parsed.title == "House rules"


def test_the_title_is_the_first_heading_or_the_name_of_the_file():
    assert read("---\ntitle: A\n---\n# B\n").title == "B"
    assert read("text only", "docs/fees.md").title == "fees"


def test_nested_items_share_the_group_of_their_list():
    parsed = read(
        "Bring:\n\n- towel\n  - large\n    - red\n- shoes\n\n  for rain\n\nEnd.\n\n1. one\n2. two\n"
    )
    items = of_kind(parsed, "item")
    assert [block.level for block in items] == [1, 2, 3, 1, 1, 1, 1]
    assert [block.group for block in items] == [1, 1, 1, 1, 1, 2, 2]


def test_tables_have_header_and_rows_in_one_group():
    parsed = read("| drink | price |\n|---|---|\n| tea | 3 |\n| milk | 2 |\n\nafter\n")
    assert [kind for kind, *_ in shape(parsed)] == ["header", "row", "row", "paragraph"]
    assert {block.group for block in parsed.blocks[:3]} == {1}
    assert shape(parsed)[1][2] == "| tea | 3 |"


def test_listings_lose_their_fences():
    parsed = read("```python\nfee = 12\n\nprint(fee)\n```\n\n    indented = 1\n\n~~~\nopen fence")
    assert [text for kind, _, text in shape(parsed) if kind == "code"] == [
        "fee = 12\n\nprint(fee)",
        "indented = 1",
        "open fence",
    ]
    assert len({block.group for block in parsed.blocks}) == 3


def test_notes_lose_their_marks():
    parsed = read(
        "!!! note\n    The fee is 12 EUR.\n\n!!! tip\n\n    Pay early.\n\n:::{note}\nDogs pay 5 EUR.\n:::\n\n"
        "```{warning}\nNo cats.\n```\n"
    )
    texts = [text for kind, _, text in shape(parsed) if kind == "paragraph"]
    assert texts == ["The fee is 12 EUR.", "!!! tip", "Pay early.", "Dogs pay 5 EUR.", "No cats."]


def test_quotes_and_their_lists_are_blocks():
    parsed = read("> The fee\n> is 12 EUR.\n>\n> - towel\n")
    assert shape(parsed) == [("paragraph", 0, "> The fee\n> is 12 EUR."), ("item", 1, "> - towel")]


def test_html_in_markdown_is_read_between_its_tags():
    parsed = read(
        "<h1 align='center'>\nHouse\n</h1>\n\n<p>The fee is <b>12</b> EUR.</p>\n\n"
        "<!-- no -->\n\n<img src='x'>\n"
    )
    assert shape(parsed) == [("heading", 1, "House"), ("paragraph", 0, "The fee is <b>12</b> EUR.")]


def test_offsets_hold_with_any_line_break():
    for end in ("\n", "\r\n", "\r"):
        parsed = read(f"# Fees{end}{end}The fee{end}is 12 EUR.{end}{end}- towel{end}- shoes{end}")
        assert shape(parsed)[1] == ("paragraph", 0, f"The fee{end}is 12 EUR.")
        assert shape(parsed)[3] == ("item", 1, "- shoes")
