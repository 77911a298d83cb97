import pytest
from quaere.graphs.follow_up import make_standalone
from quaere.graphs.policy import Turn


def after(question, claim="Maximum per night: 80 EUR."):
    return [Turn(question, question, "answered", (claim,))]


LIMIT = after("What is the hotel limit per night in 2024?")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was it in 2023?", "What was the hotel limit per night in 2023?"),
        ("What was it in May 2022?", "What was the hotel limit per night in May 2022?"),
        ("And in 2023?", "What is the hotel limit per night in 2023?"),
        ("What about 2023?", "What is the hotel limit per night in 2023?"),
        ("and last year?", "What is the hotel limit per night last year?"),
        ("Who set it?", "Who set the hotel limit per night?"),
    ],
)
def test_a_follow_up_asks_about_the_same_thing_at_its_own_time(question, expected):
    assert make_standalone(question, LIMIT).text == expected


def test_the_thing_is_found_behind_does_and_can():
    turns = after("How much does a lost key cost?", "It is 25 EUR.")
    assert make_standalone("Who pays for it?", turns).text == "Who pays for a lost key?"


@pytest.mark.parametrize(
    "question", ["What is the fee in 2023?", "Where is Halden?", "How many docks does S-101 allow?"]
)
def test_a_question_that_reads_alone_stays_as_it_is(question):
    assert make_standalone(question, LIMIT).text == question
    assert make_standalone(question, []).text == question


def test_the_unit_of_an_amount_is_no_subject():
    turns = after("Which amounts are there?", "Maximum per night: 80 EUR.")
    assert "EUR" not in make_standalone("What was it before?", turns).text
