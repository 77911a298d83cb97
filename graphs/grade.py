"""Node: grade the evidence, say which needs are met, and whether another round is worth its cost."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph.runtime import Runtime

from .budget import CLOSING_STEPS, ROUND_STEPS
from .match import lacks
from .policy import Evidence, Grade, Grades, GradeView, Need
from .question import read_question
from .sides import set_back
from .state import MOST_ROUNDS, EvidenceState, NeedState, Run, RunState, all_needs, remember
from .views import held_evidence, run_lexicon

MOST_STALE = 2
"""Rounds without progress that end the loop."""


async def grade(state: RunState, runtime: Runtime[Run]) -> RunState:
    """Grade what is held, close needs, and decide whether the loop goes on."""
    run = runtime.context
    path = run.step("grade", state)
    needs = all_needs(state)
    held = await held_evidence(state, run, path)
    view = GradeView(state["standalone"], needs, held, await run_lexicon(state, run, path))
    decision = await run.policy.grade(view)
    grades = set_back(_vetoed(decision.value, needs, held), view)
    evidence = _graded(state.get("evidence", []), grades)
    need_states = _closed(state["needs"], grades)
    stale = 0 if _progressed(state, evidence, need_states) else state.get("stale", 0) + 1
    allowed = _allowance(state, need_states)
    continuing = _continues(state, need_states, stale, allowed, run)
    return {
        "evidence": evidence,
        "needs": need_states,
        "ladder": grades.ladder,
        "stale": stale,
        "rounds_allowed": allowed,
        "continuing": continuing,
        "round": state["round"] + continuing,
        "decisions": remember(path, decision, {"ladder": grades.ladder, "met": list(grades.met)}),
    }


def _vetoed(grades: Grades, needs: Sequence[Need], held: Sequence[Evidence]) -> Grades:
    """Take back support where an identifier or quoted string of the need stands nowhere near the passage."""
    shapes = {need.id: read_question(need.text) for need in needs}
    by_number = {item.s: item for item in held}
    kept: dict[int, Grade] = {}
    for s, given in grades.grades.items():
        if s not in by_number:
            continue
        fine = tuple(need for need in given.needs if need in shapes and not lacks(shapes[need], by_number[s]))
        lost = bool(given.needs) and not fine
        kept[s] = (
            Grade("related", (), "lacks an identifier of the question")
            if lost
            else (Grade(given.value, fine, given.reason))
        )
    met = tuple(
        n for n in grades.met if any(n in item.needs for item in kept.values()) or _unnumbered(grades, n)
    )
    ladder = grades.ladder if len(met) == len(grades.met) else "partial" if met else "not_in_sources"
    return Grades(kept, met, ladder, grades.missing)


def _unnumbered(grades: Grades, need: str) -> bool:
    """Tell whether a policy called a need met without naming a passage; the citation check decides then."""
    return not any(need in item.needs for item in grades.grades.values())


def _graded(items: Sequence[EvidenceState], grades: Grades) -> list[EvidenceState]:
    graded: list[EvidenceState] = []
    for item in items:
        grade_ = grades.grades.get(item["s"], Grade("ungraded"))
        graded.append({**item, "grade": grade_.value, "needs": list(grade_.needs), "reason": grade_.reason})
    return graded


def _closed(needs: Sequence[NeedState], grades: Grades) -> list[NeedState]:
    return [
        {**need, "met": need["id"] in grades.met, "missing": grades.missing.get(need["id"], "")}
        for need in needs
    ]


def _progressed(state: RunState, evidence: Sequence[EvidenceState], needs: Sequence[NeedState]) -> bool:
    """Tell whether a need closed, or a passage new in this round supports one that was open."""
    was_open = {need["id"] for need in state["needs"] if not need["met"]}
    closed = any(need["met"] and need["id"] in was_open for need in needs)
    new = (item for item in evidence if item["round"] == state["round"])
    return closed or any(was_open & set(item["needs"]) for item in new)


def _allowance(state: RunState, needs: Sequence[NeedState]) -> int:
    """Raise the allowance of rounds when a need stays open after the rounds first thought enough."""
    if any(not need["met"] for need in needs):
        return max(state["rounds_allowed"], MOST_ROUNDS)
    return state["rounds_allowed"]


def _continues(state: RunState, needs: Sequence[NeedState], stale: int, allowed: int, run: Run) -> bool:
    """Tell whether a need is open, rounds and budget are left and progress is possible."""
    if all(need["met"] for need in needs) or state["round"] >= allowed or stale >= MOST_STALE:
        return False
    return run.ledger.may_do(ROUND_STEPS + CLOSING_STEPS)
