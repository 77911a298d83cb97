import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.graphs.conflict import relation, statements
from quaere.graphs.policy import Evidence, Lexicon, Need
from quaere.tools.evidence import Document, Locator, Passage, Reading, Sentence, Span, Validity

FEE = Need("n1", "What is the membership fee?")


def evidence(number, text, path=None, heading=(), validity=None):
    span = Span(number, 0, len(text))
    reading = Reading(
        passage=Passage(number, span, 0, heading, (0, 1), span, number),
        document=Document(number, "docs", path or f"d{'abcdefgh'[number]}.md", "Club"),
        text=text,
        sentences=(Sentence(0, span, (), "prose"),),
        texts=(text,),
        governing=(heading,),
        locator=Locator(),
        validity=validity or Validity(),
    )
    return Evidence(number, reading, 1.0)


def compared(text, rival, **places):
    held = [evidence(1, text, **places.get("one", {})), evidence(2, rival, **places.get("other", {}))]
    found = statements(FEE, held, Lexicon())
    assert len(found) == 2, "both sentences answer the need"
    return relation(*found), relation(*reversed(found))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("The membership fee is 12 EUR.", "The membership fee is 15 EUR.", "differ"),
        ("The membership fee is 12 EUR.", "Membership fee: €12.00", "agree"),
        ("The membership fee is 12 EUR.", "The membership fee is 12 USD.", ""),
        ("The membership fee is 12 EUR.", "The junior membership fee is 8 EUR.", ""),
        ("The membership fee is 12 EUR.", "The membership fee is 15 EUR for guests.", ""),
        ("The membership fee is 12 EUR.", "The membership fee was 10 EUR.", ""),
        ("The membership fee is 12 EUR.", "The membership fee is at least 10 EUR.", ""),
        ("The membership fee is 12 EUR.", "The membership fee is at most 15 EUR.", "differ"),
        ("In 2023 the membership fee is 12 EUR.", "In 2024 the membership fee is 15 EUR.", ""),
        ("The membership fee M-1 is 12 EUR.", "The membership fee M-2 is 15 EUR.", ""),
        ("The membership fee is 12 EUR a month.", "The membership fee is 120 EUR a year.", ""),
    ],
)
def test_only_the_value_may_differ_in_a_conflict(one, other, expected):
    assert compared(one, other) == (expected, expected)


def test_what_stands_above_says_what_a_sentence_is_about():
    texts = ("The membership fee is 12 EUR.", "The membership fee is 15 EUR.")
    members, guests = ({"heading": ("Club", name)} for name in ("Adults", "Students"))
    assert compared(*texts, one=members, other=guests) == ("", "")
    assert compared(*texts, one=members, other=members) == ("differ", "differ")
    two_things = {"one": {"path": "S-101.md"}, "other": {"path": "S-102.md"}}
    assert compared(*texts, **two_things) == ("", "")


def test_versions_of_one_document_may_use_other_words():
    texts = ("The membership fee for everybody is 12 EUR.", "Membership: the fee has been set at 15 EUR.")
    assert compared(*texts) == ("", "")
    places = {"one": {"path": "fees_2023.md"}, "other": {"path": "fees_2024.md"}}
    assert compared(*texts, **places) == ("differ", "differ")


NEEDS = (FEE, Need("n1", "How long is the membership?"), Need("n1", "Is membership for a fee?"))
sentences = st.builds(
    "{} membership fee {} {} {}{}.".format,
    st.sampled_from(["The", "A junior", "No", "In 2023 the"]),
    st.sampled_from(["is", "was", "is not", "is at least"]),
    st.sampled_from(["12 EUR", "15 EUR", "1 day", "24 hours", "10 %"]),
    st.sampled_from(["", "for guests", "per year"]),
    st.sampled_from(["", " M-1", " and 3 keys"]),
)


@given(sentences, sentences, st.sampled_from(NEEDS))
def test_a_relation_is_the_same_from_both_sides_and_no_sentence_is_at_odds_with_itself(one, other, need):
    found = statements(need, [evidence(1, one), evidence(2, other), evidence(3, one)], Lexicon())
    for a in found:
        for b in found:
            assert relation(a, b) == relation(b, a)
            if a.text == b.text:
                assert relation(a, b) == "agree"
