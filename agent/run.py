"""One run: ports over the corpus, a ledger, the graph, an answer."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import langsmith

from ..graphs.budget import Budget, Ledger
from ..graphs.build import build, recursion_limit
from ..graphs.failed import failed_answer
from ..graphs.metering import MeteredTools
from ..graphs.ports import Ports
from ..graphs.rules import rules
from ..graphs.state import Run, RunState, turn_state
from ..tools import search_tools
from ..tools.answer import Answer, read_answer
from ..tools.errors import ModelUnavailableError
from .asking import Question, Seat
from .clock import MachineClock
from .deciding import ModelChoice, deciding
from .library import CorpusLibrary
from .toolbox import Toolbox
from .watch import watched


async def run_graph(
    question: Question, seat: Seat, budget: Budget, choice: ModelChoice | None = None
) -> Answer:
    """Answer one question by the graph under its budget; a model that cannot be used fails the run."""
    clock = MachineClock()
    tools = Toolbox(search_tools.build_tools(search_tools.Seat(seat.reader, seat.encoder)))
    ports = Ports(MeteredTools(tools), CorpusLibrary(seat.reader, seat.encoder), clock)
    run = Run(
        ports=ports,
        policy=rules,
        fallback=rules,
        ledger=Ledger(budget, clock.monotonic),
        access=seat.access,
        filter=question.filter,
    )
    state: RunState = {
        "run": new_run_id(),
        "question": question.text,
        "turns": [turn_state(turn) for turn in question.history],
    }
    try:
        async with deciding(question, seat, choice, run.ledger) as policy:
            policy = watched(policy, question.tell) if question.tell else policy
            return await _answer(state, replace(run, policy=policy))
    except ModelUnavailableError as error:
        return failed_answer(error, state, run)


async def _answer(state: RunState, run: Run) -> Answer:
    limit = recursion_limit(run.ledger.budget)
    # No trace leaves the machine: a LANGSMITH_TRACING=true of the caller's shell is not ours to follow.
    with langsmith.tracing_context(enabled=False):
        final = await _graph().ainvoke(state, {"recursion_limit": limit}, context=run)
    return read_answer(final["answer"])


@lru_cache(maxsize=1)
def _graph() -> Any:  # noqa: ANN401  (LangGraph's compiled graph has four type parameters)
    return build()


def new_run_id() -> str:
    """Return an id by the present time, unique enough in one workspace: `20261201-143005-123456`."""
    return datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
