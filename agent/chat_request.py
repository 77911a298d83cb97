"""Write a request as the chat completions interface takes it, asking for no more than the server can do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..graphs.ports import Request
from .capabilities import Capabilities, Sent, Structure
from .strict_schema import strict_schema
from .tool_choice import bare_tools, choice_schema, choice_words

Messages = list[dict[str, str]]

SPELLED = "Reply with one JSON object that fits this JSON Schema, and with nothing else:\n"


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request as it leaves: its body, the features it uses, and the UTF-8 bytes a model reads of it."""

    body: Mapping[str, Any]
    sent: Sent
    prompt_bytes: int


def write_request(request: Request, model: str, can: Capabilities) -> Outgoing:
    """Return the body of a request to a model that can do this much."""
    native = bool(request.tools) and can.tools
    schema = request.schema
    if schema is None and request.tools and not native:
        schema = choice_schema(request.tools)
    structure = can.structure if schema is not None else None
    messages = _messages(request, can)
    body: dict[str, Any] = {"model": model, "messages": messages, can.ceiling: request.max_tokens}
    if can.temperature:
        body["temperature"] = 0
    if native:
        body |= {"tools": [{"type": "function", "function": tool} for tool in bare_tools(request.tools)]}
        body |= {"tool_choice": "auto"}
    if schema is not None and structure not in (None, "text"):
        body["response_format"] = _response_format(structure, request.schema_name, schema)
    if can.stream:
        body |= {"stream": True} | ({"stream_options": {"include_usage": True}} if can.usage else {})
    return Outgoing(body, _sent(body, structure), _prompt_bytes(body))


def _sent(body: Mapping[str, Any], structure: Structure | None) -> Sent:
    return Sent(
        structure=structure,
        tools="tools" in body,
        stream="stream" in body,
        usage="stream_options" in body,
        temperature="temperature" in body,
        system=any(message["role"] == "system" for message in body["messages"]),
    )


def _messages(request: Request, can: Capabilities) -> Messages:
    """Return the messages, with what the server cannot be told otherwise added to the last one."""
    messages = [{"role": one["role"], "content": one["content"]} for one in request.messages]
    if not can.system:
        messages = _without_system(messages)
    added = "\n\n".join(_added(request, can))
    if added and messages:
        messages[-1] = messages[-1] | {"content": f"{messages[-1]['content']}\n\n{added}"}
    return messages


def _added(request: Request, can: Capabilities) -> Iterator[str]:
    spelled = can.spelled or can.structure == "text"
    if request.tools and not can.tools:
        yield choice_words(request)
    if request.schema is not None and spelled:
        yield f"{SPELLED}{compact(request.schema)}"


def _without_system(messages: Messages) -> Messages:
    """Return messages whose system texts open the first message of the user."""
    system = [one["content"] for one in messages if one["role"] == "system"]
    others = [one for one in messages if one["role"] != "system"] or [{"role": "user", "content": ""}]
    return [others[0] | {"content": "\n\n".join([*system, others[0]["content"]])}, *others[1:]]


def _response_format(structure: Structure | None, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    if structure == "json_object":
        return {"type": "json_object", "schema": dict(schema)}
    fitted, strict = strict_schema(schema)
    return {
        "type": "json_schema",
        "json_schema": {"name": name or "reply", "schema": fitted, "strict": strict},
    }


def _prompt_bytes(body: Mapping[str, Any]) -> int:
    contents: Sequence[str] = [message["content"] for message in body["messages"]]
    parts = [compact(body[key]) for key in ("tools", "response_format") if key in body]
    return sum(len(part.encode("utf-8", "replace")) for part in (*contents, *parts))


def compact(value: object) -> str:
    """Return JSON without needless spaces or escapes."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
