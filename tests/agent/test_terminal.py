"""The command line at a real (pseudo) terminal: prompt, Ctrl-C, wrapping, and what stays plain."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from quaere.agent.assemble import Agent

PATIENCE = 60.0
"""Seconds until a terminal that says nothing counts as stuck."""

SLOW_ANSWERS = """
import time
from quaere.agent import assemble, cli
answer = assemble.Agent.answer
def slow(agent, question):
    if "slowly" in question.text:
        print("THINKING", flush=True)
        for _ in range(600):  # in short sleeps: a signal just before a long one would wait for its end
            time.sleep(0.1)
    return answer(agent, question)
assemble.Agent.answer = slow
cli.main()
"""


class Typist:
    """A person at a terminal of 60 columns: types, and waits for words to appear."""

    def __init__(self, folder: Path, command: list[str], environ: dict[str, str]) -> None:
        self._bytes = b""
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            os.chdir(folder)
            plain = {"TERM": "xterm", "COLUMNS": "60", "PYTHONUTF8": "1", "INPUTRC": os.devnull}
            os.execve(command[0], command, {**os.environ, **plain, **environ})

    def wait_for(self, words: str) -> str:
        """Return what appeared since the last wait, up to and with the words."""
        deadline = time.monotonic() + PATIENCE
        while words.encode() not in self._bytes:
            assert self._read(deadline), f"{words!r} never appeared after {self._bytes!r}"
        before, _, self._bytes = self._bytes.partition(words.encode())
        return _text(before) + words

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def leave(self, pressing: str = "") -> tuple[int, str]:
        """Return the exit code and the rest of what appeared; a key that is given is pressed until it works.

        Python's prompt misses a signal that comes after it is shown and before it waits for a key.
        """
        deadline = time.monotonic() + PATIENCE
        gone = False
        while not gone:
            assert time.monotonic() < deadline, f"it never left after {self._bytes!r}"
            with contextlib.suppress(OSError):  # it has left already
                self.type(pressing)
            pause = min(deadline, time.monotonic() + 2) if pressing else deadline
            while self._read(pause):
                pass
            gone = time.monotonic() < pause
        _, status = os.waitpid(self._pid, 0)
        self._pid = 0
        return os.waitstatus_to_exitcode(status), _text(self._bytes)

    def stop(self) -> None:
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
        os.close(self._fd)

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self._fd], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return False
        try:
            data = os.read(self._fd, 65536)
        except OSError:  # how Linux says that the other side has gone
            return False
        self._bytes += data
        return bool(data)


def _text(data: bytes) -> str:
    return data.decode().replace("\r\n", "\n")


@pytest.fixture
def at_terminal(tmp_path: Path) -> Iterator[Callable[..., Typist]]:
    """Start quaere at a terminal in a folder where one file is indexed."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "permits.md").write_text(
        "# Permits\n\nPermit S-101 allows 12 docks, and no dock may stand nearer than 40 metres to a well.\n",
        "utf-8",
    )
    with Agent.open(tmp_path) as agent:
        agent.add(str(docs))
    typists: list[Typist] = []

    def start(*arguments: str, program: str = "", **environ: str) -> Typist:
        how = ["-c", program] if program else ["-m", "quaere.agent.cli"]
        typists.append(Typist(tmp_path, [sys.executable, *how, *arguments], environ))
        return typists[-1]

    yield start
    for typist in typists:
        typist.stop()


def test_chat_prompts_answers_and_leaves_at_the_end_of_input(at_terminal: Callable[..., Typist]) -> None:
    typist = at_terminal("chat")
    typist.wait_for("› ")
    typist.type("How many docks does permit S-101 allow?\n")
    assert "12 docks" in typist.wait_for("answered · ")
    typist.wait_for("› ")
    typist.type("\x04")
    assert typist.leave()[0] == 0


def test_ctrl_c_during_an_answer_returns_to_the_prompt(at_terminal: Callable[..., Typist]) -> None:
    typist = at_terminal("chat", program=SLOW_ANSWERS)
    typist.wait_for("› ")
    typist.type("Tell me slowly about docks\n")
    typist.wait_for("THINKING")
    typist.type("\x03")
    typist.wait_for("› ")
    typist.type("How many docks does permit S-101 allow?\n")
    assert "12 docks" in typist.wait_for("answered · ")
    typist.wait_for("› ")
    typist.type("/quit\n")
    assert typist.leave()[0] == 0


def test_ctrl_c_twice_leaves_with_130(at_terminal: Callable[..., Typist]) -> None:
    typist = at_terminal("chat", program=SLOW_ANSWERS)
    typist.wait_for("› ")
    typist.type("Tell me slowly about docks\n")
    typist.wait_for("THINKING")
    typist.type("\x03")
    typist.wait_for("again to leave")
    typist.wait_for("› ")
    code, rest = typist.leave(pressing="\x03")
    assert code == 130
    assert "Traceback" not in rest


def test_ctrl_c_during_ask_leaves_with_130_and_one_line(at_terminal: Callable[..., Typist]) -> None:
    typist = at_terminal("ask", "slowly", program=SLOW_ANSWERS)
    typist.wait_for("THINKING")
    typist.type("\x03")
    code, rest = typist.leave()
    assert code == 130
    assert "quaere: interrupted" in rest
    assert "Traceback" not in rest


def test_ask_wraps_to_the_terminal_and_tells_what_was_spent(at_terminal: Callable[..., Typist]) -> None:
    code, shown = at_terminal("ask", "How many docks does permit S-101 allow?").leave()
    assert code == 0
    answer, _, _ = shown.partition("answered · ")
    assert max(len(line) for line in answer.split("\n")) <= 60
    assert re.search(r"answered · \d+ steps · \d+ tool calls · ", shown)


def test_add_draws_a_bar_that_goes_away(at_terminal: Callable[..., Typist], tmp_path: Path) -> None:
    (tmp_path / "docs" / "more.md").write_text("# More\n\nDocks are steel.\n", "utf-8")
    code, shown = at_terminal("add", "docs").leave()
    assert code == 0
    assert "reading" in shown
    assert "2 files: 1 new, 1 unchanged" in shown.split("\x1b[2K")[-1]


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_plain_terminals_get_no_styles(at_terminal: Callable[..., Typist], environ: dict[str, str]) -> None:
    code, shown = at_terminal("search", "docks", **environ).leave()
    assert code == 0
    assert "\x1b" not in shown
