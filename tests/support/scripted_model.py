"""A Model port that plays a script, and a run of the real graph over a real workspace with it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from quaere.agent.asking import Seat
from quaere.agent.assemble import Agent
from quaere.agent.clock import MachineClock
from quaere.agent.library import CorpusLibrary
from quaere.agent.toolbox import Toolbox
from quaere.graphs.budget import Budget, Ledger, Tariff
from quaere.graphs.build import build, recursion_limit
from quaere.graphs.metering import MeteredModel, MeteredTools
from quaere.graphs.model_ask import ModelOptions
from quaere.graphs.model_policy import model_policy
from quaere.graphs.policy import Turn
from quaere.graphs.ports import ModelCall, Ports, Reply, Request, Usage
from quaere.graphs.rules import rules
from quaere.graphs.state import Run, turn_state
from quaere.tools import search_tools
from quaere.tools.answer import Answer, read_answer
from quaere.tools.evidence import NO_FILTER, OWNER, Access

Line = Reply | Exception | Mapping[str, Any] | str | Callable[[Request], Any]
GRAPH = build()


def call(name: str, identity: str = "", **arguments: Any) -> ModelCall:
    """Return a native tool call."""
    return ModelCall(identity, name, json.dumps(arguments))


@dataclass
class ScriptedModel:
    """Reply by prompt, line after line, the last one for ever; a mapping stands for its JSON.

    `rate` is the tokens a byte that usage is reported with and `spent` counts in; None reports no usage.
    """

    script: Mapping[str, Sequence[Line]] = field(default_factory=dict)
    rate: float | None = 0.25
    requests: list[tuple[str, Request]] = field(default_factory=list)
    spent: int = 0

    async def reply(self, path: str, request: Request) -> Reply:
        lines = self.script.get(request.schema_name, ())
        asked = sum(one.schema_name == request.schema_name for _, one in self.requests)
        self.requests.append((path, request))
        if not lines:
            raise AssertionError(f"nobody wrote a reply to {request.schema_name}")
        line: Any = lines[min(asked, len(lines) - 1)]
        if callable(line):
            line = line(request)
        if isinstance(line, BaseException):
            raise line
        return self.metered(request, line if isinstance(line, Reply) else Reply(_text(line)))

    def metered(self, request: Request, reply: Reply) -> Reply:
        """Report the usage of a server that counts `rate` tokens a byte and stops at the ceiling."""
        if self.rate is None or reply.usage is not None:
            return reply
        prompt = "".join(message["content"] for message in request.messages)
        usage = Usage(self._count(prompt), min(self._count(reply.text) + 1, request.max_tokens))
        self.spent += usage.total
        return Reply(reply.text, reply.calls, reply.finish, usage, reply.attempts)

    def _count(self, text: str) -> int:
        return int(len(text.encode("utf-8", "surrogatepass")) * (self.rate or 1)) + 1

    @property
    def prompts(self) -> list[str]:
        """Return which prompts were sent, in order."""
        return [request.schema_name for _, request in self.requests]

    @property
    def sent(self) -> str:
        """Return all that was sent in messages and tools."""
        parts = [message["content"] for _, request in self.requests for message in request.messages]
        return "\n".join([*parts, *(json.dumps(list(request.tools)) for _, request in self.requests)])


def _text(line: Any) -> str:
    return line if isinstance(line, str) else json.dumps(line)


@dataclass(frozen=True)
class Ran:
    """How a run ended, with its ledger and all decisions."""

    answer: Answer
    ledger: Ledger
    decisions: Sequence[Mapping[str, Any]]

    def decision(self, kind: str) -> Mapping[str, Any]:
        """Return the first decision of a kind."""
        return next(one for one in self.decisions if one["kind"] == kind)


def run(agent: Agent, model: Any, question: str, **given: Any) -> Ran:
    """Answer a question with a model; `given` may hold what `arun` looks for."""
    return asyncio.run(arun(agent, model, question, **given))


async def arun(agent: Agent, model: Any, question: str, **given: Any) -> Ran:
    """Answer a question with a model on the caller's loop."""
    access: Access = given.get("access", OWNER)
    history: Sequence[Turn] = given.get("history", ())
    budget: Budget = given.get("budget", Budget(seconds=600))
    clock = given.get("clock") or MachineClock()
    reader = agent.corpus_or_empty.reader(access, NO_FILTER)
    encoder = agent.encoder if given.get("encoder", True) else None
    seat = Seat(reader, encoder, access)
    ledger = Ledger(budget, clock.monotonic, given.get("tariff", Tariff()))
    tools = given.get("tools") or Toolbox(search_tools.build_tools(search_tools.Seat(reader, encoder)))
    ports = Ports(MeteredTools(tools), CorpusLibrary(seat.reader, encoder), clock)
    policy = (
        rules
        if model is None
        else model_policy(MeteredModel(model, ledger), rules, given.get("options", ModelOptions()))
    )
    context = Run(ports, policy, rules, ledger, access, NO_FILTER)
    state = {"run": "test", "question": question, "turns": [turn_state(turn) for turn in history]}
    final = await GRAPH.ainvoke(state, {"recursion_limit": recursion_limit(budget)}, context=context)
    return Ran(read_answer(final["answer"]), ledger, final["decisions"])
