"""PR-32, PR-38, PR-39, PR-41: false premises, half answers, loops that must end."""

import itertools
from dataclasses import replace

import pytest
from quaere.agent.asking import Question
from quaere.graphs.budget import Budget
from quaere.graphs.policy import Decision, Grade, Grades, PlannedCall
from quaere.graphs.rules import rules

DEAL = {"deal.md": "The Halden contract was signed on 3 May and runs to 2027."}
BADGE = {"badge.md": "A replacement badge costs 12 EUR."}
FEE = {"fee.md": "The course fee is 75 EUR."}


def test_a_false_premise_is_not_explained(workspace):
    answer = workspace(DEAL).ask("Why was the Halden contract cancelled in June?")
    assert answer.status == "abstained"
    assert "do not say" in answer.text
    assert "signed on 3 May and runs to 2027" in answer.text
    assert [note.document for note in answer.footnotes] == ["deal.md"]


def test_an_invented_reason_is_not_shown(workspace):
    async def write(view):
        from quaere.graphs.policy import Draft, Writing

        drafts = (Draft("It was cancelled because of delays", ("S1.1",), need=view.needs[0].id),)
        return Decision("write", Writing(drafts), "scripted", "script")

    policy = replace(rules, write=write)
    answer = workspace(DEAL).answer(Question("Why was the Halden contract cancelled in June?", policy=policy))
    assert "delays" not in answer.text
    assert "signed on 3 May" in answer.text


@pytest.mark.parametrize(
    ("files", "question", "found", "missing"),
    [
        (FEE, "What are the fee and the deadline of the course?", "75 EUR", "deadline"),
        (FEE, "What is the fee of the course, and when does it start?", "75 EUR", "start"),
        (BADGE, "What does a replacement badge cost and who designed it?", "12 EUR", "who designed"),
    ],
)
def test_half_an_answer_says_which_half_is_missing(workspace, files, question, found, missing):
    answer = workspace(files).ask(question)
    assert answer.status == "partial"
    assert found in answer.text
    assert any(missing in line.casefold() for line in answer.missing)
    assert missing in answer.text.casefold()


def searches_forever(limit=None):
    """Give a policy that never accepts evidence and always asks something new, `limit` times at most."""
    numbers = itertools.count(1)

    async def rewrite(view):
        calls = (
            ()
            if limit and view.round > limit + 1
            else (PlannedCall("keyword_search", {"query": f"badge {next(numbers)}"}, view.needs[0].id),)
        )
        return Decision("rewrite", calls, "scripted", "script")

    async def grade(view):
        grades = {item.s: Grade("off", (), "scripted") for item in view.evidence}
        return Decision("grade", Grades(grades, (), "not_in_sources"), "scripted", "script")

    return replace(rules, name="script", rewrite=rewrite, grade=grade)


def test_rejected_evidence_ends_in_abstention_after_three_rounds(workspace):
    answer = workspace(BADGE).answer(Question("Who designed the badge?", policy=searches_forever()))
    assert answer.status == "abstained"
    assert answer.spent["steps"] <= 1 + 3 * 3 + 3
    assert "recursion" not in f"{answer.text} {answer.reason}".casefold()


def never_enough():
    """Give a policy that asks on for ever but keeps what it found."""
    policy = searches_forever()

    async def grade(view):
        grades = {item.s: Grade("supports", (view.needs[0].id,), "scripted") for item in view.evidence}
        return Decision("grade", Grades(grades, (), "partial"), "scripted", "script")

    return replace(policy, grade=grade)


def test_a_step_limit_is_named_and_what_was_found_is_cited(workspace):
    asked = Question("What does a badge cost?", policy=never_enough(), budget=Budget(steps=8))
    answer = workspace(BADGE).answer(asked)
    assert answer.status == "stopped"
    assert answer.reason == "stopped: step limit"
    assert answer.spent["steps"] <= 8
    assert "12 EUR" in answer.text
    assert answer.footnotes[0].document == "badge.md"


@pytest.mark.parametrize("steps", [7, 8, 9, 10, 13])
def test_no_step_limit_is_ever_passed(workspace, steps):
    asked = Question("Who designed the badge?", policy=searches_forever(), budget=Budget(steps=steps))
    answer = workspace(BADGE).answer(asked)
    assert answer.spent["steps"] <= steps
    assert answer.status in ("stopped", "abstained")
    assert (answer.status == "stopped") == answer.text.startswith("Stopped by the step limit")
    assert (answer.status == "stopped") != ("The sources do not say" in answer.text)


def test_calls_beyond_the_limit_are_named_as_not_asked(workspace):
    asked = Question("What does a badge cost?", budget=Budget(tool_calls=1))
    answer = workspace(BADGE).answer(asked)
    assert answer.spent["tool_calls"] == 1
    assert any("vector_search" in line and "not asked" in line for line in answer.missing)
