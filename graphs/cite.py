"""Node: check every draft against what it cites; accept, have it reworded once, reopen once, or drop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from langgraph.runtime import Runtime

from .budget import CLOSING_STEPS, ROUND_STEPS
from .check import Checked, Cited, check
from .policy import Draft, Evidence, JudgeView
from .state import DecisionState, DraftState, Run, RunState, split_id, words_of
from .views import draft_of, draft_state, held_evidence

Next = Literal["answer", "rewrite", "render"]
MOST_REWORDINGS = 2
"""Rewordings of a run: one by the policy, then one by the rules, which write whole sentences."""


async def cite(state: RunState, runtime: Runtime[Run]) -> RunState:
    """Settle the drafts and look at the cited files before anything is shown."""
    run = runtime.context
    path = run.step("cite", state)
    held = {item.s: item for item in await held_evidence(state, run, path)}
    drafts = [draft_of(draft) for draft in state["drafts"]]
    cited = [_cited(draft, held, words_of(state)) for draft in drafts]
    checked = [check(draft, sentences) for draft, sentences in zip(drafts, cited, strict=True)]
    checked = await _judged(drafts, cited, checked, run)
    settled = [
        draft_state(draft, verdict.verdict, verdict.reason)
        for draft, verdict in zip(drafts, _fallen(drafts, checked), strict=True)
    ]
    gone, changed = await _look_at_files(settled, held, run, path)
    return _outcome(state, run, path, settled, (gone, changed))


def _cited(draft: Draft, held: Mapping[int, Evidence], words: Sequence[str]) -> list[Cited]:
    """Return the sentences a draft cites; ids the run never gave out carry nothing."""
    found = []
    for cite_ in draft.cites:
        try:
            s, j = split_id(cite_)
        except ValueError:
            continue
        if s == 0 and 1 <= j <= len(words):
            found.append(Cited(words[j - 1]))
        elif s in held and 1 <= j <= len(held[s].reading.texts):
            reading = held[s].reading
            found.append(Cited(reading.texts[j - 1], reading.governing[j - 1], reading.sentences[j - 1].kind))
    return found if len(found) == len(draft.cites) else []


async def _judged(
    drafts: Sequence[Draft], cited: Sequence[Sequence[Cited]], checked: Sequence[Checked], run: Run
) -> list[Checked]:
    """Ask the judge, in one batch, only for what code could not settle."""
    open_ = [i for i, verdict in enumerate(checked) if verdict.verdict == "not_judged"]
    if not open_:
        return list(checked)
    texts = tuple(tuple(part for c in cited[i] for part in (*c.governing, c.text)) for i in open_)
    decision = await run.policy.judge(JudgeView(tuple(drafts[i] for i in open_), texts))
    settled = list(checked)
    for i, verdict in zip(open_, decision.value, strict=False):
        settled[i] = Checked(verdict, decision.reason)
    return settled


def _fallen(drafts: Sequence[Draft], checked: Sequence[Checked]) -> list[Checked]:
    """Let a claim fall with its qualifier: without the condition it would say more than the source."""
    result = list(checked)
    for i, draft in enumerate(drafts):
        other = draft.qualifies
        if other is not None and 0 <= other < len(result):
            bad = next((n for n in (i, other) if result[n].verdict != "supported"), None)
            if bad is not None:
                fallen = replace(result[bad], reason=f"it falls with its qualifier: {result[bad].reason}")
                result[i] = result[other] = fallen
    return result


async def _look_at_files(
    settled: Sequence[DraftState], held: Mapping[int, Evidence], run: Run, path: str
) -> tuple[list[int], list[int]]:
    """Return the cited documents whose files are gone, and those that changed since they were indexed."""
    numbers = {split_id(c)[0] for draft in settled if draft["verdict"] == "supported" for c in draft["cites"]}
    documents = sorted({held[s].reading.document.id for s in numbers if s in held})
    standing = await run.ports.library.standing(f"{path}.standing", documents)
    gone = [document for document in documents if standing.get(document) == "gone"]
    return gone, [document for document in documents if standing.get(document) == "changed"]


def _outcome(
    state: RunState, run: Run, path: str, settled: Sequence[DraftState], files: tuple[list[int], list[int]]
) -> RunState:
    """Decide where the run goes, under its budget, and what is remembered."""
    gone, changed = files
    refused = [draft for draft in settled if draft["verdict"] != "supported"]
    after = _next(state, run, refused, bool(gone))
    decision: DecisionState = {
        "path": path,
        "kind": "cite",
        "value": [[draft["text"], draft["verdict"]] for draft in settled],
        "reason": "; ".join(dict.fromkeys(draft["reason"] for draft in refused)) or "every claim is carried",
        "by": "code",
        "rejected": [draft["text"] for draft in refused],
    }
    return {
        "drafts": list(settled),
        "refused": [*state.get("refused", []), *refused],
        "withdrawn": [*state.get("withdrawn", []), *gone],
        "changed": changed,
        "rewordings": state.get("rewordings", 0) + (after == "answer"),
        "reopened": state.get("reopened", False) or after == "rewrite",
        "round": state["round"] + (after == "rewrite"),
        "needs": [
            {**need, "met": False} if _reopens(after, need["id"], settled) else need
            for need in state["needs"]
        ],
        "after_cite": after,
        "decisions": [decision],
    }


def _next(state: RunState, run: Run, refused: Sequence[DraftState], gone: bool) -> Next:
    """Redo the answer without a withdrawn file, have refused claims reworded, or reopen the need once."""
    if gone and not state.get("withdrawn") and run.ledger.fits(CLOSING_STEPS):
        return "answer"
    if not refused or state["route"] == "none":
        return "render"
    if state.get("rewordings", 0) < MOST_REWORDINGS and run.ledger.fits(CLOSING_STEPS):
        return "answer"
    may_search = not state.get("reopened") and state["round"] < state["rounds_allowed"]
    if may_search and run.ledger.fits(ROUND_STEPS + CLOSING_STEPS):
        return "rewrite"
    return "render"


def _reopens(after: Next, need: str, settled: Sequence[DraftState]) -> bool:
    """Tell whether a need goes back to searching: its own words are searched, never the refused claim's."""
    carried = {draft["need"] for draft in settled if draft["verdict"] == "supported"}
    return after == "rewrite" and need not in carried
