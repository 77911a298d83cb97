"""Hold the arguments of a planned call against the JSON Schema of its tool, before it is admitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (Mapping,),
    "null": (type(None),),
}


def misfit(schema: Mapping[str, Any], value: object, place: str = "arguments") -> str:
    """Return in a few words where a value does not fit a schema, or "" when it does.

    Types, enum, const, bounds, lengths, required and unknown properties, items and anyOf are looked at; the
    tool itself checks what else its schema says.
    """
    if "anyOf" in schema:
        found = [misfit(part, value, place) for part in schema["anyOf"]]
        return "" if "" in found else found[0]
    return (
        _of_type(schema, value, place)
        or _allowed(schema, value, place)
        or _within(schema, value, place)
        or _inside(schema, value, place)
    )


def _of_type(schema: Mapping[str, Any], value: object, place: str) -> str:
    names = schema.get("type", ())
    names = [names] if isinstance(names, str) else list(names)
    if not names or any(_is(value, name) for name in names):
        return ""
    return f"{place} is no {' or '.join(names)}"


def _is(value: object, name: str) -> bool:
    if isinstance(value, bool) and name != "boolean":
        return False
    return isinstance(value, _TYPES.get(name, (object,)))


def _allowed(schema: Mapping[str, Any], value: object, place: str) -> str:
    options = [schema["const"]] if "const" in schema else schema.get("enum", [value])
    return "" if value in options else f"{place} is none of {', '.join(map(str, options))}"


def _within(schema: Mapping[str, Any], value: object, place: str) -> str:
    """Look at the bounds of a number and the length of a text."""
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else None
    if number is not None and number < schema.get("minimum", number):
        return f"{place} is below {schema['minimum']}"
    if number is not None and number > schema.get("maximum", number):
        return f"{place} is above {schema['maximum']}"
    if isinstance(value, str) and len(value) < schema.get("minLength", 0):
        return f"{place} is too short"
    if isinstance(value, str) and len(value) > schema.get("maxLength", len(value)):
        return f"{place} is longer than {schema['maxLength']:,} characters"
    return ""


def _inside(schema: Mapping[str, Any], value: object, place: str) -> str:
    """Look at the properties of an object and the items of a list."""
    if isinstance(value, list | tuple):
        found = (misfit(schema.get("items") or {}, item, f"{place}.{i}") for i, item in enumerate(value))
        return next((why for why in found if why), "")
    if not isinstance(value, Mapping):
        return ""
    properties = schema.get("properties", {})
    missing = [name for name in schema.get("required", ()) if name not in value]
    if missing:
        return f"{place} has no {missing[0]!r}"
    unknown = [name for name in value if name not in properties]
    if unknown and schema.get("additionalProperties") is False:
        return f"{place} knows no {str(unknown[0])[:40]!r}, but {', '.join(properties)}"
    found = (misfit(properties[name], value[name], name) for name in value if name in properties)
    return next((why for why in found if why), "")
