import typing

from quaere.graphs import build as module
from quaere.graphs.budget import Budget
from quaere.graphs.build import build, recursion_limit

NODES = {"route", "rewrite", "search", "grade", "answer", "cite", "render"}


def test_the_drawing_shows_every_node_and_every_way():
    drawing = build().get_graph().draw_mermaid()
    for one, other in [
        ("route", "rewrite"),
        ("route", "answer"),
        ("rewrite", "search"),
        ("rewrite", "answer"),
        ("search", "grade"),
        ("grade", "rewrite"),
        ("grade", "answer"),
        ("answer", "cite"),
        ("cite", "answer"),
        ("cite", "rewrite"),
        ("cite", "render"),
    ]:
        assert any(
            line.strip().startswith(f"{one} -") and line.strip().rstrip(";").endswith(f" {other}")
            for line in drawing.splitlines()
        ), f"{one} -> {other} is not drawn"


def test_every_way_a_decision_names_is_a_node():
    for name, function in vars(module).items():
        if name.startswith("after_"):
            ways = typing.get_args(typing.get_type_hints(function)["return"])
            assert set(ways) <= NODES


def test_the_backstop_lies_above_every_budget():
    assert recursion_limit(Budget(steps=24)) > 24
