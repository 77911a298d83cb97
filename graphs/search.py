"""Node: run the planned tool calls side by side and admit what they found as numbered evidence."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.runtime import Runtime

from ..tools.evidence import Candidate, Feature, Reading
from ..tools.rank import Fused, cluster, fuse
from .calls import Call, run_tool
from .newer import follow_newer
from .ports import Observation
from .standing import outranks
from .state import CallState, EvidenceState, FailureState, Run, RunState, find_evidence, need_of, numbers

ADMITTED = 10
"""Passages admitted a round from the fused ranking of all queries."""

ADMITTED_FOR_NEED = 4
"""Passages admitted a round for each need from its own queries, so that no need starves beside another."""

READ_ON = 1.0
"""Weight of passages read on around another one: they were asked for, not ranked."""


async def search(state: RunState, runtime: Runtime[Run]) -> RunState:
    """Admit the batch in plan order, run it side by side, admit passages and number them."""
    run = runtime.context
    path = run.step("search", state)
    observations = await _run_calls(state, run)
    ranked = _fuse_calls(state["calls"], observations, state["standalone"])
    admitted = await _admit(state, run, path, ranked)
    newer, looked = await follow_newer(state, run, path, admitted)
    evidence = _numbered(state, [*admitted, *newer], [*observations, *looked])
    cosines = await _cosines(state, run, path, [item["passage"] for item in evidence])
    for item in evidence:
        item["cosines"] = cosines.get(item["passage"], {})
    return {
        "evidence": [*state.get("evidence", []), *evidence],
        "failures": [*state.get("failures", []), *_failures(observations)],
    }


async def _run_calls(state: RunState, run: Run) -> list[Observation]:
    """Return one observation a call, in plan order; calls the budget does not admit are not run."""
    calls = state["calls"]
    early = [run.early.take(call["tool"], call["arguments"]) for call in calls]
    late = [call["path"] for call, task in zip(calls, early, strict=True) if task is None]
    admitted = dict(zip(late, run.ledger.admit_tools(late), strict=True))
    seen = frozenset(item["passage"] for item in state.get("evidence", []))
    running = [
        task or (_run_call(call, state, run, seen) if admitted[call["path"]] else _not_run(call))
        for call, task in zip(calls, early, strict=True)
    ]
    return list(await asyncio.gather(*running))


async def _run_call(call: CallState, state: RunState, run: Run, seen: frozenset[int]) -> Observation:
    started = Call(call["path"], call["tool"], _with_passage_id(call["arguments"], state), seen)
    return await run_tool(started, run.ports.tools, run.ledger)


async def _not_run(call: CallState) -> Observation:
    return Observation(call["path"], call["tool"], "not_run", "not run: budget", source=call["tool"])


def _with_passage_id(arguments: Mapping[str, Any], state: RunState) -> dict[str, Any]:
    """Turn a passage number of this run (`S3`) into the passage's id for a tool."""
    value = arguments.get("passage")
    if not (isinstance(value, str) and value.startswith("S") and value[1:].isdecimal()):
        return dict(arguments)
    found = find_evidence(state, int(value[1:]))
    return {**arguments, "passage": found["passage"] if found else -1}


def _fuse_calls(
    calls: Sequence[CallState], observations: Sequence[Observation], original: str
) -> dict[str, list[Fused]]:
    """Fuse channels within a query by reciprocal ranks, then queries: all of them, and those of each need.

    The original query weighs as much as all rewrites together.
    """
    by_query: dict[str, dict[str, list[int]]] = defaultdict(dict)
    needs: dict[str, set[str]] = defaultdict(set)
    for call, observation in zip(calls, observations, strict=True):
        query = str(call["arguments"].get("query", call["path"]))
        by_query[query][call["tool"]] = [candidate.passage.id for candidate in observation.candidates]
        needs[call["need"]].add(query)
    fused = {query: [item.id for item in fuse(channels)] for query, channels in by_query.items()}
    rewrites = max(1, len(fused) - (original in fused))
    weights = {query: 1.0 if query == original else 1.0 / rewrites for query in fused}
    ranked = {"": fuse(fused, weights=weights)}
    for need, queries in needs.items():
        ranked[need] = fuse({query: fused[query] for query in sorted(queries)})
    return ranked


async def _admit(
    state: RunState, run: Run, path: str, ranked: Mapping[str, Sequence[Fused]]
) -> list[tuple[Fused, Reading]]:
    """Return the passages to number, best first, without those held already and without near-duplicates."""
    held = [item["passage"] for item in state.get("evidence", [])]
    scores = {item.id: item for item in ranked[""]}
    wanted = dict.fromkeys(item.id for item in ranked[""][:ADMITTED])
    for need, items in ranked.items():
        wanted |= dict.fromkeys(item.id for item in items[:ADMITTED_FOR_NEED] if need)
    new = [passage for passage in wanted if passage not in held]
    new.sort(key=lambda passage: (-scores[passage].score, passage))
    readings = await run.ports.library.readings(f"{path}.read", [*held, *new])
    known = [passage for passage in [*held, *new] if passage in readings]
    shown = _representatives([readings[passage] for passage in known], state)
    return [
        (scores[passage], readings[passage])
        for i, passage in enumerate(known)
        if passage not in held and i in shown
    ]


def _representatives(readings: Sequence[Reading], state: RunState) -> set[int]:
    """Return the first of each cluster of near-duplicates that no other one decides against."""
    when = need_of(state["needs"][0]).when
    groups = cluster([reading.text for reading in readings])
    return {
        next((i for i in group if not any(outranks(readings[j], readings[i], when) for j in group)), group[0])
        for group in groups
    }


def _numbered(
    state: RunState, admitted: Sequence[tuple[Fused, Reading]], observations: Sequence[Observation]
) -> list[EvidenceState]:
    """Give each admitted passage the next number; numbers are never used again."""
    begin = max(numbers(state.get("evidence", [])), default=0) + 1
    found: dict[int, list[tuple[str, Candidate]]] = defaultdict(list)
    for observation in observations:
        for candidate in observation.candidates:
            found[candidate.passage.id].append((observation.path, candidate))
    return [
        {
            "s": s,
            "passage": reading.passage.id,
            "document": reading.document.id,
            "score": item.score,
            "ranks": {f"{path} {c.channel}": c.rank for path, c in found[reading.passage.id]},
            "features": _features([c for _, c in found[reading.passage.id]]),
            "cosines": {},
            "grade": "ungraded",
            "needs": [],
            "reason": "",
            "round": state["round"],
        }
        for s, (item, reading) in enumerate(admitted, begin)
    ]


def _features(candidates: Sequence[Candidate]) -> dict[str, Feature]:
    """Return the best raw score of each channel."""
    best: dict[str, Feature] = {}
    for candidate in candidates:
        score = round(candidate.score, 6)
        best[candidate.channel] = max(score, float(best.get(candidate.channel, score)))
    return best


async def _cosines(
    state: RunState, run: Run, path: str, passages: Sequence[int]
) -> dict[int, dict[str, list[float]]]:
    """Return the cosine of each sentence to each need, by passage; empty without an encoder."""
    cosines: dict[int, dict[str, list[float]]] = defaultdict(dict)
    for need in state["needs"]:
        found = await run.ports.library.similarity(f"{path}.near.{need['id']}", need["text"], passages)
        for passage, values in found.items():
            cosines[passage][need["id"]] = [round(value, 4) for value in values]
    return cosines


def _failures(observations: Sequence[Observation]) -> list[FailureState]:
    return [
        {"tool": item.source or item.tool, "status": item.status, "why": item.text}
        for item in observations
        if item.status != "ok"
    ]
