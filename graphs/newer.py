"""Look into the documents that replace what was found: the newer version may say it in other words."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from ..tools.evidence import Reading
from ..tools.rank import Fused, fuse
from .ports import Observation
from .state import Run, RunState

MOST_NEWER = 2
"""Documents that are looked into at each step, at most."""

MOST_STEPS = 3
"""Steps from a version to what replaces it, at most."""

LOOKED_AT = 3
"""Passages of a newer document that are admitted, at most."""

_SEARCHES = ("keyword_search", "vector_search")

Admitted = tuple[Fused, Reading]


async def follow_newer(
    state: RunState, run: Run, path: str, admitted: Sequence[Admitted]
) -> tuple[list[Admitted], list[Observation]]:
    """Return passages of the newer versions of documents that were found, and the calls that found them.

    They are scored like the passage they take the place of. Nothing is searched beyond the budget.
    """
    found: list[Admitted] = []
    observations: list[Observation] = []
    known = {reading.document.path for _, reading in admitted}
    front = list(admitted)
    for step in range(1, MOST_STEPS + 1):
        wanted = _successors(front, known)
        known |= wanted.keys()
        front = []
        for i, (newer, score) in enumerate(wanted.items(), 1):
            seen = await _search_within(newer, state, run, f"{path}.newer.{step}.{i}")
            observations += seen
            front += await _read(newer, score, seen, run, f"{path}.newer.{step}.{i}.read")
        held = {item["passage"] for item in state.get("evidence", [])}
        found += [one for one in front if one[0].id not in held]
    return found, observations


def _successors(front: Sequence[Admitted], known: set[str]) -> dict[str, float]:
    """Return the paths of what replaces the documents in front, with the best score of those."""
    wanted: dict[str, float] = {}
    for fused, reading in front:
        newer = reading.validity.superseded_by
        if newer and newer not in known:
            wanted[newer] = max(fused.score, wanted.get(newer, 0.0))
    return dict(list(wanted.items())[:MOST_NEWER])


async def _search_within(newer: str, state: RunState, run: Run, path: str) -> list[Observation]:
    """Ask the question of one document, by words and by meaning, as far as the budget goes."""
    names = [card.name for card in run.ports.tools.cards() if card.name in _SEARCHES]
    calls = [f"{path}.{name}" for name in names]
    if run.ledger.tool_calls + len(calls) > run.ledger.budget.tool_calls:
        return []
    run.ledger.admit_tools(calls)
    literal = re.sub(r"([\[*?])", r"[\1]", newer)
    asked = {"query": state["standalone"], "within": [literal], "k": LOOKED_AT}
    running = [
        run.ports.tools.call(call, name, asked, frozenset()) for call, name in zip(calls, names, strict=True)
    ]
    try:
        async with asyncio.timeout(run.ledger.seconds_left):
            return [one for one in await asyncio.gather(*running) if one.status == "ok"]
    except TimeoutError:
        run.ledger.stop("seconds")
        return []


async def _read(newer: str, score: float, seen: Sequence[Observation], run: Run, path: str) -> list[Admitted]:
    """Return the best passages of the document itself: a pattern may also match others of its name."""
    ranked = fuse({one.tool: [candidate.passage.id for candidate in one.candidates] for one in seen})
    readings = await run.ports.library.readings(path, [item.id for item in ranked])
    return [
        (Fused(item.id, score, item.ranks), readings[item.id])
        for item in ranked
        if item.id in readings and readings[item.id].document.path == newer
    ][:LOOKED_AT]
