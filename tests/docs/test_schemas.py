"""What leaves the program as JSON is what the schemas in docs say, with no key left undocumented."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from quaere import Agent

ROOT = Path(__file__).parents[2]
ASKED = {
    "What does a lost key cost?": "answered",
    "Which permit allows more docks, S-101 or S-102?": "answered",
    "How many docks does permit S-104 allow?": "abstained",
    "Hello!": "answered",
}

Schema = dict[str, Any]


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with Agent.open(tmp_path_factory.mktemp("demo")) as opened:
        opened.add(ROOT / "evals" / "demo" / "docs")
        yield opened


def schema(name: str, closed: bool = False) -> Schema:
    """Return a schema of docs; closed, it also refuses keys that it does not name."""
    read: Schema = json.loads((ROOT / "docs" / f"{name}.schema.json").read_text("utf-8"))
    return _closed(read) if closed else read


def _closed(part: Any) -> Any:
    if isinstance(part, list):
        return [_closed(one) for one in part]
    if not isinstance(part, dict):
        return part
    inner = {name: _closed(one) for name, one in part.items()}
    return {"additionalProperties": False, **inner} if isinstance(part.get("properties"), dict) else inner


@pytest.mark.parametrize("name", ["answer", "search"])
def test_schemas_are_valid_themselves(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))


@pytest.mark.parametrize(("question", "status"), ASKED.items())
def test_answers_are_what_the_schema_says(agent: Agent, question: str, status: str) -> None:
    answer = json.loads(json.dumps(agent.ask(question).to_json()))
    Draft202012Validator(schema("answer", closed=True)).validate(answer)
    assert answer["status"] == status


@pytest.mark.parametrize("query", ["notice period", "ERR-402", "qqqzzz"])
def test_searches_are_what_the_schema_says(agent: Agent, query: str) -> None:
    found = json.loads(json.dumps(agent.search(query, k=5).to_json()))
    Draft202012Validator(schema("search", closed=True)).validate(found)


def test_keys_that_are_not_known_yet_are_let_through(agent: Agent) -> None:
    answer = agent.ask("What does a lost key cost?").to_json() | {"added_later": 1}
    assert Draft202012Validator(schema("answer")).is_valid(answer)
    assert not Draft202012Validator(schema("answer", closed=True)).is_valid(answer)


def test_a_citation_of_a_cell_is_described() -> None:
    cell = {
        "n": 1,
        "kind": "cell",
        "source": "sales",
        "statement": "SELECT total FROM orders WHERE id = ?",
        "parameters": [7],
        "row": 0,
        "column": "total",
        "value": 12.5,
        "result_hash": "9f2c",
        "read_at": "2026-03-01T09:00:00Z",
    }
    whole = schema("answer", closed=True)
    Draft202012Validator(whole["$defs"]["claim"] | {"$defs": whole["$defs"]}).validate(
        {
            "text": "t",
            "kind": "stated",
            "need": None,
            "cites": [],
            "verdict": "supported",
            "citations": [cell],
        }
    )
