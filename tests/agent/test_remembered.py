"""Which words of earlier turns may still be used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from quaere import Agent
from quaere.agent.remembered import readable_turns, turn_of
from quaere.graphs.policy import Turn
from quaere.tools.evidence import NO_FILTER, OWNER, Access
from quaere.tools.reader import Reader

STRANGER = Access("ana", allowed={"team": frozenset({"hr"})})


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    folder = tmp_path_factory.mktemp("home")
    (folder / "docs").mkdir()
    (folder / "docs" / "badge.md").write_text("A replacement badge costs 12 EUR.")
    with Agent.open(folder) as opened:
        opened.add(folder / "docs")
        yield opened


@pytest.fixture(scope="module")
def turn(agent: Agent) -> Turn:
    found = turn_of("And a badge?", agent.ask("What does a replacement badge cost?"))
    return replace(found, standalone="And a replacement badge?")


def reader(agent: Agent, access: Access) -> Reader:
    return agent.corpus.reader(access, NO_FILTER)


def test_a_turn_remembers_what_it_claimed_and_where_it_stands(agent: Agent, turn: Turn) -> None:
    assert turn.claims == ("A replacement badge costs 12 EUR.",)
    assert [reader(agent, OWNER).cut(span) for span in turn.spans] == ["A replacement badge costs 12 EUR."]


def test_what_may_be_read_is_kept_as_it_is(agent: Agent, turn: Turn) -> None:
    assert readable_turns([turn], reader(agent, OWNER), True) == (turn,)


def test_what_may_not_be_read_takes_its_claims_and_its_wording_along(agent: Agent, turn: Turn) -> None:
    kept = readable_turns([turn], reader(agent, STRANGER), False)
    assert kept == (Turn("And a badge?", "And a badge?", turn.status),)


def test_later_questions_are_taken_in_their_own_words_then(agent: Agent, turn: Turn) -> None:
    before = Turn("How tall is it?", "How tall is the gate?", "abstained")
    later = Turn("And its colour?", "What is the colour of the replacement badge?", "abstained")
    kept = readable_turns([before, turn, later], reader(agent, STRANGER), False)
    assert [one.standalone for one in kept] == ["How tall is the gate?", "And a badge?", "And its colour?"]


def test_claims_without_a_place_are_the_owners_alone(agent: Agent) -> None:
    bare = Turn("What does it cost?", "What does it cost?", "answered", ("It costs 12 EUR.",))
    assert readable_turns([bare], reader(agent, OWNER), True) == (bare,)
    assert readable_turns([bare], reader(agent, STRANGER), False)[0].claims == ()
