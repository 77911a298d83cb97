"""The small JSON objects a model replies with: schemas that strict servers take, and lenient reading.

Every property of a schema is required and no other allowed. Reading takes the first object in a text,
whatever stands around it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from ..tools.loose_json import json_values
from ..tools.thoughts import without_thoughts

Schema = dict[str, Any]

LONGEST_REPLY = 100_000
"""Characters of a reply that are read; the objects asked for have a few hundred."""

TEXT: Schema = {"type": "string"}


class Form(BaseModel):
    """A reply on the wire; keys nobody asked for are passed over."""

    model_config = ConfigDict(extra="ignore")


F = TypeVar("F", bound=Form)


def fields_of(properties: Mapping[str, Schema]) -> Schema:
    """Return the schema of an object with these properties, all of them required."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def list_of(items: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": items}


def one_of(*values: str) -> Schema:
    """Return the schema of a text that is one of these."""
    return {"type": "string", "enum": list(values)}


def read_object(text: str) -> dict[str, Any] | list[Any] | None:
    """Return the first JSON object or list in a reply, thoughts and fences aside; None when there is none."""
    bare, _ = without_thoughts(text[:LONGEST_REPLY])
    try:
        return next((found for found in json_values(bare) if isinstance(found, dict | list)), None)
    except RecursionError:
        return None


def read_form(found: object, form: type[F]) -> F | str:
    """Return a reply as its form, or in one sentence why it does not fit."""
    if not isinstance(found, dict):
        return "the reply holds no JSON object"
    if {"type", "properties"} <= set(found) and not set(form.model_fields) & set(found):
        return "the reply is the schema itself; reply with an object that fits it"
    try:
        return form.model_validate(found)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in problem["loc"]) or "reply"
        return f"{place}: {problem['msg'].lower()}"[:300]
    except RecursionError:
        return "the reply is nested too deeply"
