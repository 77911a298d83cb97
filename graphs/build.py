"""The graph of a run: nodes return values, edges decide.

LangGraph is used for four things: `context_schema` hands the ports, the policy and the ledger to nodes
without storing them; typed conditional edges draw themselves; its task stream reports progress; a run can
be drained at a step boundary. Its recursion limit is only a backstop behind the ledger. Each question is a
fresh thread whose state is JSON.
"""

from __future__ import annotations

from typing import Any, Literal

from langgraph.graph import END, START, StateGraph

from .answer import answer
from .budget import Budget
from .cite import cite
from .grade import grade
from .render import render
from .rewrite import rewrite
from .route import route
from .search import search
from .state import Run, RunState

BACKSTOP = 8
"""Steps LangGraph's own limit lies above the budget, so that the budget always speaks first."""


async def after_route(state: RunState) -> Literal["rewrite", "answer"]:
    """Search unless everything needed is in the conversation."""
    return "answer" if state["route"] == "none" else "rewrite"


async def after_rewrite(state: RunState) -> Literal["search", "answer"]:
    """Answer from what is held when there is nothing new to ask."""
    return "search" if state["calls"] else "answer"


async def after_grade(state: RunState) -> Literal["rewrite", "answer"]:
    """Go round again while a need is open and rounds, budget and progress allow."""
    return "rewrite" if state["continuing"] else "answer"


async def after_cite(state: RunState) -> Literal["answer", "rewrite", "render"]:
    """Reword once, reopen a need once, then render what is carried."""
    return state["after_cite"]  # type: ignore[return-value]  # a str in JSON, one of the three in cite


def build(checkpointer: Any = None) -> Any:  # noqa: ANN401  (LangGraph's compiled graph has four type parameters)
    """Return the compiled graph; give a checkpointer only to deploy it on a server that brings threads."""
    graph = StateGraph(RunState, context_schema=Run)
    for name, node in (
        ("route", route),
        ("rewrite", rewrite),
        ("search", search),
        ("grade", grade),
        ("answer", answer),
        ("cite", cite),
        ("render", render),
    ):
        graph.add_node(name, node)
    graph.add_edge(START, "route")
    graph.add_conditional_edges("route", after_route)
    graph.add_conditional_edges("rewrite", after_rewrite)
    graph.add_edge("search", "grade")
    graph.add_conditional_edges("grade", after_grade)
    graph.add_edge("answer", "cite")
    graph.add_conditional_edges("cite", after_cite)
    graph.add_edge("render", END)
    return graph.compile(checkpointer=checkpointer)


def recursion_limit(budget: Budget) -> int:
    """Return LangGraph's backstop for a budget."""
    return budget.steps + BACKSTOP
