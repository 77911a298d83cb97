"""Citations of the bundled documents stand where they say, by readers that are not ours."""

from importlib.resources import files

import pytest
from quaere.agent.assemble import Agent
from quaere.evals.questions import ask_all, read_cases, summary
from quaere.evals.readers import finds_quote

DEMO = files("quaere").joinpath("evals", "demo")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    with Agent.open(tmp_path_factory.mktemp("demo")) as agent:
        agent.add(str(DEMO.joinpath("docs")))
        return ask_all(agent, read_cases(DEMO.joinpath("questions.jsonl")))


def test_every_quote_stands_where_it_says(outcomes):
    notes = [note for one in outcomes for note in one.answer.footnotes]
    assert {note.document.rpartition(".")[2] for note in notes} == {"md", "txt", "html", "pdf", "docx"}
    lost = [(note.document, note.locator, note.quote) for note in notes if not _found(note)]
    assert lost == []


def _found(note):
    return finds_quote(note, DEMO.joinpath("docs", note.document))


def test_citations_and_answers_stay_short(outcomes):
    found = summary(outcomes)
    assert found["longest citation"] <= 500
    assert found["claims most"] <= 3
    assert found["claims mean"] <= 2


def test_the_demo_questions_are_answered_and_the_others_are_not(outcomes):
    found = summary(outcomes)
    assert found["right"] >= 0.9 * found["answerable"]
    assert found["abstained"] >= 0.9 * found["unanswerable"]
