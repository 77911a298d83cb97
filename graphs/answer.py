"""Node: pack the evidence and have the answer written as claims with sentence ids."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph.runtime import Runtime

from .match import term_set
from .policy import Draft, Evidence, Refusal, WriteView
from .sides import Shelf, add_sides
from .state import Run, RunState, all_needs, remember, words_of
from .views import draft_of, draft_state, held_evidence, run_lexicon

REWORDINGS = 1
"""Times a policy may reword what its check refused, before the rules close with whole sentences."""


async def answer(state: RunState, runtime: Runtime[Run]) -> RunState:
    """Show the packed evidence to the writer and keep its drafts."""
    run = runtime.context
    path = run.step("answer", state)
    held = await held_evidence(state, run, path) if state["route"] != "none" else ()
    view = await _view(state, run, path, held)
    closing = state.get("rewordings", 0) > REWORDINGS
    writer = run.fallback if closing else run.policy
    decision = await writer.write(view)
    told = add_sides(decision.value.drafts, view.needs, Shelf(held, view.lexicon))
    drafts = [draft_state(draft) for draft in told]
    notes = list(state.get("notes", []))
    if closing and drafts:
        notes.append("a claim its source did not carry was replaced by the sentence itself")
    return {
        "drafts": drafts,
        "missing": dict(decision.value.missing),
        "notes": notes,
        "decisions": remember(path, decision, _short(told, view.evidence)),
    }


def _short(drafts: Sequence[Draft], packed: Sequence[Evidence]) -> dict[str, object]:
    return {
        "packed": [f"S{item.s}" for item in packed],
        "drafts": [[draft.text, list(draft.cites)] for draft in drafts],
    }


async def _view(state: RunState, run: Run, path: str, held: Sequence[Evidence]) -> WriteView:
    closing = state.get("rewordings", 0) > REWORDINGS
    refusals = [] if closing else state.get("refused", [])
    refused = tuple(Refusal(draft_of(draft), "not_found", draft["reason"]) for draft in refusals)
    lexicon = await run_lexicon(state, run, path)
    packed = pack(held, [need["id"] for need in state["needs"]], run.packed)
    return WriteView(
        question=state["standalone"],
        needs=all_needs(state),
        evidence=packed,
        lexicon=lexicon,
        words=words_of(state),
        reply=state["reply"],  # type: ignore[arg-type]  # one of policy.Reply, kept as a string in JSON
        refused=refused,
    )


def pack(held: Sequence[Evidence], needs: Sequence[str], limit: int) -> tuple[Evidence, ...]:
    """Return at most `limit` passages: the best of each need first, then those that add the most new terms.

    Passages graded "off" are left out. Inside a document they come in the order of the document, and
    documents in the order of their best passage.
    """
    usable = [item for item in held if item.grade != "off"]
    chosen: list[Evidence] = []
    for need in needs:
        best = min((e for e in usable if need in e.needs), key=lambda e: (-e.score, e.s), default=None)
        if best is not None and best not in chosen:
            chosen.append(best)
    chosen += _by_novelty([item for item in usable if item not in chosen], chosen, limit - len(chosen))
    return _in_reading_order(chosen[:limit])


def _by_novelty(rest: Sequence[Evidence], chosen: Sequence[Evidence], room: int) -> list[Evidence]:
    """Return passages in the order of support, then of score damped by how much of them is known already."""
    known = set().union(*(term_set(item.reading.text) for item in chosen))
    left = list(rest)
    picked: list[Evidence] = []
    while left and len(picked) < room:
        best = max(left, key=lambda e: (e.grade == "supports", e.score * _new_share(e, known), -e.s))
        left.remove(best)
        picked.append(best)
        known |= term_set(best.reading.text)
    return picked


def _new_share(item: Evidence, known: set[str]) -> float:
    own = term_set(item.reading.text)
    return 0.5 + 0.5 * len(own - known) / max(1, len(own))


def _in_reading_order(chosen: Sequence[Evidence]) -> tuple[Evidence, ...]:
    place: dict[int, int] = {}
    for i, item in enumerate(chosen):
        place.setdefault(item.reading.document.id, i)
    return tuple(sorted(chosen, key=lambda e: (place[e.reading.document.id], e.reading.passage.ordinal, e.s)))
