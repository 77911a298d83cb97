"""A conversation over a pipe: one question a line, turns kept, commands obeyed."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from quaere.agent.asking import Question
from quaere.agent.assemble import Agent
from quaere.agent.cli import app
from quaere.tools.answer import Answer
from typer.testing import CliRunner, Result

Chat = Callable[..., Result]


@pytest.fixture
def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Chat:
    """Talk to an agent that knows one file."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "permits.md").write_text("# Permits\n\nPermit S-101 allows 12 docks.\n", "utf-8")
    with Agent.open(tmp_path) as agent:
        agent.add(folder)
    monkeypatch.chdir(tmp_path)

    def talk(*lines: str, options: Sequence[str] = ()) -> Result:
        return CliRunner().invoke(app, ["chat", *options], input="".join(f"{line}\n" for line in lines))

    return talk


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Question]:
    """Collect the questions that reach the agent."""
    seen: list[Question] = []
    answer = Agent.answer

    def watch(self: Agent, question: Question) -> Answer:
        seen.append(question)
        return answer(self, question)

    monkeypatch.setattr(Agent, "answer", watch)
    return seen


def test_chat_answers_a_question_a_line_and_ends_with_the_input(chat: Chat) -> None:
    result = chat("How many docks does permit S-101 allow?")
    assert result.exit_code == 0
    assert "12 docks. [1]" in result.stdout
    assert not result.stdout.startswith("› ")


def test_chat_without_input_ends_well(chat: Chat) -> None:
    result = chat()
    assert (result.exit_code, result.stdout) == (0, "")


def test_empty_lines_make_no_request(chat: Chat, asked: list[Question]) -> None:
    assert chat("", "   ", "\t").stdout == ""
    assert asked == []


def test_later_questions_see_the_turns_before(chat: Chat, asked: list[Question]) -> None:
    chat("How many docks does permit S-101 allow?", "hello")
    assert [len(question.history) for question in asked] == [0, 1]
    [turn] = asked[1].history
    assert turn.question == "How many docks does permit S-101 allow?"
    assert turn.status == "answered"
    assert turn.claims == ("Permit S-101 allows 12 docks.",)


def test_quit_leaves_before_the_next_line(chat: Chat, asked: list[Question]) -> None:
    assert chat("/quit", "How many docks?").exit_code == 0
    assert asked == []


def test_help_and_sources_make_no_request(chat: Chat, asked: list[Question]) -> None:
    result = chat("/help", "/sources")
    assert "/quit" in result.stdout
    assert "1 document" in result.stdout
    assert asked == []


def test_unknown_command_names_the_nearest(chat: Chat, asked: list[Question]) -> None:
    assert "'/quit'" in chat("/quitt").stderr
    assert asked == []


def test_refused_question_does_not_end_the_conversation(chat: Chat) -> None:
    result = chat("word " * 3000, "How many docks does permit S-101 allow?")
    assert result.exit_code == 0
    assert "8,000" in result.stderr
    assert "12 docks" in result.stdout


def test_question_about_the_conversation_is_answered_from_it(chat: Chat) -> None:
    asked = "What colour is the visitor badge?"
    lines = chat(asked, "What was the first question I asked you?", options=["--json"]).stdout.splitlines()
    answer = json.loads(lines[1])
    assert asked in answer["text"]
    assert answer["spent"]["tool_calls"] == 0
    assert [claim["citations"] for claim in answer["claims"]] == [[]]


def test_json_prints_one_object_a_line(chat: Chat) -> None:
    result = chat("How many docks does permit S-101 allow?", "What is ERR-99?", options=["--json"])
    assert [json.loads(line)["status"] for line in result.stdout.splitlines()] == ["answered", "abstained"]


def test_ctrl_c_at_the_prompt_of_a_terminal_leaves_with_130(chat: Chat, tmp_path: Path) -> None:
    leading, following = pty.openpty()
    talk = subprocess.Popen(
        [sys.executable, "-m", "quaere.agent.cli", "chat"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONIOENCODING": "utf-8", "TERM": "dumb"},
        stdin=following,
        stdout=following,
        stderr=following,
        start_new_session=True,
    )
    os.close(following)
    seen = b""
    while "› ".encode() not in seen:
        seen += os.read(leading, 4096)
    deadline = time.monotonic() + 60
    while talk.poll() is None and time.monotonic() < deadline:
        talk.send_signal(signal.SIGINT)  # one that comes just before the prompt waits is kept for the next
        time.sleep(0.5)
    assert talk.poll() == 130
    os.close(leading)
