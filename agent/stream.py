"""Assemble the pieces of a stream into the completion it would have been in one body."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .chat_reply import REASONING, written

BYTES_A_TOKEN = 8
"""Bytes that one token hardly exceeds on average: more than that times the ceiling went past the ceiling."""


class Assembly:
    """The pieces of one stream put together; pieces that are not what they should be are left out."""

    def __init__(self, ceiling: int) -> None:
        self.finish: object = None
        self.done = False
        self.error: Mapping[str, Any] | None = None
        self.text_bytes = 0
        self._most = ceiling * BYTES_A_TOKEN
        self._texts: dict[str, list[str]] = {}
        self._calls: list[dict[str, str]] = []
        self._by_index: dict[int, dict[str, str]] = {}
        self._usage: object = None

    @property
    def went_past(self) -> bool:
        """Tell whether more came than the ceiling allows, so that the stream must be cut."""
        return self.text_bytes > self._most

    def feed(self, data: str) -> None:
        """Take the data of one event; ValueError when it is no JSON, as in a stream that was cut."""
        piece = json.loads(data)
        if not isinstance(piece, dict):
            return
        error = piece.get("error")
        if error:
            self.error = error if isinstance(error, dict) else {"message": str(error)}
        self._usage = piece.get("usage") or self._usage
        choices = piece.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("index", 0) in (0, None):
                self._take(choice)

    def cut(self) -> None:
        """End the completion at its ceiling."""
        self.finish = "length"
        self._usage = None

    def completion(self) -> dict[str, Any]:
        """Return the completion as one body would have held it."""
        message: dict[str, Any] = {name: "".join(parts) for name, parts in self._texts.items()}
        if self._calls:
            message["tool_calls"] = [{"function": call} for call in self._calls]
        return {"choices": [{"message": message, "finish_reason": self.finish}], "usage": self._usage}

    def _take(self, choice: Mapping[str, Any]) -> None:
        self.finish = choice.get("finish_reason") or self.finish
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, dict):
            return
        for name in ("content", "refusal", *REASONING):
            if isinstance(delta.get(name), str):
                self._add(self._texts.setdefault(name, []), delta[name])
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                self._take_call(call)

    def _add(self, parts: list[str], text: str) -> None:
        parts.append(text)
        self.text_bytes += len(text.encode("utf-8", "replace"))

    def _take_call(self, piece: Mapping[str, Any]) -> None:
        """Add a piece of a tool call to the call it belongs to, a new one where it begins a call."""
        function = piece.get("function")
        function = function if isinstance(function, dict) else {}
        name, arguments = function.get("name"), function.get("arguments")
        name = name if isinstance(name, str) else ""
        text = "" if arguments is None else arguments if isinstance(arguments, str) else written(arguments)
        call = self._call(piece, name, text)
        call["name"] += name if name != call["name"] else ""
        call["arguments"] += text
        self.text_bytes += len(text.encode("utf-8", "replace"))

    def _call(self, piece: Mapping[str, Any], name: str, text: str) -> dict[str, str]:
        index = piece.get("index") if isinstance(piece.get("index"), int) else None
        identity = piece["id"] if isinstance(piece.get("id"), str) else ""
        last = self._calls[-1] if self._calls else None
        call = last if index is None else self._by_index.get(index)
        if call is None or _begins(call, identity, name, text):
            call = {"id": identity, "name": "", "arguments": ""}
            self._calls.append(call)
        if index is not None:
            self._by_index[index] = call
        return call


def _begins(call: Mapping[str, str], identity: str, name: str, text: str) -> bool:
    """Tell whether a piece numbered like a call begins another one: some servers number all calls alike."""
    if not name:
        return False
    if identity and call["id"] and identity != call["id"]:
        return True
    return _is_whole(call["arguments"]) and (bool(text) or name != call["name"])


def _is_whole(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False
