"""Node: decide how much searching a question needs, and name its needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from langgraph.runtime import Runtime

from ..tools.analyze import content_words, terms
from .conversation import reply_kind
from .follow_up import make_standalone
from .needs import lacks_subject
from .policy import Decision, Need, Route, RouteView, Turn
from .question import read_question
from .state import MOST_ROUNDS, NeedState, PeriodState, Run, RunState, remember, turns_of
from .times import Period, period_of
from .views import lexicon_of

QUIET = ("empty", "greeting", "thanks", "conversation", "arithmetic")
"""Replies that read the user's own words and nothing else; a task may still name what the corpus knows."""

FEWEST_WORDS = 3
"""Content words from which a later question of a conversation is searched before it is read in context."""


async def route(state: RunState, runtime: Runtime[Run]) -> RunState:
    """Set the starting allowance of rounds and the needs of the question."""
    run = runtime.context
    path = run.step("route", state)
    decision = await _decide(state, run, path)
    decision = await _guard(decision, run, path)
    value = decision.value
    if value.kind == "none" or value.standalone != state["question"]:
        run.early.drop()
    notes = () if value.kind == "none" else await run.ports.library.notes(f"{path}.notes")
    today = _today(run, path)
    needs = [_need_state(need, period_of(need.text, today)) for need in value.needs]
    return {
        "route": value.kind,
        "reply": value.reply if value.kind == "none" else "",
        "standalone": value.standalone,
        "needs": needs,
        "rounds_allowed": {"none": 0, "one": 1, "iterative": MOST_ROUNDS}[value.kind],
        "round": 0 if value.kind == "none" else 1,
        "notes": list(notes),
        "decisions": remember(
            path,
            decision,
            {
                "kind": value.kind,
                "needs": [need["text"] for need in needs],
                "when": [need["when"] for need in needs],
            },
        ),
    }


def _today(run: Run, path: str) -> str:
    """Return the day of the run: the one it is narrowed to, else that of the clock."""
    narrowed = run.filter.valid_at
    return narrowed.isoformat() if narrowed else run.ports.clock.today(f"{path}.today")


async def _decide(state: RunState, run: Run, path: str) -> Decision[Route]:
    """Ask the policy, with round 1's searches of the question running beside it where that pays."""
    question, turns = state["question"], await _readable(turns_of(state), run, path)
    if run.policy.ahead and _stands_alone(question, turns):
        run.early.start(question, run.ports.tools, run.ledger)
    try:
        return await run.policy.route(RouteView(question, turns, run.ports.tools.cards()))
    except BaseException:
        run.early.drop()
        raise


def _stands_alone(question: str, turns: Sequence[Turn]) -> bool:
    """Tell whether a question will be searched as it stands, whatever the policy makes of it."""
    if reply_kind(question, turns):
        return False
    leans = turns and (lacks_subject(question) or len(content_words(question)) < FEWEST_WORDS)
    return not leans and make_standalone(question, turns).text == question


async def _readable(turns: Sequence[Turn], run: Run, path: str) -> tuple[Turn, ...]:
    """Return the turns with those of their claims whose sources may all be read now."""
    kept = []
    for i, turn in enumerate(turns, 1):
        spans = [span for ground in turn.grounds for span in ground.spans]
        quotes = await run.ports.library.quotes(f"{path}.turn.{i}", spans) if spans else ()
        held = {span for span, (text, _) in zip(spans, quotes, strict=True) if text}
        kept.append(
            replace(turn, grounds=tuple(g for g in turn.grounds if g.spans and held.issuperset(g.spans)))
        )
    return tuple(kept)


async def _guard(decision: Decision[Route], run: Run, path: str) -> Decision[Route]:
    """Search all the same when a question to be answered without names something the corpus knows."""
    value = decision.value
    if value.kind != "none" or value.reply in QUIET:
        return decision
    shape = read_question(value.standalone)
    named = [*shape.identifiers, *shape.names]
    lexicon = await lexicon_of(named, run, path)
    if not any(set(terms(name)) - lexicon.unknown for name in named):
        return decision
    return replace(
        decision,
        value=replace(value, kind="one", reply=""),
        reason=f"the sources know “{named[0]}”",
        rejected=(f"none: {decision.reason}",),
    )


def _need_state(need: Need, when: Period) -> NeedState:
    about: PeriodState = {"first": when.first, "last": when.last, "said": when.said, "today": when.today}
    return {
        "id": need.id,
        "text": need.text,
        "subject": need.subject,
        "met": False,
        "missing": "",
        "when": about,
    }
