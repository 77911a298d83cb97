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
WORDS_BESIDE = "These tools may be called:\n{tools}"

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


def choice_schema(tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the schema of a choice of one tool with its arguments, or of none."""
    shared: dict[str, Any] = {}
    choices = [_one_choice(tool["name"], _hoisted(tool["parameters"], shared)) for tool in bare_tools(tools)]
    return {"anyOf": [*choices, _one_choice(NO_TOOL, _NOTHING)]} | ({"$defs": shared} if shared else {})


_NOTHING: Mapping[str, Any] = {"type": "object", "properties": {}}


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
    """Return the words that name the tools, and ask for a choice where no other reply is wanted."""
    words = WORDS if request.schema is None else WORDS_BESIDE
    tools = (json.dumps(tool, ensure_ascii=False, default=str) for tool in bare_tools(request.tools))
    return words.format(tools="\n".join(tools))


def read_calls(completion: Completion, request: Request, native: bool) -> Completion:
    """Return a completion whose tool calls are out of its text, where a server left them there.

    A reply that fits the schema of the request is the reply, whatever calls it names.
    """
    wanted = request.schema
    if completion.calls or not request.tools or (wanted is not None and fits(completion.text, wanted)):
        return completion
    calls = calls_in(completion.text, [tool["name"] for tool in bare_tools(request.tools)])
    if not calls and (native or wanted is not None or not _chose_none(completion.text)):
        return completion
    return replace(
        completion, text="", calls=tuple(calls), finish="tool_calls" if calls else completion.finish
    )


def _chose_none(text: str) -> bool:
    return any(isinstance(value, dict) and value.get("tool") == NO_TOOL for value in json_values(text))


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
