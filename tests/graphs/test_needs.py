import pytest
from quaere.graphs.needs import split_needs


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "What are the fee and the deadline of the course?",
            ["What are the fee of the course?", "What are the deadline of the course?"],
        ),
        (
            "Who founded the club, and when was it opened?",
            ["Who founded the club?", "when was it opened (club)?"],
        ),
        (
            "What does the K2 cost and how long does it last?",
            ["What does the K2 cost?", "how long does it last (K2)?"],
        ),
        ("What is the fee? When is it due?", ["What is the fee?", "When is the fee due?"]),
    ],
)
def test_a_conjunction_becomes_one_need_a_part(question, parts):
    needs, compared = split_needs(question)
    assert [need.text for need in needs] == parts
    assert not compared


@pytest.mark.parametrize(
    ("question", "subjects"),
    [
        ("Which is heavier, the K2 or the K7?", ["the K2", "the K7"]),
        ("Is the K2 cheaper than the K7?", ["the K2", "the K7"]),
        ("What is the difference between a lease and a loan?", ["a lease", "a loan"]),
        ("What do %p and %f stand for in archive_command?", ["%p", "%f"]),
    ],
)
def test_a_comparison_becomes_one_need_a_side(question, subjects):
    needs, compared = split_needs(question)
    assert [need.subject for need in needs] == subjects
    assert compared


@pytest.mark.parametrize(
    "question",
    [
        "What are the terms and conditions of the lease?",
        "How are nuts and bolts stored?",
        "What is the deposit?",
        "Which structlog helper captures all log entries in a test?",
        "Who wrote Pride and Prejudice?",
    ],
)
def test_one_question_stays_one_need(question):
    needs, _ = split_needs(question)
    assert len(needs) <= 2
    assert needs[0].id == "n1"
