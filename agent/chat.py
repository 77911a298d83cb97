"""A plain conversation: a question a line, answers with footnotes, turns kept in memory until the end."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..graphs.policy import Turn
from ..tools.errors import QuaereError
from ..tools.evidence import NO_FILTER, Filter
from .edge import INTERRUPTED, sentence
from .flags import nearest
from .show import show_answer, show_sources, status_line
from .terminal import Paper, emit, emit_json, paper_of, tell

if TYPE_CHECKING:
    from ..graphs.policy import Policy
    from .assemble import Agent

HELP = """\
Ask a question in one line. The conversation is kept until you leave.
  /sources  what is indexed
  /help     this text
  /quit     leave (or Ctrl-D)
Ctrl-C stops an answer; at the prompt it leaves.
"""
COMMANDS = ("/help", "/sources", "/quit")


@dataclass(slots=True)
class Chat:
    """One conversation with an agent.

    `policy` None is the agent's own, `as_json` prints an object a line, `verbose` tells what was spent.
    """

    agent: Agent
    filter: Filter = NO_FILTER
    policy: Policy | None = None
    as_json: bool = False
    verbose: bool = False
    turns: list[Turn] = field(default_factory=list)

    def run(self) -> int:
        """Answer until the input ends or /quit, and return the exit code."""
        talks = sys.stdin.isatty() and sys.stdout.isatty()
        if talks:
            tell("Ask about your sources; /help tells more.")
        lines = _typed_lines() if talks else _piped_lines()
        try:
            for line in lines:
                if not self._take(line.strip()):
                    break
        except KeyboardInterrupt:
            tell("")
            return INTERRUPTED
        return 0

    def _take(self, line: str) -> bool:
        """Deal with one line and tell whether the conversation goes on."""
        if not line:
            return True
        if re.fullmatch(r"/[a-z]+", line):
            return self._obey(line)
        try:
            self._answer(line)
        except KeyboardInterrupt:
            if not sys.stdin.isatty():
                raise
            tell("stopped; press Ctrl-C again to leave")
        except QuaereError as error:
            tell(f"quaere: {sentence(error)}")
        return True

    def _obey(self, command: str) -> bool:
        if command == "/help":
            emit(HELP)
        elif command == "/sources":
            emit(show_sources(self.agent.sources(), paper_of(sys.stdout)))
        elif command != "/quit":
            tell(f"there is no command {command}{nearest(command, COMMANDS)}")
        return command != "/quit"

    def _answer(self, question: str) -> None:
        from .asking import Question
        from .remembered import turn_of

        told = tell if self.verbose else None
        answer = self.agent.answer(
            Question(question, tuple(self.turns), self.filter, policy=self.policy, tell=told)
        )
        self.turns.append(turn_of(question, answer))
        if self.as_json:
            emit_json(answer.to_json(), indent=None)
            return
        paper: Paper = paper_of(sys.stdout)
        emit(show_answer(answer, paper) + "\n")
        if self.verbose or sys.stderr.isatty():
            tell(status_line(answer))


def _piped_lines() -> Iterator[str]:
    """Yield the lines of a file or a pipe."""
    yield from sys.stdin


def _typed_lines() -> Iterator[str]:
    """Yield what a person types; Ctrl-C at the prompt is passed on and so leaves."""
    with_history()
    while True:
        try:
            line = input(prompt())
        except EOFError:
            tell("")
            return
        yield line


def with_history() -> None:
    """Let earlier lines of this conversation come back with the arrow keys, where readline is there."""
    try:
        import readline  # noqa: F401  (importing it is what changes `input`)
    except ImportError:
        return


def prompt() -> str:
    """Return the prompt in characters the terminal can show."""
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    return "› " if encoding == "utf8" else "> "
