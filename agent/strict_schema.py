"""Fit a JSON Schema to what strict servers take, and tell whether a reply follows one at its root."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..tools.loose_json import json_values

_REFUSED = {
    "default",
    "examples",
    "maxLength",
    "maxProperties",
    "minLength",
    "minProperties",
    "title",
    "uniqueItems",
}
"""Keywords that strict servers refuse; what they ask for is checked when the reply is read."""

_BY_NAME = {"properties", "$defs", "definitions"}
"""Keywords whose values are schemas by name, so that their keys are no keywords."""


def strict_schema(schema: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return a schema as strict servers take it, and whether it can be strict: no object is open."""
    fitted = _fitted(schema)
    return fitted, not _is_open(fitted)


def fits(text: str, schema: Mapping[str, Any]) -> bool:
    """Tell whether a text holds an object with all the properties that a schema requires at its root."""
    required = set(schema.get("required", ()))
    return any(isinstance(value, dict) and required <= value.keys() for value in json_values(text))


def _fitted(schema: Any) -> Any:  # noqa: ANN401  (any part of a JSON Schema)
    if isinstance(schema, list | tuple):
        return [_fitted(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    fitted = {
        key: {name: _fitted(part) for name, part in value.items()} if key in _BY_NAME else _fitted(value)
        for key, value in schema.items()
        if key not in _REFUSED
    }
    if isinstance(fitted.get("properties"), dict) and not fitted.get("additionalProperties"):
        fitted |= {"additionalProperties": False, "required": list(fitted["properties"])}
    return fitted


def _is_open(schema: object) -> bool:
    """Tell whether some object may hold properties that are not named."""
    if isinstance(schema, list):
        return any(_is_open(part) for part in schema)
    if not isinstance(schema, dict):
        return False
    is_object = schema.get("type") == "object"
    if is_object and ("properties" not in schema or schema.get("additionalProperties") is not False):
        return True
    return any(_is_open(part) for part in schema.values())
