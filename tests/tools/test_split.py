from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quaere.tools.evidence import Block, Parsed
from quaere.tools.parse import parse
from quaere.tools.split import Limits, split

KINDS = ["heading", "paragraph", "item", "header", "row", "code", "caption"]
WORDS = st.sampled_from(
    ["Dr. Smith", "goes", "home.", "Then", "x" * 60, "中文。", "as follows:", "a,b", "v2.1", "(e.g.", "7)"]
)


def words(texts):
    return [len(text.split()) + 2 for text in texts]


def characters(texts):
    return [len(text) + 2 for text in texts]


def octets(texts):
    return [len(text.encode()) // 3 + 2 for text in texts]


@st.composite
def parsed_texts(draw):
    rows = draw(
        st.lists(
            st.tuples(st.sampled_from(KINDS), st.lists(WORDS, min_size=1, max_size=30), st.integers(0, 2)),
            min_size=1,
            max_size=12,
        )
    )
    text, blocks = "", []
    for at, (kind, parts, group) in enumerate(rows):
        body = ("\n" if kind == "code" else " ").join(parts)
        group = group if kind == "paragraph" else max(1, group)
        level = 1 + at % 3 if kind in ("heading", "item") else 0
        blocks.append(Block(kind, len(text), len(text) + len(body), level, group, 1 + at // 3))
        text += f"{body}\n\n"
    return Parsed(text, tuple(blocks), draw(st.sampled_from(["T", "", "中" * 200])), "text/plain", "text/1")


@settings(max_examples=150, deadline=None)
@given(parsed_texts(), st.sampled_from([words, characters, octets]), st.integers(40, 256))
def test_no_letter_is_lost_and_every_passage_is_within_its_tokens(parsed, count, tokens):
    cut = split(parsed, count, Limits(tokens, tokens * 3 // 4))
    text = parsed.text
    assert all(one.start < one.end <= two.start for one, two in pairwise(cut.sentences))
    assert all(text[one.start : one.end].strip() for one in [*cut.sentences, *cut.passages])
    inside = {place for one in cut.sentences for place in range(one.start, one.end)}
    letters = [place for one in parsed.blocks for place in range(one.start, one.end)]
    assert all(place in inside or text[place].isspace() for place in letters)
    assert [one.first for one in cut.passages] == [0, *(one.last for one in cut.passages)][:-1]
    assert cut.passages[-1].last == len(cut.sentences)
    for one in cut.passages:
        members = cut.sentences[one.first : one.last]
        assert (one.start, one.end) == (members[0].start, members[-1].end)
        assert one.parent[0] <= one.start < one.end <= one.parent[1]
        assert count([f"{one.prefix}\n{text[one.start : one.end]}"])[0] <= tokens


def of_markdown(text, **limits):
    parsed = parse(text.encode(), "notes.md")
    return parsed, split(parsed, octets, Limits(**limits))


def governing(parsed, sentence):
    return [parsed.text[start:end].lstrip("# ") for start, end in sentence.governed_by]


def named(parsed, cut, part):
    return next(one for one in cut.sentences if part in parsed.text[one.start : one.end])


def test_header_governs_every_row_of_a_long_table():
    header = "| station | max load kN | max load kg |"
    rows = [f"| ST-{n:03} | {100 + n} | {10200 + 114 * n} |" for n in range(1, 121)]
    parsed, cut = of_markdown("\n".join(["# Loads", "", header, "|---|---|---|", *rows]))
    found = [one for one in cut.sentences if "ST-" in parsed.text[one.start : one.end]]
    assert [parsed.text[one.start : one.end] for one in found] == rows
    assert all(header in governing(parsed, one)[-1] for one in found)
    later = cut.passages[1:]
    assert later
    assert all("station" in one.prefix and "max load kg" in one.prefix for one in later)


def test_signature_governs_the_lines_of_a_long_function():
    body = [f"    delay = delay * {n} + 0.25  # step {n}" for n in range(66)]
    lines = [
        "def retry_delay(attempt):",
        "    if attempt == 0:",
        "        return 0.25",
        *body,
        "    return min(delay, 30.0)",
    ]
    parsed, cut = of_markdown("\n".join(["# Retry", "", "```python", *lines, "```", "", "It ends."]))
    last = named(parsed, cut, "return min(delay, 30.0)")
    assert last.kind == "code"
    assert "def retry_delay(attempt):" in governing(parsed, last)
    assert all(one.end - one.start <= 500 for one in cut.sentences)


def test_lead_in_and_parent_item_govern_an_item():
    parsed, cut = of_markdown(
        "# Rules\n\nNever do the following:\n\n- Open it.\n  - At night.\n- Close it.\n\nGo on.\n"
    )
    assert governing(parsed, named(parsed, cut, "At night"))[:2] == ["Rules", "Never do the following:"]
    assert "Open it." in governing(parsed, named(parsed, cut, "At night"))[-1]
    assert governing(parsed, named(parsed, cut, "Close it")) == ["Rules", "Never do the following:"]
    assert governing(parsed, named(parsed, cut, "Go on")) == ["Rules"]


def test_open_headings_govern_a_sentence_and_name_its_place():
    parsed, cut = of_markdown("# A\n\n## B\n\nOne.\n\n## C\n\nTwo.\n")
    two = named(parsed, cut, "Two")
    assert two.locator.heading == ("A", "C")
    assert governing(parsed, two) == ["A", "C"]


def test_sentence_runs_over_a_page():
    text = "The pump must be\n\nswitched off. It is hot."
    blocks = (Block("paragraph", 0, 16, 0, 1, 4), Block("paragraph", 18, len(text), 0, 1, 5))
    cut = split(Parsed(text, blocks, "T", "application/pdf", "pdf/1"), words, Limits())
    assert [text[one.start : one.end] for one in cut.sentences] == [
        "The pump must be\n\nswitched off.",
        "It is hot.",
    ]
    assert (cut.sentences[0].locator.page, cut.sentences[0].locator.last_page) == (4, 5)
    assert cut.sentences[1].locator.page == 5


def test_text_without_blocks_has_no_passages():
    cut = split(Parsed("  ", (), "T", "text/plain", "text/1"), words, Limits())
    assert cut.sentences == cut.passages == ()


@pytest.mark.parametrize("kind", ["paragraph", "row", "item", "heading", "code"])
def test_word_of_ten_thousand_letters_is_cut_hard(kind):
    text = "x" * 10_000
    cut = split(
        Parsed(text, (Block(kind, 0, 10_000, 1, 1),), "T", "text/plain", "text/1"), characters, Limits()
    )
    assert "".join(text[one.start : one.end] for one in cut.passages) == text
    assert all(one.end - one.start < 256 for one in cut.passages)


def test_signature_governs_over_blank_lines_and_closing_brackets():
    lines = [
        "class A:",
        "    x = 1",
        "",
        "    def f(",
        "        self,",
        "    ):",
        "        y = 2",
        "",
        "        return z",
    ]
    text = "\n".join(lines)
    parsed = parse(text.encode(), "a.py")
    cut = split(parsed, octets, Limits())
    assert governing(parsed, named(parsed, cut, "return z")) == [
        "class A:",
        "def f(\n        self,\n    ):",
    ]


def test_item_governs_the_listing_inside_it():
    parsed, cut = of_markdown("# R\n\n1. Start it:\n\n   ```sh\n   run it\n   ```\n\nEnd.\n")
    assert governing(parsed, named(parsed, cut, "run it")) == ["R", "1. Start it:"]


def test_listing_of_many_lines_is_split_in_little_time():
    text = "def f():\n" + "    a = 1\n" * 30_000
    cut = split(parse(text.encode(), "a.py"), octets, Limits())
    assert len(cut.sentences[-1].governed_by) == 1
