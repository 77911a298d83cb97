"""The policy by prompts: five decisions of a model, each with the rules' decision as its safe value.

A one-fact question over text costs one call of the writer, and one of the judge when the writer used words of
its own. Nothing a model replies raises; a model that refuses or is gone does, unless the rules may take over.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from ..tools.errors import ModelUnavailableError
from . import model_grade, model_judge, model_route, model_write
from .metering import MeteredModel
from .model_ask import Mind, ModelOptions
from .policy import Decision, Policy, Route, RouteView

V = TypeVar("V")
T = TypeVar("T")

Decide = Callable[[V], Awaitable[Decision[T]]]


def model_policy(model: MeteredModel, fallback: Policy, options: ModelOptions | None = None) -> Policy:
    """Return the policy of one run over a metered model; `fallback` decides what the model cannot."""
    mind = Mind(model, fallback, options or ModelOptions())
    return Policy(
        name="model",
        route=_route(mind),
        rewrite=_or_else(mind, model_route.rewrite, fallback.rewrite),
        grade=_or_else(mind, model_grade.grade, fallback.grade),
        write=_or_else(mind, model_write.write, fallback.write),
        judge=_or_else(mind, model_judge.judge, fallback.judge),
        ahead=True,
    )


def _route(mind: Mind) -> Decide[RouteView, Route]:
    """Return the first decision, before which room for the smallest answer is kept."""
    decide = _or_else(mind, model_route.route, mind.fallback.route)

    async def route(view: RouteView) -> Decision[Route]:
        mind.model.reserve(model_write.smallest_request(view.question))
        return await decide(view)

    return route


def _or_else(
    mind: Mind, own: Callable[[Mind, V], Awaitable[Decision[T]]], rules: Decide[V, T]
) -> Decide[V, T]:
    """Return a decision that the rules take over when the model is gone and the options let them."""

    async def decide(view: V) -> Decision[T]:
        try:
            return await own(mind, view)
        except ModelUnavailableError as error:
            if not mind.options.degrade:
                raise
            mind.note(f"the model could not be used ({error}); the rules took over")
            return await rules(view)

    return decide
