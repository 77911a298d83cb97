"""`ask` and `chat` with a model, over real HTTP, as a user starts them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from model_calls import KEY
from model_server import ModelServer, Reply, Say, Status
from quaere.agent.assemble import Agent
from quaere.agent.cli import app
from quaere.tools.errors import UsageError
from typer.testing import CliRunner, Result

Run = Callable[..., Result]
QUESTION = "What does a replacement badge cost?"
WRITTEN = {
    "claims": [{"need": "n1", "text": "A replacement badge costs 12 EUR.", "cites": ["S1.1"], "formula": ""}],
    "missing": [],
}


def reply_to(body: Mapping[str, Any]) -> Reply:
    sent = "".join(message["content"] for message in body["messages"])
    plan = {"route": "one", "standalone": "", "needs": [], "calls": []}
    return Say(json.dumps(WRITTEN if "You answer" in sent else plan))


@pytest.fixture
def quaere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in a workspace with one document, with the environment of a server if one is given."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "badge.md").write_text("A replacement badge costs 12 EUR.\n")
    with Agent.open(tmp_path) as agent:
        agent.add(tmp_path / "docs")

    def run(*arguments: str, server: ModelServer | None = None, stdin: str | None = None) -> Result:
        if server is not None:
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            monkeypatch.setenv("QUAERE_MODEL", "m")
            monkeypatch.setenv("OPENAI_API_KEY", KEY)
        return CliRunner().invoke(app, list(arguments), input=stdin)

    return run


def test_a_model_that_is_named_answers(quaere: Run) -> None:
    with ModelServer(reply_to) as server:
        result = quaere("ask", "--json", QUESTION, server=server)
        answer = json.loads(result.stdout)
        assert result.exit_code == 0
        assert "12 EUR" in answer["text"]
        assert answer["spent"]["model_calls"] == len(server.chats) > 0
        assert answer["spent"]["tokens"] >= server.tokens > 0


def test_a_chat_asks_the_model_too(quaere: Run) -> None:
    with ModelServer(reply_to) as server:
        result = quaere("chat", "--verbose", server=server, stdin=f"{QUESTION}\n")
        assert "12 EUR" in result.stdout
        assert "by model" in result.stderr
        assert " model calls · " in result.stderr
        assert server.chats


def test_rules_are_asked_where_they_are_named(quaere: Run) -> None:
    with ModelServer(reply_to) as server:
        result = quaere("ask", "--policy", "rules", QUESTION, server=server)
        assert result.exit_code == 0
        assert "12 EUR" in result.stdout
        assert not server.chats


def test_a_wrong_key_fails_with_the_way_out_and_never_shows_it(quaere: Run) -> None:
    with ModelServer([Status(401, f"wrong key {KEY}")]) as server:
        result = quaere("ask", "--verbose", QUESTION, server=server)
        assert result.exit_code == 1
        assert "OPENAI_API_KEY" in result.output
        assert "--policy rules" in result.output
        assert KEY not in result.output
        assert len(server.chats) == 1


def test_with_degrade_the_rules_answer_and_say_so(quaere: Run) -> None:
    with ModelServer([Status(401)]) as server:
        result = quaere("ask", "--degrade", QUESTION, server=server)
        assert result.exit_code == 0
        assert "12 EUR" in result.stdout
        assert "the rules took over" in result.stdout


def test_no_key_fails_unless_the_rules_may_take_over(quaere: Run) -> None:
    result = quaere("ask", "--policy", "model", QUESTION)
    assert result.exit_code == 1
    assert "OPENAI_API_KEY" in result.output
    degraded = quaere("ask", "--policy", "model", "--degrade", QUESTION)
    assert degraded.exit_code == 0
    assert "the rules took over" in degraded.stdout


def test_a_budget_below_the_smallest_prompt_reaches_no_model(quaere: Run) -> None:
    with ModelServer(reply_to) as server:
        result = quaere("ask", "--json", "--budget", "tokens=100", QUESTION, server=server)
        assert json.loads(result.stdout)["spent"]["tokens"] == 0
        assert "12 EUR" in result.stdout
        assert not server.chats


def test_money_cannot_be_limited_without_a_price(quaere: Run) -> None:
    with ModelServer(reply_to) as server:
        result = quaere("ask", "--budget", "usd=0.05", QUESTION, server=server)
        assert result.exit_code == 2
        assert "[prices.'m']" in result.output
        Path("quaere.toml").write_text("[prices.m]\nprompt = 0.4\ncompletion = 1.6\n")
        priced = quaere("ask", "--json", "--budget", "usd=0.05", QUESTION)
        assert 0 < json.loads(priced.stdout)["spent"]["usd"] <= 0.05


def test_a_policy_in_python_goes_before_settings(quaere: Run) -> None:
    with ModelServer(reply_to) as server, Agent.open(overrides={"model.base_url": server.url}) as agent:
        assert agent.ask(QUESTION, policy="rules").spent["model_calls"] == 0
        assert not server.chats
        with pytest.raises(UsageError, match="'rule'"):
            agent.ask(QUESTION, policy="rule")


def test_without_a_model_no_client_is_loaded(quaere: Run) -> None:
    loaded = "openai" in sys.modules
    assert quaere("ask", QUESTION).exit_code == 0
    assert ("openai" in sys.modules) == loaded
