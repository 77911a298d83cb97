import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.graphs.conversation import evaluate, read_arithmetic, reply_kind
from quaere.graphs.follow_up import make_standalone
from quaere.graphs.policy import Turn

TYRE = Turn("How much is a tyre change on the K2?", "How much is a tyre change on the K2?", "answered")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("hello", "greeting"),
        ("Hi there!", "greeting"),
        ("Thanks a lot.", "thanks"),
        ("okay, thank you", "thanks"),
        ("", "empty"),
        ("???", "empty"),
        ("what is 3 + 4?", "arithmetic"),
        ("Write a poem about rain", "task"),
        ("What did I ask first?", "conversation"),
        ("Thanks to whom was the bridge built?", ""),
        ("Hello World is printed by which program?", ""),
        ("What is 24/7 support?", ""),
        ("What does error 12-14 mean?", ""),
        ("What is 2023?", ""),
        ("Which question is asked first in the exam?", ""),
    ],
)
def test_only_words_that_need_no_source_get_a_reply(text, kind):
    assert reply_kind(text, [TYRE]) == kind


@given(st.integers(0, 10**6), st.sampled_from("+-*"), st.integers(0, 10**6))
def test_arithmetic_is_exact_on_integers(left, sign, right):
    assert evaluate(f"{left} {sign} {right}") == eval(f"{left} {sign} {right}")


@given(st.text(max_size=60))
def test_any_text_is_evaluated_or_left_alone(text):
    value = evaluate(text)
    assert value is None or isinstance(value, int | float | complex)


@pytest.mark.parametrize(
    "text", ["9**9**9**9", "2**1000", "__import__('os')", "(" * 150 + "1" + ")" * 150, "1/0"]
)
def test_dangerous_or_endless_formulas_are_not_computed(text):
    assert evaluate(text) is None


def test_a_year_and_a_number_are_no_arithmetic():
    assert read_arithmetic("What is ISO 9001?") is None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("and the windscreen?", "the windscreen K2?"),
        ("What about its price?", "its price K2?"),
        ("How long does it take?", "How long does it take K2?"),
    ],
)
def test_a_follow_up_takes_over_the_subject(question, expected):
    assert make_standalone(question, [TYRE]).text == expected


@pytest.mark.parametrize("question", ["How much is a tyre change on the K7?", "Where is Halden?"])
def test_a_question_with_its_own_subject_stays_as_it_is(question):
    assert make_standalone(question, [TYRE]).text == question
