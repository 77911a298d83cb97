"""Whole runs over real HTTP: what the server counts, what it is sent, what a user gets when it goes wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pytest
from model_calls import KEY, endpoint_at
from model_server import Cut, ModelServer, Reply, Say, Silence, Status
from quaere.agent.assemble import Agent
from quaere.agent.capabilities import CapabilityBook
from quaere.agent.model import open_model
from quaere.graphs.budget import Budget
from quaere.tools.errors import ModelUnavailableError
from scripted_model import Ran, arun

FILES = {
    "badge.md": "# Badges\n\nA replacement badge costs 12 EUR. "
    + "The desk is open on weekdays from 8:00 to 16:30. " * 40,
    "cjk.md": "# バッジ\n\nA replacement badge costs 12 EUR. " + "受付は平日の八時から開いています。" * 60,
    "emoji.md": "# 🏷️\n\nA replacement badge costs 12 EUR. " + "🏷️🪪🔑🚪 badge 🙂🙃 desk 🕗➡️🕟. " * 40,
}
QUESTIONS = ("What does a replacement badge cost?", "バッジの badge はいくら and when is the desk open? 🏷️")
PROMPTS = {
    "You plan how": "rewrite",
    "You plan what": "follow",
    "You judge whether passages": "grade",
    "You answer": "write",
    "You judge whether sources": "judge",
}
LACKING: tuple[Mapping[str, int], ...] = (
    {},
    {"json_schema": 500, "tools": 400},
    {"json_schema": 400, "json_object": 422, "stream_options": 400, "system": 500, "max_tokens": 400},
)
"""What servers refuse: nothing, what one real server does, nearly everything."""


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    home = tmp_path_factory.mktemp("home")
    (home / "docs").mkdir()
    for name, text in FILES.items():
        (home / "docs" / name).write_text(text, "utf-8")
    with Agent.open(home) as opened:
        opened.add(home / "docs")
        yield opened


def prompt_of(body: Mapping[str, Any]) -> str:
    """Return which prompt a request was made of."""
    sent = "".join(message["content"] for message in body["messages"])
    return next(name for words, name in PROMPTS.items() if words in sent)


def reply_to(body: Mapping[str, Any], padding: str = "") -> Reply:
    """Return a reply in form to a prompt, as long-winded as the padding makes it."""
    objects: dict[str, Any] = {
        "rewrite": {"route": "one", "standalone": padding, "needs": [], "calls": []},
        "follow": {"calls": [], "why": padding},
        "grade": {"grades": [], "why": padding},
        "write": {
            "claims": [
                {
                    "need": "n1",
                    "text": "A replacement badge costs 12 EUR.",
                    "cites": ["S1.1", "S1.2"],
                    "formula": "",
                }
            ],
            "missing": [padding] if padding else [],
        },
        "judge": {"verdicts": [{"claim": 1, "verdict": "supported"}], "why": padding},
    }
    return Say(json.dumps(objects[prompt_of(body)], ensure_ascii=False))


def run(agent: Agent, server: ModelServer, question: str = QUESTIONS[0], **given: Any) -> Ran:
    """Answer a question with the model of a server."""
    more = {name: given.pop(name) for name in ("attempts", "request_seconds") if name in given}
    book = given.pop("book", None) or CapabilityBook(None)

    async def ask() -> Ran:
        async with open_model(endpoint_at(server.url, **more), book, lambda: 60.0) as model:
            return await arun(agent, model, question, encoder=False, **given)

    return asyncio.run(ask())


@pytest.mark.parametrize("lacking", LACKING)
@pytest.mark.parametrize("rate", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("tokens", [2_000, 8_000, 32_000])
def test_a_server_never_counts_more_tokens_than_the_limit(
    agent: Agent, tokens: int, rate: float, lacking: Mapping[str, int]
) -> None:
    book = CapabilityBook(None)
    for question, padding in zip(QUESTIONS, ("badge " * 2_000, "バッジ🏷️" * 1_000), strict=True):
        with ModelServer(partial(reply_to, padding=padding), rate=rate, refuses=lacking) as server:
            ran = run(agent, server, question, budget=Budget(tokens=tokens, seconds=600), book=book)
            assert server.chats or tokens == 2_000
            assert server.tokens <= tokens
            assert server.tokens <= ran.answer.spent["tokens"] <= tokens
            assert ran.answer.text


@pytest.mark.parametrize("usage", ["exact", None])
@pytest.mark.parametrize("tokens", [2_500, 8_000])
def test_a_server_without_a_ceiling_goes_past_the_limit_by_one_reply_at_most(
    agent: Agent, tokens: int, usage: str | None
) -> None:
    def answer(body: Mapping[str, Any]) -> Reply:
        return Say("badge " * 5_000, usage=usage)

    with ModelServer(answer, rate=0.5, honours_ceiling=False) as server:
        ran = run(agent, server, budget=Budget(tokens=tokens, seconds=600))
        over = server.tokens - tokens
        assert over <= server.chats[-1].tokens
        assert all(sum(one.tokens for one in server.chats[:n]) <= tokens for n in range(len(server.chats)))
        assert ran.answer.text


@pytest.mark.parametrize("lacking", LACKING)
def test_the_answer_is_the_same_whatever_a_server_lacks(agent: Agent, lacking: Mapping[str, int]) -> None:
    book = CapabilityBook(None)
    with ModelServer(reply_to, refuses=lacking) as server:
        ran = run(agent, server, book=book)
        assert ran.answer.status == "answered"
        assert "12 EUR" in ran.answer.text
        seen = len(server.chats)
        run(agent, server, book=book)
        assert len(server.chats) - seen <= ran.ledger.model_calls


@pytest.mark.parametrize(
    "fault", [Status(500), Status(429, headers={"Retry-After": "0"}), Silence(("12 ",)), Cut(("{",))]
)
def test_a_fault_that_passes_does_not_show_in_the_answer(agent: Agent, fault: Reply) -> None:
    faults = [fault]

    def answer(body: Mapping[str, Any]) -> Reply:
        return faults.pop() if faults else reply_to(body)

    with ModelServer(answer) as server:
        ran = run(agent, server, request_seconds=0.5)
        assert ran.answer.status == "answered"
        assert "12 EUR" in ran.answer.text
        assert len(server.chats) == ran.ledger.model_calls + 1


@pytest.mark.parametrize("status", [401, 403, 404, 400])
def test_a_server_that_refuses_is_asked_once_in_a_run(agent: Agent, status: int) -> None:
    with ModelServer([Status(status, f"no for {KEY}")]) as server:
        with pytest.raises(ModelUnavailableError) as caught:
            run(agent, server)
        assert KEY not in str(caught.value)
        assert len(server.chats) == 1


def test_a_server_that_always_fails_is_asked_as_often_as_attempts_are_set(agent: Agent) -> None:
    with ModelServer([Status(500)]) as server:
        with pytest.raises(ModelUnavailableError, match="status 500"):
            run(agent, server, attempts=3)
        assert len(server.chats) == 3
