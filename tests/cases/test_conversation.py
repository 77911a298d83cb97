"""PR-03: what is asked about the conversation is answered from the conversation."""

import pytest
from quaere.agent.assemble import Agent
from quaere.graphs.policy import Turn

FIRST = {"first.md": "The first question of the safety quiz is about helmets."}
ASKED = Turn("What colour is the visitor badge?", "What colour is the visitor badge?", "abstained")
LATER = Turn("How many gates are there?", "How many gates are there?", "abstained")


def test_first_question_is_repeated_without_a_search(workspace):
    answer = workspace(FIRST).ask("What was the first question I asked you?", history=[ASKED])
    assert answer.status == "answered"
    assert "What colour is the visitor badge?" in answer.text
    assert "helmets" not in answer.text
    assert answer.spent["tool_calls"] == 0
    assert answer.footnotes == ()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was my first question?", ASKED.question),
        ("What did I just ask?", LATER.question),
        ("what was the last thing i asked you", LATER.question),
        ("Repeat my last question, please.", LATER.question),
        ("What was the second question I asked?", LATER.question),
    ],
)
def test_other_wordings_recall_the_right_turn(workspace, question, expected):
    answer = workspace(FIRST).ask(question, history=[ASKED, LATER])
    assert expected in answer.text
    assert answer.spent["tool_calls"] == 0


def test_a_turn_that_never_was_is_not_invented(workspace):
    answer = workspace(FIRST).ask("What was the third question I asked you?", history=[ASKED])
    assert answer.status == "abstained"
    assert "helmets" not in answer.text


def test_a_question_about_a_first_question_in_the_sources_is_searched(workspace):
    answer = workspace(FIRST).ask("What is the first question of the safety quiz about?", history=[ASKED])
    assert "helmets" in answer.text
    assert answer.spent["tool_calls"] > 0


@pytest.mark.parametrize("text", ["Hello!", "thanks a lot", "Good morning"])
def test_small_talk_searches_nothing(workspace, text):
    answer = workspace(FIRST).ask(text)
    assert answer.status == "answered"
    assert answer.spent["tool_calls"] == 0


@pytest.mark.parametrize(
    ("question", "value"),
    [("What is 12 * 7?", "84"), ("15% of 80", "12"), ("(2 + 3) x 4 =", "20"), ("7 plus 8?", "15")],
)
def test_arithmetic_on_given_numbers_is_computed_not_searched(workspace, question, value):
    answer = workspace(FIRST).ask(question)
    assert answer.text.endswith(f"= {value}")
    assert answer.claims[0].kind == "computed"
    assert answer.spent["tool_calls"] == 0


@pytest.mark.parametrize("text", ["", "   ", "?!"])
def test_an_empty_question_asks_back(workspace, text):
    answer = workspace(FIRST).ask(text)
    assert answer.status == "asks"
    assert answer.spent["tool_calls"] == 0


def test_ask_works_inside_a_running_loop(workspace):
    import asyncio

    agent: Agent = workspace(FIRST)

    async def inside() -> str:
        return agent.ask("What is the first question of the safety quiz about?").text

    assert "helmets" in asyncio.run(inside())
