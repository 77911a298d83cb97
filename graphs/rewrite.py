"""Node: plan the next tool calls, and guard them in code."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from langgraph.runtime import Runtime

from .calls import TEXT_SEARCHES
from .match import holds_exactly
from .policy import Decision, PlannedCall, RewriteView
from .question import read_question
from .state import CallState, Run, RunState, open_needs, remember
from .views import held_evidence, run_lexicon

LONGEST_QUERY = 1000
"""Characters of a query at most; a rewrite beyond that is prose, not a query."""


async def rewrite(state: RunState, runtime: Runtime[Run]) -> RunState:
    """Ask the policy what to search next and keep what passes the guards."""
    run = runtime.context
    path = run.step("rewrite", state)
    decision = await _decide(state, run, path)
    original = _original_calls(state, run) if state["round"] == 1 else ()
    kept, rejected = _guarded([*original, *decision.value], state)
    calls = [_call_state(f"r{state['round']}.search.{i}", call) for i, call in enumerate(kept, 1)]
    noted = replace(decision, rejected=(*decision.rejected, *rejected))
    return {
        "calls": calls,
        "asked": [*state.get("asked", []), *(asked_key(call.tool, call.arguments) for call in kept)],
        "decisions": remember(path, noted, [[call["tool"], call["arguments"]] for call in calls]),
    }


async def _decide(state: RunState, run: Run, path: str) -> Decision[tuple[PlannedCall, ...]]:
    view = RewriteView(
        question=state["standalone"],
        needs=open_needs(state),
        round=state["round"],
        asked=tuple(state.get("asked", [])),
        evidence=await held_evidence(state, run, path),
        lexicon=await run_lexicon(state, run, path),
        tools=run.ports.tools.cards(),
        failed=tuple(f"{one['tool']}: {one['why']}" for one in state.get("failures", [])),
    )
    return await run.policy.rewrite(view)


def _original_calls(state: RunState, run: Run) -> list[PlannedCall]:
    """Return the searches of the question as asked, which round 1 always makes."""
    known = {card.name for card in run.ports.tools.cards()}
    need = state["needs"][0]["id"]
    return [
        PlannedCall(tool, {"query": state["standalone"]}, need) for tool in TEXT_SEARCHES if tool in known
    ]


def _guarded(calls: Sequence[PlannedCall], state: RunState) -> tuple[list[PlannedCall], list[str]]:
    """Keep the calls that are new and keep faith with the question; return the others with a reason."""
    asked = set(state.get("asked", []))
    kept: list[PlannedCall] = []
    rejected: list[str] = []
    needs = {need["id"]: need["text"] for need in state["needs"]}
    for call in calls:
        key = asked_key(call.tool, call.arguments)
        as_asked = call.arguments.get("query") == state["standalone"]
        why = "" if as_asked else _unfaithful(call, needs.get(call.need, state["standalone"]))
        if why:
            rejected.append(f"{call.tool} {str(call.arguments.get('query', ''))[:80]!r}: {why}")
        elif key not in asked:
            kept.append(call)
        asked.add(key)
    return kept, rejected


def _unfaithful(call: PlannedCall, need: str) -> str:
    """Return why a query may not be sent, or "": empty, prose, or an identifier of the need changed."""
    if call.tool not in TEXT_SEARCHES:
        return ""
    query = call.arguments.get("query")
    if not isinstance(query, str) or not any(character.isalnum() for character in query):
        return "an empty query"
    if len(query) > LONGEST_QUERY:
        return f"a query of {len(query)} characters"
    shape, sent = read_question(need), read_question(query)
    mangled = [
        wanted
        for wanted in sent.identifiers
        if any(_twins(wanted, own) for own in shape.identifiers) and not holds_exactly(wanted, need)
    ]
    return f"it changes an identifier to {mangled[0]!r}" if mangled else ""


def _twins(one: str, other: str) -> bool:
    """Tell whether two identifiers differ only in their digits, so that one is easily taken for the other."""
    shapes = ["".join("0" if c.isdigit() else c.casefold() for c in text) for text in (one, other)]
    return one.casefold() != other.casefold() and shapes[0] == shapes[1]


def asked_key(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return a key under which the same call is recognised, whatever its case and spacing."""
    folded = {k: " ".join(v.casefold().split()) if isinstance(v, str) else v for k, v in arguments.items()}
    return f"{tool} {json.dumps(folded, sort_keys=True, ensure_ascii=False)}"


def _call_state(path: str, call: PlannedCall) -> CallState:
    return {"path": path, "tool": call.tool, "arguments": dict(call.arguments), "need": call.need}
