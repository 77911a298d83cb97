"""Read a completion without trusting it: choices, content, tool calls, finish reason, usage."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..graphs.ports import Finish, Usage
from ..tools.loose_json import mended
from ..tools.thoughts import without_thoughts

FINISHES: Mapping[str, Finish] = {
    "length": "length",
    "max_tokens": "length",
    "max_length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "refusal": "content_filter",
}
"""Finish reasons by what they mean; any other word of a server means that the model stopped."""

Call = tuple[str, str]
"""The name of a tool and the JSON text of its arguments, as the model wrote them."""

REASONING = ("reasoning_content", "reasoning")
"""Where servers put the thoughts of a model."""


class UnusableError(Exception):
    """Say in a few words why a completion is none; `starved` when thoughts used up its tokens."""

    def __init__(self, why: str, *, starved: bool = False) -> None:
        super().__init__(why)
        self.starved = starved


class NoFinishError(UnusableError):
    """Say that a completion has no finish reason, so that nobody knows whether it is whole."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What a server sent, checked: text without thoughts, calls, why it ended, what it says it used."""

    text: str
    calls: tuple[Call, ...]
    finish: Finish
    usage: Usage | None


def read_completion(payload: object) -> Completion:
    """Return what a body holds; UnusableError when there is no reply in it."""
    choice = _first_choice(payload)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise UnusableError("the reply holds no message")
    finish = choice.get("finish_reason")
    if not isinstance(finish, str) or not finish:
        raise NoFinishError("the reply has no finish reason")
    text, thought = without_thoughts(_text(message.get("content")))
    calls = tuple(_calls(message))
    end = FINISHES.get(finish.casefold(), "stop")
    if end == "content_filter" or (
        isinstance(message.get("refusal"), str) and message["refusal"] and not text
    ):
        return Completion("", (), "content_filter", read_usage(payload))
    if not text.strip() and not calls:
        thought = thought or any(message.get(name) for name in REASONING)
        raise UnusableError("the model only thought" if thought else "the reply is empty", starved=thought)
    return Completion(text, calls, "tool_calls" if calls else end, read_usage(payload))


def _first_choice(payload: object) -> Mapping[str, Any]:
    choices = payload.get("choices") if isinstance(payload, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise UnusableError("the reply holds no choice")
    return choices[0]


def _text(content: object) -> str:
    """Return the text of a content, which may come in parts."""
    if isinstance(content, str):
        return mended(content)
    parts = content if isinstance(content, list) else ()
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return mended("".join(text for text in texts if isinstance(text, str)))


def _calls(message: Mapping[str, Any]) -> Sequence[Call]:
    """Return the native tool calls of a message, also those of the older interface."""
    calls = message.get("tool_calls")
    functions = (
        [call.get("function") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    )
    functions = functions or [message.get("function_call")]
    return [
        (mended(function["name"]), mended(written(function.get("arguments"))))
        for function in functions
        if isinstance(function, dict) and isinstance(function.get("name"), str)
    ]


def written_bytes(payload: object) -> int:
    """Return the UTF-8 bytes a model wrote for a completion: text, thoughts, names and arguments of calls."""
    choices = payload.get("choices") if isinstance(payload, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(message, dict):
        return 0
    texts = [_text(message.get(name)) for name in ("content", "refusal", *REASONING)]
    return sum(len(text.encode()) for text in (*texts, *(part for call in _calls(message) for part in call)))


def read_usage(payload: object) -> Usage | None:
    """Return the usage a body reports; None when it is missing, impossible or plainly made up.

    Where the total is larger than its parts, as with thoughts that are counted apart, the rest was written.
    """
    usage = payload.get("usage") if isinstance(payload, dict) else None
    if not isinstance(usage, dict):
        return None
    prompt, completion = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    if not prompt or completion is None:
        return None
    completion = max(completion, (_count(usage.get("total_tokens")) or 0) - prompt)
    cached = _detail(usage, "prompt_tokens_details", "cached_tokens")
    reasoning = _detail(usage, "completion_tokens_details", "reasoning_tokens")
    return Usage(prompt, completion, min(cached, prompt), min(reasoning, completion))


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _detail(usage: Mapping[str, Any], part: str, name: str) -> int:
    details = usage.get(part)
    return (_count(details.get(name)) or 0) if isinstance(details, dict) else 0


def written(arguments: object) -> str:
    """Return arguments as JSON text, whether a server sent text, an object or nothing."""
    if isinstance(arguments, str):
        return arguments.strip() or "{}"
    return json.dumps({} if arguments is None else arguments, ensure_ascii=False, default=str)
