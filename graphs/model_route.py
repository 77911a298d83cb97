"""Route and rewrite by a model: one call gives route, needs and first tool calls; later ones follow up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..tools.analyze import content_words, terms
from .calls import TEXT_SEARCHES
from .faithful import invents, loses, prose
from .fence import evidence_block, fitting, fold, need_lines, question_line
from .follow_up import make_standalone
from .model_ask import Mind, Outcome, Read, Task, ask
from .model_plan import READ_ON, Planning, calls_schema, plan_calls, tool_specs, wanted_calls
from .needs import MOST_NEEDS, lacks_subject, split_needs
from .policy import Decision, Need, PlannedCall, RewriteView, Route, RouteKind, RouteView, Turn
from .ports import Reply, ToolCard
from .wire import TEXT, Form, Schema, fields_of, list_of, one_of, read_form, read_object

MOST_TURNS = 4
"""Earlier turns a model is shown, the latest ones."""

MOST_SHOWN = 4
"""Passages a model is shown when it plans what to ask next."""

LONGEST_STANDALONE = 500
"""Characters of a question made standalone at most."""

LONE_WORDS = 24
"""Words of a question up to which the rules are sure that it asks one thing."""

MOST_VARIANTS = 3
"""Other wordings of a question that are searched."""

STRATEGIES = {
    "hyde": "- hyde: one sentence such as a source might hold that answers the question.",
    "step_back": "- step_back: the more general question behind it.",
    "multi_query": "- variants: the question in up to three other wordings that keep all names and numbers.",
}


class PlanForm(Form):
    """The reply of the first call."""

    route: str
    standalone: str = ""
    needs: tuple[str, ...] = ()
    hyde: str = ""
    step_back: str = ""
    variants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Plan:
    """A route with the calls that go with it, and what of the reply was left out."""

    route: Route
    calls: tuple[PlannedCall, ...]
    rejected: tuple[str, ...]


async def route(mind: Mind, view: RouteView) -> Decision[Route]:
    """Return the route; the calls that came with it are kept for round 1."""
    by_rules = await mind.fallback.route(view)
    if by_rules.value.kind == "none" or _is_sure(mind, view, by_rules.value):
        return by_rules
    tools = tuple(card for card in view.tools if card.name != READ_ON)
    outcome = await ask(mind, _first_task(mind, view, by_rules.value, tools))
    if outcome.value is None:
        mind.planned = _safe_calls(view, by_rules.value, outcome)
        return replace(
            by_rules, by=outcome.by, reason=f"{outcome.by}: {outcome.why}", rejected=outcome.rejected
        )
    plan = outcome.value
    rejected = (*plan.rejected, *outcome.rejected)
    mind.planned = Decision("rewrite", plan.calls, "planned with the route", "model", rejected=rejected)
    reason = "the model: " + ("asks several things" if len(plan.route.needs) > 1 else "asks one thing")
    return Decision("route", plan.route, reason, "model", rejected=plan.rejected)


def _is_sure(mind: Mind, view: RouteView, route: Route) -> bool:
    """Tell whether the rules may route: text is all there is, and one plain question stands alone."""
    only_text = {card.name for card in view.tools} <= {*TEXT_SEARCHES, READ_ON}
    strategies = mind.options.strategies
    plain = not (strategies.hyde or strategies.step_back or strategies.multi_query)
    one = len(route.needs) == 1 and len(view.question.split()) <= LONE_WORDS
    return only_text and plain and one and not _leans(view)


def _leans(view: RouteView) -> bool:
    """Tell whether a question may mean something from the turns before it."""
    if not view.turns:
        return False
    moved = make_standalone(view.question, view.turns).text != view.question
    return moved or lacks_subject(view.question) or len(content_words(view.question)) <= 2


def _first_task(mind: Mind, view: RouteView, by_rules: Route, tools: Sequence[ToolCard]) -> Task[_Plan]:
    chosen = mind.options.strategies
    on = [name for name in STRATEGIES if getattr(chosen, name)]
    properties: dict[str, Schema] = {
        "route": one_of("one", "iterative", "none"),
        "standalone": TEXT,
        "needs": list_of(TEXT),
    }
    properties |= {("variants" if name == "multi_query" else name): TEXT for name in on}
    if chosen.multi_query:
        properties["variants"] = list_of(TEXT)
    if tools:
        properties["calls"] = calls_schema(tools)
    return Task(
        decision="rewrite",
        role="router",
        fields={
            "question": question_line(view.question),
            "conversation": _conversation(mind, view.turns),
            "strategies": "\n".join(STRATEGIES[name] for name in on),
        },
        schema=fields_of(properties),
        read=lambda reply: _read_plan(reply, mind, view, by_rules),
        tools=tool_specs(tools, without_titles=bool(mind.options.local)),
        max_tokens=600,
    )


def _conversation(mind: Mind, turns: Sequence[Turn]) -> str:
    """Return the user's earlier questions, and claims with their documents; answers never stand in it."""
    lines: list[str] = []
    for turn in turns[-MOST_TURNS:]:
        lines.append(
            f"The user asked: {fold(turn.standalone or turn.question, 400)} ({fold(turn.status, 20)})"
        )
        shown = [ground for ground in turn.grounds if ground.source not in mind.options.local]
        lines += [f"  {fold(one.document, 120)} says: {fold(one.text, 400)}" for one in shown[:3]]
    return "\n".join(lines) or "(none)"


def _read_plan(reply: Reply, mind: Mind, view: RouteView, by_rules: Route) -> Read[_Plan]:
    """Read route, needs and calls; calls alone are a plan too, and the rules' route goes with them."""
    found = read_object(reply.text)
    form = read_form(found, PlanForm)
    wanted = wanted_calls(reply, found)
    if isinstance(form, str) and not wanted:
        return Read(None, (form,))
    rejected: list[str] = []
    route_ = by_rules if isinstance(form, str) else _route_of(form, view, by_rules, rejected)
    planning = Planning(
        question=route_.standalone,
        needs=route_.needs,
        tools=tuple(card for card in view.tools if card.name != READ_ON),
        asked=frozenset(),
        passages=frozenset(),
        known=(view.question, route_.standalone, *_said(view.turns)),
        first=True,
    )
    planned = plan_calls(wanted, planning)
    extra = () if isinstance(form, str) else _strategy_calls(form, mind, planning, rejected)
    calls = (*(planned.value or ()), *extra)
    return Read(_Plan(route_, calls, tuple(rejected)), planned.problems, planned.dropped)


def _said(turns: Sequence[Turn]) -> list[str]:
    """Return the texts of earlier turns that a question may lean on."""
    grounds = [ground.text for turn in turns for ground in turn.grounds]
    return [*(turn.question for turn in turns), *(turn.standalone for turn in turns), *grounds]


def _route_of(form: PlanForm, view: RouteView, by_rules: Route, rejected: list[str]) -> Route:
    """Return the route of a reply as far as it keeps faith with the question."""
    if form.route == "none":
        rejected.append("none: the model alone cannot leave the sources out")
    standalone = _standalone(form, view, by_rules, rejected)
    needs = _needs(form, standalone, rejected) or split_needs(standalone)[0]
    kind: RouteKind = "iterative" if form.route == "iterative" or len(needs) > 1 else "one"
    return Route(kind, standalone, needs)


def _standalone(form: PlanForm, view: RouteView, by_rules: Route, rejected: list[str]) -> str:
    """Return the question as the model completed it from earlier turns; without turns it stays as asked."""
    text = fold(form.standalone, LONGEST_STANDALONE)
    if not view.turns or not text or text == view.question:
        return by_rules.standalone if not view.turns or not text else view.question
    known = (view.question, *_said(view.turns))
    why = prose(text) or loses(view.question, text) or invents(text, known) or _strays(text, known)
    if why:
        rejected.append(f"standalone {text[:80]!r}: {why}")
        return by_rules.standalone
    return text


def _strays(text: str, known: Sequence[str]) -> str:
    """Return why a text is about something else: it shares no word with what was said, or ""."""
    shares = set(terms(text)) & {term for one in known for term in terms(one)}
    return "" if shares and len(text) < LONGEST_STANDALONE else "it is about something else"


def _needs(form: PlanForm, standalone: str, rejected: list[str]) -> tuple[Need, ...]:
    """Return the model's needs when together they keep all that was asked; the rules' are taken otherwise."""
    texts = list(dict.fromkeys(fold(text, LONGEST_STANDALONE) for text in form.needs if text.strip()))
    if len(texts) < 2:
        return ()
    known = (standalone,)
    why = loses(standalone, " ".join(texts)) if len(texts) <= MOST_NEEDS else f"{len(texts)} needs"
    for text in texts:
        why = why or prose(text) or invents(text, known) or _strays(text, known)
    if why:
        rejected.append(f"needs: {why}")
        return ()
    return tuple(Need(f"n{i}", text) for i, text in enumerate(texts, 1))


def _strategy_calls(
    form: PlanForm, mind: Mind, planning: Planning, rejected: list[str]
) -> tuple[PlannedCall, ...]:
    """Return the searches of the strategies that are switched on, as far as they keep faith."""
    chosen = mind.options.strategies
    known = {card.name for card in planning.tools}
    both = [tool for tool in TEXT_SEARCHES if tool in known]
    by_meaning = [tool for tool in both if tool == "vector_search"]
    queries = [(form.hyde, by_meaning, "")] if chosen.hyde else []
    queries += [(form.step_back, both, "")] if chosen.step_back else []
    if chosen.multi_query:
        queries += [(text, both, planning.question) for text in form.variants[:MOST_VARIANTS]]
    calls: list[PlannedCall] = []
    for text, tools, kept in queries:
        query = fold(text, LONGEST_STANDALONE)
        why = prose(query) or (loses(kept, query) or invents(query, planning.known) if kept else "")
        if why:
            rejected.append(f"{query[:60]!r}: {why}")
            continue
        calls += [PlannedCall(tool, {"query": query}, planning.needs[0].id) for tool in tools]
    return tuple(calls)


def _safe_calls(view: RouteView, route_: Route, outcome: Outcome[_Plan]) -> Decision[tuple[PlannedCall, ...]]:
    """Return the safe plan: the question as asked to every tool that takes a query."""
    takes = [card.name for card in view.tools if set(card.schema.get("required", ())) == {"query"}]
    need = route_.needs[0].id
    calls = tuple(PlannedCall(name, {"query": route_.standalone}, need) for name in takes)
    reason = f"{outcome.by}: the question as asked to every tool ({outcome.why})"
    return Decision("rewrite", calls, reason, outcome.by, rejected=outcome.rejected)


async def rewrite(mind: Mind, view: RewriteView) -> Decision[tuple[PlannedCall, ...]]:
    """Return the calls planned with the route in round 1, and those that follow up in later rounds."""
    if view.round == 1:
        planned, mind.planned = mind.planned, None
        by_rules = await mind.fallback.rewrite(view)
        if planned is None:
            return by_rules
        return replace(planned, value=(*planned.value, *by_rules.value))
    outcome = await ask(mind, _follow_task(mind, view))
    if outcome.value is not None:
        return Decision("rewrite", outcome.value, "the model follows up", "model", rejected=outcome.rejected)
    by_rules = await mind.fallback.rewrite(view)
    reason = f"{outcome.by}: {outcome.why}; {by_rules.reason}"
    return replace(by_rules, by=outcome.by, reason=reason, rejected=outcome.rejected)


def _follow_task(mind: Mind, view: RewriteView) -> Task[tuple[PlannedCall, ...]]:
    shown = [item for item in view.evidence if item.reading.document.source not in mind.options.local]
    best = sorted(shown, key=lambda item: (item.grade == "off", -item.score, item.s))[:MOST_SHOWN]
    best = list(fitting(best, mind.options.evidence_bytes // 2))
    seen = [text for item in best for text in item.reading.texts]
    planning = Planning(
        question=view.question,
        needs=view.needs,
        tools=view.tools,
        asked=frozenset(view.asked),
        passages=frozenset(item.s for item in shown),
        known=(view.question, *(need.text for need in view.needs), *seen),
        first=False,
    )
    failed = [f"{fold(text, 200)} (failed)" for text in view.failed[-6:]]
    return Task(
        decision="follow",
        role="router",
        fields={
            "question": question_line(view.question),
            "needs": need_lines(view.needs),
            "asked": "\n".join([*(fold(key, 200) for key in view.asked[-12:]), *failed]) or "(nothing)",
            "evidence": evidence_block(best),
        },
        schema=fields_of({"calls": calls_schema(view.tools)}),
        read=lambda reply: _read_follow(reply, planning),
        tools=tool_specs(view.tools, without_titles=bool(mind.options.local)),
        max_tokens=400,
    )


def _read_follow(reply: Reply, planning: Planning) -> Read[tuple[PlannedCall, ...]]:
    """Read the next calls; an object with an empty list says that nothing is left to try."""
    found = read_object(reply.text)
    wanted = wanted_calls(reply, found)
    empty = isinstance(found, dict) and found.get("calls") == []
    if not wanted and not empty:
        return Read(None, ("the reply holds no calls",))
    planned = plan_calls(wanted, planning)
    if planned.value or empty:
        return planned
    return Read(None, planned.problems or planned.dropped)
