"""Measure what a run costs beside its model and its tools: graph, ports, metering and ledger.

Usage: python -m quaere.evals.graph_overhead [--runs 200]
Every run goes through ten nodes and makes five metered model calls and four metered tool calls, all of which
return at once and find nothing, under a policy that decides at once. Times are processor milliseconds a run.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import langsmith

from ..graphs.budget import Budget, Ledger
from ..graphs.build import build, recursion_limit
from ..graphs.metering import MeteredModel, MeteredTools
from ..graphs.policy import (
    Decision,
    Grades,
    GradeView,
    JudgeView,
    Need,
    PlannedCall,
    Policy,
    RewriteView,
    Route,
    RouteView,
    WriteView,
    Writing,
)
from ..graphs.ports import (
    Arguments,
    Frequencies,
    Model,
    Observation,
    Ports,
    Reply,
    Request,
    Role,
    Standing,
    ToolCard,
    Usage,
)
from ..graphs.rules import rules
from ..graphs.state import Run, RunState
from ..tools.evidence import NO_FILTER, OWNER, Locator, Reading, Span, Verdict

NODES, MODEL_CALLS, TOOL_CALLS = 10, 5, 4
"""What one run goes through: route, two rounds of three nodes, answer, cite and render, and their calls."""

WANTED = 5.0
"""Processor milliseconds a run may cost at most."""

QUESTION = "What does a replacement badge cost?"


class Instant:
    """A model, tools, a library and a clock that answer at once and hold nothing."""

    revision = 1

    async def reply(self, path: str, request: Request) -> Reply:
        """Return an empty object with its usage."""
        return Reply("{}", usage=Usage(200, 2))

    def cards(self) -> tuple[ToolCard, ...]:
        """Return two tools."""
        return (ToolCard("keyword_search", "By words."), ToolCard("vector_search", "By meaning."))

    async def call(self, path: str, name: str, arguments: Arguments, seen: frozenset[int]) -> Observation:
        """Find nothing."""
        return Observation(path, name, "ok", "nothing found", source=name)

    async def readings(self, path: str, ids: Sequence[int]) -> Mapping[int, Reading]:
        """Return no passages."""
        return {}

    async def surroundings(self, path: str, ids: Sequence[int]) -> Mapping[int, str]:
        """Return no texts."""
        return {}

    async def similarity(self, path: str, query: str, ids: Sequence[int]) -> Mapping[int, tuple[float, ...]]:
        """Return no cosines."""
        return {}

    async def frequencies(self, path: str, terms: Sequence[str]) -> Frequencies:
        """Return that no passage holds a term."""
        return Frequencies(0)

    async def quotes(self, path: str, spans: Sequence[Span]) -> tuple[tuple[str, Locator], ...]:
        """Return no quotes."""
        return ()

    async def standing(self, path: str, documents: Iterable[int]) -> Mapping[int, Standing]:
        """Return nothing about files."""
        return {}

    async def notes(self, path: str) -> tuple[str, ...]:
        """Return no notes."""
        return ()

    async def unread(self, path: str, documents: Iterable[int]) -> tuple[str, ...]:
        """Return that everything was read."""
        return ()

    def monotonic(self) -> float:
        """Return the seconds of the machine."""
        return time.monotonic()

    def today(self, path: str) -> str:
        """Return one day."""
        return "2026-12-01"


@dataclass(slots=True)
class Script:
    """Decide the same every time, after one call of the model for each decision."""

    model: Model

    async def _ask(self, path: str, role: Role) -> None:
        messages = ({"role": "system", "content": "x" * 600}, {"role": "user", "content": QUESTION})
        await self.model.reply(path, Request(role, messages, {"type": "object"}, max_tokens=400))

    async def route(self, view: RouteView) -> Decision[Route]:
        """Search in up to three rounds."""
        await self._ask("rewrite.1", "router")
        return Decision(
            "route", Route("iterative", view.question, (Need("n1", view.question),)), "", "script"
        )

    async def rewrite(self, view: RewriteView) -> Decision[tuple[PlannedCall, ...]]:
        """Ask both tools something new in each round."""
        if view.round > 1:
            await self._ask("follow.1", "router")
        calls = tuple(PlannedCall(card.name, {"query": f"badge {view.round}"}, "n1") for card in view.tools)
        return Decision("rewrite", calls if view.round > 1 else (), "", "script")

    async def grade(self, view: GradeView) -> Decision[Grades]:
        """Find nothing in what was found."""
        await self._ask(f"grade.{time.monotonic_ns()}", "grader")
        return Decision("grade", Grades({}, (), "not_in_sources"), "", "script")

    async def write(self, view: WriteView) -> Decision[Writing]:
        """Write nothing."""
        await self._ask("write.1", "writer")
        return Decision("write", Writing((), {"n1": "nothing"}), "", "script")

    async def judge(self, view: JudgeView) -> Decision[tuple[Verdict, ...]]:
        """Judge nothing."""
        return Decision("judge", (), "", "script")

    def policy(self) -> Policy:
        """Return the five decisions."""
        return Policy("script", self.route, self.rewrite, self.grade, self.write, self.judge)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="runs of each part")
    runs: int = parser.parse_args(arguments).runs
    times = asyncio.run(measure(runs))
    print("| part | best ms | median ms | 95th percentile ms |\n|---|---|---|---|")
    for name, values in times.items():
        last = statistics.quantiles(values, n=20)[-1]
        print(f"| {name} | {min(values):.2f} | {statistics.median(values):.2f} | {last:.2f} |")
    whole = statistics.median(times[WHOLE])
    print(f"\nwanted: at most {WANTED} ms for a {NODES}-node run; measured: {whole:.2f} ms")
    return 0


WHOLE = f"a run of {NODES} nodes, {MODEL_CALLS} model calls, {TOOL_CALLS} tool calls"
BARE = f"LangGraph alone: {NODES} nodes in a row that do nothing"
METERED = f"of it metering and ledger of {MODEL_CALLS} model calls"


async def measure(runs: int) -> dict[str, list[float]]:
    """Return the processor milliseconds of each part, run by run; the first runs warm up."""
    graph, chain = build(), _chain()

    async def whole() -> None:
        await one_run(graph)

    async def bare() -> None:
        await chain.ainvoke({"question": QUESTION})

    parts = {WHOLE: whole, METERED: _metered, BARE: bare}
    with langsmith.tracing_context(enabled=False):  # as a run of the agent does
        return {name: await _timed(work, runs) for name, work in parts.items()}


def _chain() -> Any:  # noqa: ANN401  (LangGraph's compiled graph has four type parameters)
    """Return a graph of as many nodes in a row that do nothing."""
    from langgraph.graph import END, START, StateGraph

    async def nothing(state: RunState) -> RunState:
        return {"route": "one"}

    graph = StateGraph(RunState)
    names = [f"n{i}" for i in range(NODES)]
    for name in names:
        graph.add_node(name, nothing)
    for one, other in pairwise([START, *names, END]):
        graph.add_edge(one, other)
    return graph.compile()


async def one_run(graph: Any) -> Run:  # noqa: ANN401  (see above)
    """Run the graph once and return what it ran with; the counts it is measured by must be right."""
    instant = Instant()
    budget = Budget(steps=NODES + 2, seconds=3600)
    ledger = Ledger(budget, instant.monotonic)
    policy = Script(MeteredModel(instant, ledger)).policy()
    run = Run(Ports(MeteredTools(instant), instant, instant), policy, rules, ledger, OWNER, NO_FILTER)
    state: RunState = {"run": "bench", "question": QUESTION, "turns": []}
    await graph.ainvoke(state, {"recursion_limit": recursion_limit(budget)}, context=run)
    counted = (ledger.steps, ledger.model_calls, ledger.tool_calls)
    if counted != (NODES, MODEL_CALLS, TOOL_CALLS):
        raise AssertionError(f"a run counts {counted}, not {(NODES, MODEL_CALLS, TOOL_CALLS)}")
    return run


async def _metered() -> None:
    instant = Instant()
    script = Script(MeteredModel(instant, Ledger(Budget(), instant.monotonic)))
    for i in range(MODEL_CALLS):
        await script._ask(f"call.{i}", "writer")


async def _timed(work: Callable[[], Awaitable[None]], runs: int) -> list[float]:
    times = []
    for i in range(runs + runs // 10 + 1):
        began = time.process_time()
        await work()
        if i > runs // 10:
            times.append((time.process_time() - began) * 1000)
    return times


if __name__ == "__main__":
    main()
