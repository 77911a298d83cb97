import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.graphs.check import Cited, check, is_whole
from quaere.graphs.policy import Draft


def verdict(claim, *sentences, **more):
    return check(Draft(claim, ("S1.1",), **more), [Cited(text) for text in sentences]).verdict


words = st.lists(
    st.sampled_from(
        ["the", "valve", "opens", "below", "three", "bar", "when", "pump", "P-18", "runs", "dry"]
    ),
    min_size=2,
    max_size=9,
)


@given(words.map(" ".join))
def test_a_whole_sentence_always_carries_itself(sentence):
    assert verdict(sentence, f"{sentence}.") == "supported"


@given(words.map(" ".join), words.map(" ".join))
def test_whole_sentences_in_order_carry_their_sequence(first, second):
    assert verdict(f"{first}. {second}.", f"{first}.", f"{second}.") == "supported"
    assert is_whole("", []) is False


@pytest.mark.parametrize(
    ("claim", "source", "expected"),
    [
        ("The fee is 12 EUR", "The fee is 12 EUR.", "supported"),
        ("the fee — in full — is due", "The fee - in full - is due.", "supported"),
        ("The fee is 12 EUR", "The `fee` is **12 EUR**.", "supported"),
        ("The fee is 13 EUR", "The fee is 12 EUR.", "not_found"),
        ("The fee is 1", "The fee is 12 EUR.", "not_found"),
        ("below 3 bar", "It holds below 30 bar.", "not_found"),
        ("Returns are accepted", "Returns are not accepted after 21 days.", "contradicted"),
        ("Returns are not accepted", "Returns are accepted.", "contradicted"),
        ("It may be opened below 3 bar", "It may be opened only below 3 bar.", "not_found"),
        ("The bridge is safe", "Critics deny that the bridge is safe.", "not_found"),
        ("Guests may swim", "Guests may swim unless it rains.", "not_found"),
        ("Berta pays the fee", "The member pays the fee.", "not_judged"),
        ("The fee goes to Berta", "The fee goes to the member.", "not_found"),
        ("Members are charged a sum", "The member pays the fee.", "not_judged"),
    ],
)
def test_code_settles_what_words_and_numbers_settle(claim, source, expected):
    assert verdict(claim, source) == expected


def test_a_claim_without_a_source_is_not_found():
    assert check(Draft("The fee is 12 EUR", ()), []).verdict == "not_found"


def test_a_row_is_carried_when_it_is_read_out_with_its_header():
    row = Cited("| ST-090 | 190 | 20460 |", ("| station | max load kN | max load kg |",), "row")
    good = "station: ST-090; max load kN: 190; max load kg: 20460"
    assert check(Draft(good, ("S1.1",)), [row]).verdict == "supported"
    assert check(Draft(good.replace("kN: 190", "kN: 20460"), ("S1.1",)), [row]).verdict != "supported"


@pytest.mark.parametrize(
    ("text", "formula", "source", "expected"),
    [
        ("12 * 2 = 24", "12 * 2", "Two badges at 12 EUR", "supported"),
        ("12 * 2 = 25", "12 * 2", "Two badges at 12 EUR", "contradicted"),
        ("12 * 3 = 36", "12 * 3", "Two badges at 12 EUR", "not_found"),
        ("x", "open('f')", "12", "not_found"),
    ],
)
def test_a_computed_claim_is_evaluated_from_cited_operands(text, formula, source, expected):
    assert verdict(text, source, kind="computed", formula=formula) == expected


def test_the_users_own_words_are_checked_inside_the_quotation_marks():
    asked = "What colour is the visitor badge?"
    assert verdict(f"Your first question was: “{asked}”", asked) == "supported"
    assert verdict("Your first question was: “What colour is the door?”", asked) != "supported"
