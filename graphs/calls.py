"""Run one tool call within the run's time, and let searches of the question begin before their turn."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .budget import Ledger
from .ports import Observation, Tools

TEXT_SEARCHES = ("keyword_search", "vector_search")
"""The tools that round 1 asks the question as it stands."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as it starts: its path, the tool, checked arguments, the passages the run holds already."""

    path: str
    tool: str
    arguments: Mapping[str, Any]
    seen: frozenset[int] = frozenset()


async def run_tool(call: Call, tools: Tools, ledger: Ledger) -> Observation:
    """Return what a tool found; the deadline of the run ends the call and is an observation too."""
    try:
        async with asyncio.timeout(ledger.seconds_left):
            return await tools.call(call.path, call.tool, call.arguments, call.seen)
    except TimeoutError:
        ledger.stop("seconds")
        return Observation(call.path, call.tool, "timeout", "the run's time was spent", source=call.tool)


@dataclass(slots=True)
class Early:
    """Searches that run while the route is still being decided, by tool and query."""

    running: dict[tuple[str, str], asyncio.Task[Observation]] = field(default_factory=dict)

    def start(self, query: str, tools: Tools, ledger: Ledger) -> None:
        """Admit and start round 1's text searches of a query, under the paths they will have in the plan."""
        known = {card.name for card in tools.cards()}
        names = [name for name in TEXT_SEARCHES if name in known]
        paths = [f"r1.search.{i}" for i, _ in enumerate(names, 1)]
        for name, path, fits in zip(names, paths, ledger.admit_tools(paths), strict=True):
            if fits:
                call = Call(path, name, {"query": query})
                self.running[name, query] = asyncio.create_task(run_tool(call, tools, ledger))

    def take(self, name: str, arguments: Mapping[str, Any]) -> asyncio.Task[Observation] | None:
        """Return the search that was started for just this call, once."""
        if set(arguments) != {"query"}:
            return None
        return self.running.pop((name, str(arguments["query"])), None)

    def drop(self) -> None:
        """End the searches that the route made needless."""
        for task in self.running.values():
            task.cancel()
        self.running.clear()
