"""One run: ports over the corpus, a ledger, the graph, an answer."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import langsmith

from ..graphs.budget import Ledger
from ..graphs.build import build, recursion_limit
from ..graphs.ports import Ports
from ..graphs.rules import rules
from ..graphs.state import Run, RunState, turn_state
from ..tools import search_tools
from ..tools.answer import Answer, read_answer
from .clock import MachineClock
from .library import CorpusLibrary
from .toolbox import Toolbox

if TYPE_CHECKING:
    from .assemble import Agent, Question, Seat


async def run_graph(agent: Agent, question: Question, seat: Seat) -> Answer:
    """Answer one question by the graph under its budget."""
    from .assemble import new_run_id

    clock = MachineClock()
    tools = Toolbox(search_tools.build_tools(search_tools.Seat(seat.reader, seat.encoder)))
    ports = Ports(tools, CorpusLibrary(seat.corpus, seat.reader, seat.encoder), clock)
    budget = agent.budget_for(question)
    run = Run(
        ports=ports,
        policy=question.policy or rules,
        fallback=rules,
        ledger=Ledger(budget, clock.monotonic),
        access=agent.access,
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
