import asyncio
import os
import time

import pytest
from langchain_core.tools import StructuredTool
from pydantic import BaseModel, ConfigDict
from quaere import Agent
from quaere.agent.assemble import LONGEST_QUESTION
from quaere.agent.toolbox import Toolbox
from quaere.graphs.budget import Budget
from quaere.tools.answer import read_answer
from quaere.tools.errors import UsageError, WorkspaceError
from quaere.tools.evidence import Access, Filter

BADGE = "What does a replacement badge cost?"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "badge.md").write_text("A replacement badge costs 12 EUR.")
    (tmp_path / "docs" / "gate.md").write_text("The gate opens at 7:30.")
    return tmp_path


@pytest.fixture
def agent(folder):
    with Agent.open(folder) as opened:
        opened.add(folder / "docs")
        yield opened


def test_an_answer_comes_back_from_its_json(agent):
    answer = agent.ask(BADGE)
    again = read_answer(answer.to_json())
    assert again.to_json() == answer.to_json()
    assert again.footnotes[0].quote == "A replacement badge costs 12 EUR."


def test_a_quote_can_be_cut_out_of_the_file(agent, folder):
    note = agent.ask(BADGE).footnotes[0]
    text = (folder / "docs" / note.document).read_text()
    assert text[note.span.start : note.span.end] == note.quote


def test_a_file_deleted_since_is_not_cited(agent, folder):
    (folder / "docs" / "badge.md").unlink()
    answer = agent.ask(BADGE)
    assert answer.status == "abstained"
    assert "12 EUR" not in answer.text
    assert any("gone" in note for note in answer.notes)


def test_a_file_changed_since_is_marked(agent, folder):
    (folder / "docs" / "badge.md").write_text("A replacement badge costs 15 EUR!")
    answer = agent.ask(BADGE)
    assert answer.footnotes[0].changed
    assert any("changed since it was indexed" in note and "quaere sync" in note for note in answer.notes)


def test_sync_before_asking_reads_the_new_text(agent, folder):
    (folder / "docs" / "badge.md").write_text("A replacement badge costs 15 EUR!")
    answer = agent.ask(BADGE, sync=True)
    assert "15 EUR" in answer.text
    assert not answer.footnotes[0].changed


def test_a_stranger_gets_nothing_of_what_is_unlabelled(agent, folder):
    with Agent.open(folder, access=Access("stranger")) as strangers:
        answer = strangers.ask(BADGE)
        assert strangers.search("badge").hits == ()
    assert answer.status == "abstained"
    assert "12" not in answer.text


def test_a_filter_narrows_what_is_asked(agent):
    assert agent.ask(BADGE, filter=Filter(paths=("gate.md",))).status == "abstained"
    assert agent.ask(BADGE, filter=Filter(paths=("badge.md",))).status == "answered"


def test_the_workspace_is_found_from_a_folder_below(agent, folder):
    with Agent.open(folder / "docs") as below:
        assert below.folder == folder
        assert below.ask(BADGE).status == "answered"


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match="no-such-folder"):
        Agent.open(tmp_path / "no-such-folder")


def test_a_source_that_is_not_there_makes_no_workspace(tmp_path):
    with Agent.open(tmp_path) as agent, pytest.raises(UsageError, match="nowhere"):
        agent.add(tmp_path / "nowhere")
    assert not (tmp_path / ".quaere").exists()


def test_a_question_too_long_is_refused_with_the_way_out(agent):
    with pytest.raises(UsageError, match="at most 8,000"):
        agent.ask("x" * 100_000)
    assert agent.ask("badge " * (LONGEST_QUESTION // 6 - 1)).status in ("answered", "abstained", "partial")


@pytest.mark.parametrize("damage", [b"", b"not a database", b"SQLite format 3\0" + bytes(4000)])
def test_a_damaged_workspace_is_refused_and_left_as_it_is(agent, folder, damage):
    agent.close()
    database = folder / ".quaere" / "corpus.db"
    for beside in (folder / ".quaere").glob("corpus.db-*"):
        beside.unlink()
    database.write_bytes(damage)
    with pytest.raises(WorkspaceError):
        Agent.open(folder)
    assert database.read_bytes() == damage


def test_many_questions_at_once_stay_apart(agent):
    async def both():
        return await asyncio.gather(*(agent.aask(q) for q in [BADGE, "When does the gate open?"] * 4))

    answers = asyncio.run(both())
    assert ["12 EUR" in a.text for a in answers] == [True, False] * 4
    assert ["7:30" in a.text for a in answers] == [False, True] * 4
    assert len({a.run for a in answers}) == 8


def test_a_run_inside_a_graph_of_another_leaves_no_trace_there(agent):
    from langgraph.graph import END, START, StateGraph
    from typing_extensions import TypedDict

    class Outer(TypedDict, total=False):
        text: str

    async def node(state):
        return {"text": (await agent.aask(BADGE)).text}

    graph = StateGraph(Outer)
    graph.add_node("ask", node)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", END)

    async def nodes():
        return [key async for part in graph.compile().astream({}, stream_mode="updates") for key in part]

    assert asyncio.run(nodes()) == ["ask"]


class NoArguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


def broken(config):
    raise ZeroDivisionError("inside")


def test_a_tool_that_raises_is_contained():
    toolbox = Toolbox(
        [StructuredTool(name="broken", description="x" * 40, args_schema=NoArguments, func=broken)]
    )
    seen = asyncio.run(toolbox.call("r1.search.1", "broken", {}, frozenset()))
    assert seen.status == "failed"
    assert seen.candidates == ()


def test_a_source_that_fails_is_named_and_not_taken_for_an_empty_one(agent, monkeypatch):
    def fail(*_):
        raise OSError("disk")

    monkeypatch.setattr("quaere.tools.reader.Reader.vector", fail)
    answer = agent.ask(BADGE)
    assert "12 EUR" in answer.text
    assert any(line.startswith("vector_search failed") for line in answer.missing)


def test_a_source_too_slow_for_the_budget_is_named_and_the_run_ends(agent, monkeypatch):
    original = type(agent.corpus).reader

    def slow(self, query, k):
        time.sleep(3)
        return []

    assert original
    monkeypatch.setattr("quaere.tools.reader.Reader.vector", slow)
    agent.ask("hello")
    began = time.monotonic()
    answer = agent.ask(BADGE, budget=Budget(seconds=1))
    assert time.monotonic() - began < 3
    assert any("vector_search timed out" in line for line in answer.missing)
    assert answer.status in ("answered", "stopped")


def test_tracing_of_the_callers_shell_is_not_followed(agent, monkeypatch):
    monkeypatch.setitem(os.environ, "LANGSMITH_TRACING", "true")
    monkeypatch.setitem(os.environ, "LANGSMITH_API_KEY", "x")
    assert agent.ask(BADGE).status == "answered"


def test_without_weights_keywords_find_and_the_answer_says_so(folder, monkeypatch):
    monkeypatch.setattr("quaere.tools.embed.find_weights", lambda name: None)
    with Agent.open(folder) as agent:
        report = agent.add(folder / "docs")
        answer = agent.ask(BADGE)
        found = agent.search("badge")
    assert report.new == 2
    assert "12 EUR" in answer.text
    assert any("no encoder" in note for note in answer.notes)
    assert found.hits[0].ranks == {"keyword": 1, "vector": None}
