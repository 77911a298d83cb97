"""Choose tools without native tool calls: by a schema-constrained object, or by what stands in the text."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..graphs.ports import Request
from ..tools.loose_json import json_values
from .chat_reply import Call, Completion, written
from .strict_schema import fits

NO_TOOL = "none"
"""What a model names when it wants no tool."""

WORDS = (
    'Choose one of these tools: reply with {{"tool": its name, "arguments": an object that fits its '
    'parameters}}, or with {{"tool": "none", "arguments": {{}}}} when none helps.\n{tools}'
)
WORDS_BESIDE = (
    'Reply with {{"reply": …, "call": …}}. As call, choose one of these tools: {{"tool": its name, '
    '"arguments": an object that fits its parameters}}; "tool": "none" when none helps.\n{tools}'
)

_NAMES = ("tool", "name", "tool_name", "function", "function_name")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "tool_input")
_TAGGED = re.compile(r"<(?:tool_call|function_call|tools?)>(.*?)(?:</|\Z)", re.DOTALL)
_FUNCTION_TAG = re.compile(r"<function=([\w.-]+)>(.*?)(?:</function>|\Z)", re.DOTALL)


def bare_tools(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return tools as name, description and parameters, from either way a request may hold them."""
    bare = (tool.get("function", tool) for tool in tools)
    return [
        {
            "name": tool["name"],
            "description": tool.get("description", ""),
            "parameters": tool.get("parameters")
            or tool.get("schema")
            or {"type": "object", "properties": {}},
        }
        for tool in bare
    ]


def choice_schema(request: Request) -> dict[str, Any]:
    """Return the schema of a choice between the tools, beside the reply where a reply is wanted too."""
    shared: dict[str, Any] = {}
    tools = [*bare_tools(request.tools), _NONE]
    one = {"anyOf": [_one_choice(tool["name"], _hoisted(tool["parameters"], shared)) for tool in tools]}
    schema: dict[str, Any] = one
    if request.schema is not None:
        properties = {"reply": _hoisted(request.schema, shared), "call": one}
        schema = {"type": "object", "properties": properties, "required": ["reply", "call"]}
    return schema | ({"$defs": shared} if shared else {})


_NONE: Mapping[str, Any] = {"name": NO_TOOL, "parameters": {"type": "object", "properties": {}}}


def _one_choice(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"tool": {"enum": [name]}, "arguments": parameters},
        "required": ["tool", "arguments"],
    }


def _hoisted(schema: Mapping[str, Any], shared: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without its definitions, which references look for at the root."""
    shared |= schema.get("$defs", {})
    return {key: value for key, value in schema.items() if key != "$defs"}


def choice_words(request: Request) -> str:
    """Return the words that ask for a choice and name the tools."""
    words = WORDS if request.schema is None else WORDS_BESIDE
    tools = (json.dumps(tool, ensure_ascii=False, default=str) for tool in bare_tools(request.tools))
    return words.format(tools="\n".join(tools))


def read_calls(completion: Completion, request: Request, native: bool) -> Completion:
    """Return a completion whose tool calls are out of its text, where a server left them there."""
    if completion.calls or not request.tools:
        return completion
    found = _called(completion.text, request) if native else _chosen(completion.text)
    if found is None:
        return completion
    text, calls = found
    return replace(
        completion, text=text, calls=tuple(calls), finish="tool_calls" if calls else completion.finish
    )


def _called(text: str, request: Request) -> tuple[str, list[Call]] | None:
    if request.schema is not None and fits(text, request.schema):
        return None
    calls = calls_in(text, [tool["name"] for tool in bare_tools(request.tools)])
    return ("", calls) if calls else None


def _chosen(text: str) -> tuple[str, list[Call]] | None:
    """Return the reply and the calls of a choice asked for by words; None where the text is no choice."""
    for value in json_values(text):
        if isinstance(value, dict) and "reply" in value and "call" in value:
            call = value["call"]
            calls = _calls_of(call if isinstance(call, list) else [call], frozenset())
            return json.dumps(value["reply"], ensure_ascii=False), calls
    calls = calls_in(text, ())
    named_none = any(isinstance(value, dict) and value.get("tool") == NO_TOOL for value in json_values(text))
    return ("", calls) if calls or named_none else None


def calls_in(text: str, names: Collection[str]) -> list[Call]:
    """Return the tool calls that stand in a text: tagged, fenced, in doubled braces, one or a list.

    An object counts when it names one of the tools, or has both a name and an object of arguments.
    """
    tagged = [call for name, body in _FUNCTION_TAG.findall(text) for call in _tagged_call(name, body)]
    inner = _TAGGED.findall(text)
    values = [value for part in inner or [text] for value in json_values(part)]
    items = [item for value in values for item in (value if isinstance(value, list) else [value])]
    return tagged or _calls_of(items, names)


def _tagged_call(name: str, body: str) -> Iterator[Call]:
    arguments = next((value for value in json_values(body) if isinstance(value, dict)), None)
    if arguments is not None:
        yield name, json.dumps(arguments, ensure_ascii=False)


def _calls_of(items: Sequence[object], names: Collection[str]) -> list[Call]:
    found = (_call_of(item, names) for item in items if isinstance(item, dict))
    return [call for call in found if call is not None and call[0] != NO_TOOL]


def _call_of(item: Mapping[str, Any], names: Collection[str]) -> Call | None:
    inner = item.get("function")
    if isinstance(inner, dict):
        item = inner
    name = next((item[key] for key in _NAMES if isinstance(item.get(key), str)), None)
    arguments = next((item[key] for key in _ARGUMENTS if key in item), None)
    if not name or not (name in names or isinstance(arguments, dict)):
        return None
    return name, written(arguments)
