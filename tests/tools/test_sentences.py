from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from quaere.tools.sentences import LONGEST, cut_sentences

SIGNS = st.sampled_from(
    [
        *"abAB1 \n\t\r.,;:!?…。！？()[]\"'“”‘’*_`•§-",
        "\xa0",
        "\u2028",
        "\u3000",
        "e.g. ",
        "Dr. ",
        "\n\n",
        "中",
        "é",
    ]
)


def sentences(text):
    return [text[start:end] for start, end in cut_sentences(text)]


@pytest.mark.parametrize(
    "whole",
    [
        "Dr. Smith and Mrs. Jones met Prof. Lee.",
        "See e.g. Smith et al. 2001 for it.",
        "Use No. 5 of them.",
        "It is 3.5 mm wide.",
        "The U.S. Trustee may file it.",
        "Call structlog.testing.capture_logs first.",
        "In Eq. 4 and Fig. 3 and Tab. 2 it is drawn.",
        "Fed. R. Bankr. P. 2002 governs and 11 U.S.C. § 362(a) applies.",
        "J. R. R. Tolkien wrote it.",
        "At 5 p.m. on Monday it closes.",
        "Open https://example.org/a.b?c=d.e and wait.",
        "Wait... what is it?",
        "See § 12(3) and sec. 5 of it.",
        "14. Attendance of debtors.",
        "c. Returned checks.",
        "He wrote (see a. Then b) and left.",
        "He said “Go. Run.” and left.",
        "A line that goes on\nin the next one.",
    ],
)
def test_one_sentence_stays_whole(whole):
    assert sentences(f"It begins. {whole}\nThe next one follows.") == [
        "It begins.",
        whole,
        "The next one follows.",
    ]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Fixed in v2.1. See v2.2 for more.", ["Fixed in v2.1.", "See v2.2 for more."]),
        ('He said "Go home." Then he left.', ['He said "Go home."', "Then he left."]),
        ("It fails. (See below.) Then again.", ["It fails.", "(See below.)", "Then again."]),
        ("**Bold.** *It ends.* Then.", ["**Bold.**", "*It ends.*", "Then."]),
        (
            "• Run it over the package. You can do so now.",
            ["• Run it over the package.", "You can do so now."],
        ),
        ("Set ``a b`` by default. Then ``c.d`` is on.", ["Set ``a b`` by default.", "Then ``c.d`` is on."]),
        ("The end of it.[1] Next one.[2][3] And.", ["The end of it.[1]", "Next one.[2][3]", "And."]),
        ("1. First thing. 2. Second thing.", ["1. First thing.", "2. Second thing."]),
        ("これは文です。次の文！本当？はい。", ["これは文です。", "次の文！", "本当？", "はい。"]),
        ("Line one\n\nline two", ["Line one", "line two"]),
        ("Is it? Yes! No.", ["Is it?", "Yes!", "No."]),
        ("(It fills up. No data is lost.)", ["(It fills up.", "No data is lost.)"]),
    ],
)
def test_sentences_end_where_they_end(text, parts):
    assert sentences(text) == parts


@given(st.lists(SIGNS, max_size=60).map("".join) | st.text(max_size=80))
@example("J.\xa0K.\u3000Smith. A\xa0.(Fig.,")
def test_sentences_cover_all_but_white_space(text):
    spans = cut_sentences(text)
    assert all(start < end <= follower for (start, end), (follower, _) in pairwise(spans))
    inside = {place for span in spans for place in range(*span)}
    assert all(place in inside or text[place].isspace() for place in range(len(text)))
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in spans)


@given(st.integers(1, 40), st.sampled_from(["word ", "clause; ", "x", "part, ", "中文", "a.b."]))
def test_no_sentence_is_too_long_to_cite(times, unit):
    text = unit * (times * 40)
    assert all(end - start <= LONGEST for start, end in cut_sentences(text))


def test_long_sentence_is_cut_at_a_semicolon_first():
    clause = "the trustee must, without delay, file the report"
    text = "; ".join([clause] * 15)
    assert all(part.endswith((clause, f"{clause};")) for part in sentences(text))


def test_text_without_spaces_is_cut_in_little_time():
    assert len(cut_sentences("这是一句话。" * 20_000)) == 20_000
    assert len(cut_sentences("(a" * 100_000)) == 200_000 // LONGEST
