"""Tell the decisions of a run as they are taken, by wrapping a policy."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from ..graphs.policy import Decision, Grades, Policy, Route, Writing

V = TypeVar("V")
T = TypeVar("T")
Tell = Callable[[str], None]


def watched(policy: Policy, tell: Tell) -> Policy:
    """Return a policy that decides the same and tells each decision with its reason in one line."""
    return replace(
        policy,
        route=_watched(policy.route, tell),
        rewrite=_watched(policy.rewrite, tell),
        grade=_watched(policy.grade, tell),
        write=_watched(policy.write, tell),
        judge=_watched(policy.judge, tell),
    )


def _watched(
    decide: Callable[[V], Awaitable[Decision[T]]], tell: Tell
) -> Callable[[V], Awaitable[Decision[T]]]:
    async def told(view: V) -> Decision[T]:
        decision = await decide(view)
        tell(line_of(decision))
        return decision

    return told


def line_of(decision: Decision[Any]) -> str:
    """Return what was decided by whom and why, with what was rejected, on one line."""
    parts = [f"{decision.kind}: {_short(decision.value)}"]
    if decision.reason:
        parts.append(f"because {decision.reason}")
    parts.append(f"by {decision.by}")
    parts += [f"rejected {one}" for one in decision.rejected]
    return " ".join("; ".join(parts).split())


def _short(value: object) -> str:
    if isinstance(value, Route):
        return f"{value.kind}, needs: {' | '.join(need.text for need in value.needs) or 'none'}"
    if isinstance(value, Grades):
        kept = [f"S{s} {grade.value}" for s, grade in sorted(value.grades.items()) if grade.value != "off"]
        return f"{value.ladder} ({', '.join(kept) or 'nothing kept'})"
    if isinstance(value, Writing):
        return " | ".join(f"{draft.text} ({', '.join(draft.cites)})" for draft in value.drafts) or "no claims"
    if isinstance(value, tuple):
        return " | ".join(_call(one) for one in value) or "nothing more"
    return str(value)


def _call(one: object) -> str:
    tool, arguments = getattr(one, "tool", None), getattr(one, "arguments", None)
    return str(one) if tool is None else f"{tool}({arguments})"
