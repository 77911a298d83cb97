"""Asking as somebody: rights are those of the file at each question, and what is forbidden is gone at once."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from quaere import Agent
from quaere.agent import run
from quaere.agent.asking import Question
from quaere.agent.library import CorpusLibrary
from quaere.agent.narrowing import narrowing
from quaere.agent.options import AskOptions
from quaere.agent.remembered import turn_of
from quaere.graphs.rules import rules
from quaere.tools.errors import SettingsError, UsageError, WorkspaceError
from quaere.tools.evidence import Access
from quaere.tools.relabel import apply_rulebook
from quaere.tools.rulebook import NO_RULES

PAY = "How much is the bonus pool?"
FILES = {
    "docs/hr/pay.md": "# Pay\n\nThe bonus pool is 90,000 EUR. Marlene Brandt decides about the bonus pool.",
    "docs/canteen.md": "# Canteen\n\nThe canteen opens at 11:30.",
    "wiki/gate.md": "# Gate\n\nGate 4 opens at 7:30.",
}
TEAMS = """
[[rules]]
labels = {team = "all"}

[[rules]]
source = "docs"
path = "hr/**"
labels = {team = "hr"}
"""
PEOPLE = """
[people.alice]
groups = ["everybody"]
allowed = {team = ["hr"]}

[people.bob]
groups = ["everybody"]

[groups.everybody]
allowed = {team = ["all"]}
"""


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return indexed(tmp_path)


def indexed(folder: Path) -> Path:
    write(folder, {**FILES, "quaere.toml": TEAMS + PEOPLE})
    with Agent.open(folder) as agent:
        agent.add(folder / "docs")
        agent.add(folder / "wiki")
    return folder


def found(agent: Agent) -> set[str]:
    return {hit.reading.document.path for hit in agent.search("bonus pool canteen gate opens").hits}


def test_a_person_reads_what_the_person_and_the_groups_are_allowed(home: Path) -> None:
    with Agent.open(home, access="alice") as alice, Agent.open(home, access="bob") as bob:
        assert found(alice) == {"hr/pay.md", "canteen.md", "gate.md"}
        assert found(bob) == {"canteen.md", "gate.md"}
        assert alice.ask(PAY).status == "answered"
        assert bob.ask(PAY).status == "abstained"
        assert alice.access == Access("alice", frozenset({"everybody"}), {"team": frozenset({"hr", "all"})})


@pytest.mark.parametrize(
    ("name", "hint"), [("alcie", "did you mean 'alice'"), ("mallory", "known are alice, bob")]
)
def test_an_unknown_name_is_refused(home: Path, name: str, hint: str) -> None:
    with pytest.raises(UsageError, match=hint):
        Agent.open(home, access=name)


def test_the_owner_may_be_named_and_needs_no_table(home: Path) -> None:
    with Agent.open(home, access="owner") as agent:
        assert agent.access.is_owner


def test_who_asks_as_somebody_neither_adds_nor_syncs(home: Path) -> None:
    with Agent.open(home, access="alice") as agent:
        for act in (agent.sync, lambda: agent.add(home / "wiki"), lambda: agent.ask(PAY, sync=True)):
            with pytest.raises(UsageError, match="alice may ask but not"):
                act()


def test_what_a_person_may_read_is_looked_up_at_each_question(home: Path) -> None:
    with Agent.open(home, access="alice") as agent:
        assert "90,000" in agent.ask(PAY).text
        (home / "quaere.toml").write_text(TEAMS + PEOPLE.replace('["hr"]', "[]"))
        assert agent.ask(PAY).status == "abstained"
        (home / "quaere.toml").write_text(TEAMS)
        with pytest.raises(UsageError, match="nobody is named 'alice'"):
            agent.ask(PAY)


def test_changed_rules_hold_from_the_next_question_without_a_sync(home: Path) -> None:
    with Agent.open(home, access="bob") as agent:
        (home / "quaere.toml").write_text(TEAMS.replace('"hr"', '"all"') + PEOPLE)
        assert "90,000" in agent.ask(PAY).text
        (home / "quaere.toml").write_text(TEAMS + PEOPLE)
        assert found(agent) == {"canteen.md", "gate.md"}


def test_a_file_that_cannot_be_read_any_more_shows_nothing(home: Path) -> None:
    with Agent.open(home, access="bob") as agent:
        (home / "quaere.toml").write_text("[[rules]\n")
        with pytest.raises(SettingsError, match="cannot be read"):
            agent.ask(PAY)


def test_an_agent_of_older_rules_does_not_bring_them_back(home: Path) -> None:
    with Agent.open(home) as resident:
        resident.ask(PAY)
        (home / "quaere.toml").write_text(PEOPLE)
        with Agent.open(home) as other:
            other.sync()
        resident.ask(PAY)
        with Agent.open(home, access="alice") as alice:
            assert found(alice) == set()


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Let a folder be read and not written, also for root."""
    paths = [folder, *folder.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)
        for path in paths:
            path.chmod(0o755 if path.is_dir() else 0o644)


def test_rules_that_cannot_be_applied_keep_everybody_out_but_the_owner() -> None:
    with tempfile.TemporaryDirectory() as name:
        home = indexed(Path(name))
        with read_only(home), Agent.open(home, access="alice") as alice:
            assert "hr/pay.md" in found(alice)
        (home / "quaere.toml").write_text(TEAMS.replace('"hr"', '"it"') + PEOPLE)
        with read_only(home):
            with Agent.open(home) as owner:
                assert "hr/pay.md" in found(owner)
            with Agent.open(home, access="alice") as alice:
                for act in (alice.sources, lambda: alice.ask(PAY), lambda: alice.search("bonus")):
                    with pytest.raises(
                        WorkspaceError, match="changed and cannot be applied, so nothing is shown"
                    ):
                        act()


def test_sources_tell_only_what_may_be_read(home: Path) -> None:
    write(home, {"docs/hr/broken.md": "", "docs/empty.md": ""})
    with Agent.open(home) as owner:
        owner.sync()
        assert {(one.id, one.documents, len(one.failures)) for one in owner.sources()} == {
            ("docs", 2, 2),
            ("wiki", 1, 0),
        }
    only_hr = TEAMS.replace('"all"', '"none"') + PEOPLE
    with Agent.open(home, access="bob") as bob:
        assert [(one.id, one.documents, [path for path, _ in one.failures]) for one in bob.sources()] == [
            ("docs", 1, ["empty.md"]),
            ("wiki", 1, []),
        ]
        (home / "quaere.toml").write_text(only_hr)
        assert bob.sources() == []
    with Agent.open(home, access="alice") as alice:
        assert [(one.id, one.documents) for one in alice.sources()] == [("docs", 1)]
        with pytest.raises(UsageError) as refused:
            narrowing(AskOptions(words=["x"], sources=["wiki"]), alice)
        assert str(refused.value) == "there is no source 'wiki'; known are docs"


def test_a_rule_that_fits_nothing_is_told_by_the_next_sync(home: Path) -> None:
    more = '\n[[rules]]\nsource = "wikki"\n\n[[rules]]\nsource = "docs"\npath = "hrr/**"\nlabels = {team = "it"}\n'
    (home / "quaere.toml").write_text(TEAMS + more + PEOPLE)
    with Agent.open(home) as agent:
        assert [line for line in agent.sync().warnings if "rule" in line] == [
            "quaere.toml: rule 3 fits no source: 'wikki'; did you mean 'wiki'?",
            "quaere.toml: rule 4 fits no document: source 'docs', path 'hrr/**'",
        ]


def forbidding(agent: Agent, decide: Callable[[Any], Any]) -> Callable[[Any], Any]:
    async def decided(view: Any) -> Any:
        decision = await decide(view)
        apply_rulebook(agent.corpus, NO_RULES)
        return decision

    return decided


@pytest.mark.parametrize("step", ["route", "rewrite", "grade", "write"])
def test_what_is_forbidden_after_a_decision_is_not_in_the_answer(home: Path, step: str) -> None:
    with Agent.open(home, access="alice") as agent:
        assert "90,000" in json.dumps(agent.ask(PAY).to_json())
        policy = replace(rules, **{step: forbidding(agent, getattr(rules, step))})
        told = agent.answer(Question(PAY, policy=policy))
        assert "90,000" not in json.dumps(told.to_json())
        assert told.status == "abstained"


@pytest.mark.parametrize("door", ["standing", "quotes"])
def test_what_is_forbidden_while_it_is_cited_is_not_in_the_answer(
    home: Path, monkeypatch: pytest.MonkeyPatch, door: str
) -> None:
    with Agent.open(home, access="alice") as agent:
        through = getattr(CorpusLibrary, door)

        async def forbidden_before(self: CorpusLibrary, *given: Any) -> Any:
            apply_rulebook(agent.corpus, NO_RULES)
            return await through(self, *given)

        monkeypatch.setattr(CorpusLibrary, door, forbidden_before)
        assert "90,000" not in json.dumps(agent.ask(PAY).to_json())


def test_an_earlier_answer_lends_no_words_when_its_document_is_forbidden(home: Path) -> None:
    with Agent.open(home, access="alice") as agent:
        first = turn_of("Who decides about the bonus pool?", agent.ask("Who decides about the bonus pool?"))
        assert "Brandt" in json.dumps(agent.ask("What does she decide?", history=[first]).to_json())
        (home / "quaere.toml").write_text(TEAMS + PEOPLE.replace('["hr"]', "[]"))
        later = agent.ask("What does she decide?", history=[first])
        assert "Brandt" not in json.dumps(later.to_json())


def test_an_earlier_answer_lends_no_words_when_its_document_is_gone(home: Path) -> None:
    with Agent.open(home) as agent:
        first = turn_of("Who decides about the bonus pool?", agent.ask("Who decides about the bonus pool?"))
        second = turn_of("And she?", replace(agent.ask("hello"), question="What does Marlene Brandt decide?"))
        (home / "docs/hr/pay.md").unlink()
        agent.sync()
        later = agent.ask("What does she decide?", history=[first, second])
        assert "Brandt" not in json.dumps(later.to_json())


def test_the_state_of_a_run_holds_nothing_that_may_not_be_read(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, states = run._graph(), []

    class Recorded:
        async def ainvoke(self, *given: Any, **named: Any) -> Any:
            states.append(await graph.ainvoke(*given, **named))
            return states[-1]

    monkeypatch.setattr(run, "_graph", Recorded)
    for name in ("bob", "alice"):
        with Agent.open(home, access=name) as agent:
            agent.ask("How much is the bonus pool, and when does gate 4 open?")
    of_bob, of_alice = (json.dumps(state) for state in states)
    for words in ("90,000", "Brandt", "pay.md"):
        assert words not in of_bob
        assert words in of_alice or words == "Brandt"
    assert len(states[0]["evidence"]) == 2 < len(states[1]["evidence"])
