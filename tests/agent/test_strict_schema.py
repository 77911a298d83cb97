"""Schemas as strict servers take them, from the schemas that pydantic and the tools write."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ConfigDict, Field
from quaere.agent.strict_schema import fits, strict_schema
from quaere.agent.tool_choice import choice_schema


class Claim(BaseModel):
    """A claim."""

    text: str = Field(min_length=1, max_length=200)
    ids: list[str] = Field(default_factory=list, max_length=4)


class Reply(BaseModel):
    """A reply."""

    model_config = ConfigDict(extra="forbid")

    status: Literal["answered", "insufficient"] = "answered"
    claims: list[Claim] = Field(default_factory=list)
    title: str | None = None


class Open(BaseModel):
    """A filter."""

    labels: dict[str, str] = Field(default_factory=dict)


def objects(schema: Any) -> list[dict[str, Any]]:
    """Return every object schema inside a schema."""
    if isinstance(schema, list):
        return [one for part in schema for one in objects(part)]
    if not isinstance(schema, dict):
        return []
    own = (
        [schema]
        if "properties" in schema and isinstance(schema["properties"], dict) and "type" in schema
        else []
    )
    return own + [one for part in schema.values() for one in objects(part)]


def test_every_object_is_closed_and_requires_all_it_names() -> None:
    fitted, strict = strict_schema(Reply.model_json_schema())
    assert strict
    assert len(objects(fitted)) == 2
    for one in objects(fitted):
        assert one["additionalProperties"] is False
        assert one["required"] == list(one["properties"])


def test_a_property_may_be_called_like_a_keyword() -> None:
    fitted, _ = strict_schema(Reply.model_json_schema())
    assert "title" in fitted["properties"]
    assert "title" not in fitted
    assert "default" not in fitted["properties"]["status"]
    assert "maxLength" not in fitted["$defs"]["Claim"]["properties"]["text"]


def test_an_object_of_any_keys_cannot_be_strict() -> None:
    assert not strict_schema(Open.model_json_schema())[1]
    assert not strict_schema({"type": "object"})[1]


@pytest.mark.parametrize("value", [Reply(), Reply(claims=[Claim(text="a", ids=["S1.1"])], title="t")])
def test_what_fits_the_strict_schema_fits_the_schema(value: Reply) -> None:
    fitted, _ = strict_schema(Reply.model_json_schema())
    Draft202012Validator(fitted).validate(value.model_dump())
    assert Reply.model_validate(value.model_dump()) == value


def test_a_choice_of_tools_keeps_their_definitions_within_reach() -> None:
    tools = [
        {"name": "a", "parameters": Reply.model_json_schema()},
        {"name": "b", "parameters": Open.model_json_schema()},
    ]
    validator = Draft202012Validator(choice_schema(tools))
    assert validator.is_valid({"tool": "a", "arguments": {"claims": [{"text": "x"}]}})
    assert validator.is_valid({"tool": "none", "arguments": {}})
    assert not validator.is_valid({"tool": "a", "arguments": {"claims": [{"ids": []}]}})
    assert not validator.is_valid({"tool": "c", "arguments": {}})


@pytest.mark.parametrize(
    ("text", "whether"),
    [
        ('{"route": "one", "more": 1}', True),
        ('Sure: {"route": "one"}', True),
        ('{"rout": "one"}', False),
        ("one", False),
        ('["route"]', False),
        ('{"type": "object", "properties": {"route": {}}, "required": ["route"]}', False),
    ],
)
def test_a_reply_fits_when_it_holds_what_the_schema_requires(text: str, whether: bool) -> None:
    assert fits(text, {"type": "object", "properties": {"route": {}}, "required": ["route"]}) is whether
