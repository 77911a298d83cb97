"""Public reports of documents that were shown to those who may not read them (cases PR-24 and PR-25)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from quaere.agent.assemble import Agent
from quaere.tools.errors import UsageError
from quaere.tools.evidence import NO_FILTER, Access, Filter

POOL = {
    "pool.md": "# Pool\n\nThe bonus pool is 90,000 EUR.",
    "canteen.md": "# Canteen\n\nThe canteen opens at 11.",
}
POOL_RULES = """
[[rules]]
path = "pool.md"
labels = {team = "hr"}

[[rules]]
path = "canteen.md"
labels = {team = "all", lang = "en"}

[people.nobody]
allowed = {team = []}

[people.insider]
allowed = {team = ["hr"]}

[people.visitor]
allowed = {team = ["all"], lang = ["en"]}
"""
CODES = {"a.md": "Code 11.", "b.md": "Code 22.", "c.md": "Code 33."}
CODE_RULES = """
[[rules]]
path = "a.md"
labels = {class = "secret"}

[[rules]]
path = "c.md"
labels = {class = "open"}

[people.guest]
allowed = {class = ["open"]}
"""


@pytest.fixture
def asks_as(workspace: Callable[[Mapping[str, str]], Agent]) -> Any:
    """Give a function that indexes files under rules and returns a way to ask as somebody."""

    def make(files: Mapping[str, str], rules: str) -> Callable[[str | Access], Agent]:
        home: Path = workspace(files).folder
        (home / "quaere.toml").write_text(rules, "utf-8")
        return lambda who: Agent.open(home, access=who)

    return make


def everything(agent: Agent, question: str, narrow: Filter = NO_FILTER) -> str:
    """Return all that asking, searching and the decisions of the run tell."""
    told: list[str] = []
    from quaere.agent.asking import Question
    from quaere.agent.watch import watched
    from quaere.graphs.rules import rules

    answer = agent.answer(Question(question, filter=narrow, policy=watched(rules, told.append)))
    hits = agent.search(question, filter=narrow)
    return json.dumps([answer.to_json(), hits.to_json(), told])


@pytest.mark.parametrize("who", ["nobody", "visitor"])
def test_pr24_a_list_that_allows_nothing_of_it_finds_nothing(asks_as: Any, who: str) -> None:
    with asks_as(POOL, POOL_RULES)(who) as agent:
        for question in ("How big is the bonus pool?", "How much is the bonus pool?"):
            answer = agent.ask(question)
            assert (answer.status, answer.claims) == ("abstained", ())
            assert "90,000" not in everything(agent, question)
        found = {hit.reading.document.path for hit in agent.search("bonus pool canteen").hits}
        assert found == ({"canteen.md"} if who == "visitor" else set())


def test_pr24_who_may_read_it_is_told(asks_as: Any) -> None:
    with asks_as(POOL, POOL_RULES)("insider") as agent:
        assert "90,000" in agent.ask("How much is the bonus pool?").text


def test_pr24_a_filter_with_two_keys_wants_both(asks_as: Any) -> None:
    both = Filter(labels={"team": ("all",), "lang": ("en",)})
    with asks_as(POOL, POOL_RULES)("owner") as agent:
        assert [hit.reading.document.path for hit in agent.search("bonus pool", filter=both).hits] in (
            [],
            ["canteen.md"],
        )
        assert agent.ask("Does the canteen open at 11?", filter=both).status == "answered"
        assert agent.ask("How big is the bonus pool?", filter=both).status == "abstained"
        assert "90,000" not in everything(agent, "How big is the bonus pool?", both)
        one_wrong = Filter(labels={"team": ("all",), "lang": ("de",)})
        assert agent.search("canteen", filter=one_wrong).hits == ()
        assert agent.search("canteen", filter=Filter(labels={"team": ()})).hits == ()


@pytest.mark.parametrize(
    "labels", [{"team": {"$in": []}}, {"$and": [{"team": "all"}]}, {"team": "all"}, "all"]
)
def test_pr24_a_filter_of_an_unusual_shape_is_refused_and_not_dropped(asks_as: Any, labels: Any) -> None:
    with asks_as(POOL, POOL_RULES)("owner") as agent:
        for ask in (agent.search, agent.ask):
            with pytest.raises(UsageError, match="filter: labels"):
                ask("How big is the bonus pool?", filter=Filter(labels=labels))


def test_pr25_a_document_without_the_label_counts_as_forbidden(asks_as: Any) -> None:
    with asks_as(CODES, CODE_RULES)("guest") as agent:
        told = everything(agent, "Which codes are there?")
        assert "Code 33" in told
        assert "Code 11" not in told
        assert "Code 22" not in told
        assert [hit.reading.document.path for hit in agent.search("code").hits] == ["c.md"]


def test_pr25_not_secret_cannot_be_said_as_an_operator(asks_as: Any) -> None:
    asking = asks_as(CODES, CODE_RULES)
    with pytest.raises(UsageError, match="is no list of values"):
        asking(Access("guest", allowed={"class": {"$ne": "secret"}}))  # type: ignore[dict-item]
