"""The runtime's part of choosing tools: schemas sent, choices honoured, wrong ones recovered from."""

from __future__ import annotations

import json

import pytest
from quaere.agent.assemble import Agent
from quaere.agent.toolbox import Toolbox
from quaere.graphs.ports import ModelCall, Observation, Reply, ToolCard
from quaere.tools import search_tools
from quaere.tools.evidence import NO_FILTER
from scripted_model import ScriptedModel, run


def schema(**properties):
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


TEXT, WHOLE = {"type": "string", "minLength": 1}, {"type": "integer", "minimum": 1, "maximum": 100}
MORE = (
    ToolCard("sql_query", "Ask the shop's database one SELECT.", schema(statement=TEXT)),
    ToolCard("calendar", "Look up what happens on a day.", schema(day=TEXT)),
    ToolCard("convert", "Convert an amount between units.", schema(amount=WHOLE, unit={"enum": ["kg", "lb", "km", "mi"]})),
    ToolCard("phone_book", "Find the extension of a person.", schema(name=TEXT)),
)  # fmt: skip
RIGHT = {
    "sql_query": {"statement": "SELECT COUNT(*) FROM parts"},
    "calendar": {"day": "2026-05-03"},
    "convert": {"amount": 12, "unit": "kg"},
    "phone_book": {"name": "Orlo Finch"},
    "keyword_search": {"query": "badge desk"},
    "vector_search": {"query": "where badges are paid"},
}
WRONG = (
    Reply("", calls=(ModelCall("", "no_such_tool", "{}"),)),
    Reply("", calls=(ModelCall("", "sql_query", '{"sql": 1}'),)),
    Reply("", calls=(ModelCall("", "convert", '{"amount": 5000, "unit": "kg"}'),)),
    Reply("I would use a tool."),
    Reply('{"route": "one", "standalone": '),
)
QUESTIONS = [(tool, form, f"Is a badge {'of wood ' * i}sold, and where is it?") for i, (tool, form) in enumerate(
    [(tool, form) for form in range(7) for tool in RIGHT][:40]
)]  # fmt: skip


class Tools:
    """The text tools with four more; each call is remembered in order."""

    def __init__(self, agent):
        reader = agent.corpus.reader(agent.access, NO_FILTER)
        self.inner = Toolbox(search_tools.build_tools(search_tools.Seat(reader, agent.encoder)))
        self.made = []

    def cards(self):
        return tuple(card for card in (*self.inner.cards(), *MORE) if card.name != "expand")

    async def call(self, path, name, arguments, seen):
        self.made.append((name, dict(arguments)))
        if name in {card.name for card in MORE}:
            return Observation(path, name, "ok", "nothing found", source=name)
        return await self.inner.call(path, name, arguments, seen)


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    (home / "docs").mkdir()
    (home / "docs" / "badge.md").write_text("A replacement badge costs 12 EUR. It is paid at the desk.")
    with Agent.open(home) as opened:
        opened.add(home / "docs")
        yield opened


def choices(tool, form):
    """Return the replies of a model that chooses a tool: natively, in its object, as text, or after an error."""
    arguments = RIGHT[tool]
    native = Reply("", calls=(ModelCall("call_1", tool, json.dumps(arguments)),))
    listed = {
        "route": "one",
        "standalone": "",
        "needs": [],
        "calls": [{"tool": tool, "need": "n1", "arguments": json.dumps(arguments)}],
    }
    text = f"```json\n{json.dumps({'name': tool, 'parameters': arguments})}\n```"
    return ([native], [listed], [text], *([wrong, native] for wrong in WRONG))[form]  # fmt: skip


def test_the_right_first_tool_is_called_on_forty_questions_over_six_tools(agent):
    right = 0
    for tool, form, question in QUESTIONS:
        tools = Tools(agent)
        model = ScriptedModel(
            {
                "rewrite": choices(tool, form),
                "grade": [{"grades": []}],
                "follow": [{"calls": []}],
                "write": ["INSUFFICIENT"],
            }
        )
        run(agent, model, question, tools=tools)
        chosen = [made for made in tools.made if made[1].get("query") != question]
        right += chosen[:1] == [(tool, RIGHT[tool])]
        names = [spec["function"]["name"] for spec in model.requests[0][1].tools]
        assert names == [card.name for card in tools.cards()], "every schema is sent"
        assert model.prompts.count("rewrite") == len(choices(tool, form))
    assert right >= 36, f"{right} of 40"


def test_schemas_travel_as_they_are(agent):
    model = ScriptedModel(
        {
            "rewrite": [{"route": "one", "standalone": "", "needs": [], "calls": []}],
            "grade": [{"grades": []}],
            "follow": [{"calls": []}],
            "write": ["INSUFFICIENT"],
        }
    )
    run(agent, model, "What does a replacement badge cost?", tools=Tools(agent))
    sent = {spec["function"]["name"]: spec["function"]["parameters"] for spec in model.requests[0][1].tools}
    assert sent["convert"] == MORE[2].schema
    assert sent["keyword_search"]["properties"]["query"]["type"] == "string"
