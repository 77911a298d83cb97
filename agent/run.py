"""One run: ports over the corpus, a ledger, the graph, an answer."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import langsmith

from ..graphs.budget import Budget, Ledger
from ..graphs.build import build, recursion_limit
from ..graphs.ports import Ports
from ..graphs.rules import rules
from ..graphs.state import Run, RunState, turn_state
from ..tools import search_tools
from ..tools.answer import Answer, read_answer
from .asking import Question, Seat
from .clock import MachineClock
from .library import CorpusLibrary
from .toolbox import Toolbox


async def run_graph(question: Question, seat: Seat, budget: Budget) -> Answer:
    """Answer one question by the graph under its budget."""
    clock = MachineClock()
    tools = Toolbox(search_tools.build_tools(search_tools.Seat(seat.reader, seat.encoder)))
    ports = Ports(tools, CorpusLibrary(seat.reader, seat.encoder), clock)
    run = Run(
        ports=ports,
        policy=question.policy or rules,
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
    # Nothing leaves the machine: a LANGSMITH_TRACING=true of the caller's shell is not ours to follow.
    with langsmith.tracing_context(enabled=False):
        final = await _graph().ainvoke(state, {"recursion_limit": recursion_limit(budget)}, context=run)
    return read_answer(final["answer"])


@lru_cache(maxsize=1)
def _graph() -> Any:  # noqa: ANN401  (LangGraph's compiled graph has four type parameters)
    return build()


def new_run_id() -> str:
    """Return an id by the present time, unique enough in one workspace: `20261201-143005-123456`."""
    return datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
