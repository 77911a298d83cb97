"""The Model port over any LangChain chat model: schemas go into the prompt, tools go by `bind_tools`."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from pydantic import SecretStr

from ..graphs.ports import Model, ModelCall, Reply, Request, Role, Usage
from ..tools.errors import (
    BudgetSpentError,
    ModelError,
    ModelReplyError,
    ModelUnavailableError,
)
from .capabilities import Capabilities
from .chat_reply import Completion, UnusableError, read_completion
from .chat_request import write_request
from .connection import FREE, Exchange
from .endpoint import WITHOUT
from .refusals import Asked, PassingError, Refusal, error_of
from .retry import RetryingModel
from .stream import BYTES_A_TOKEN
from .tool_choice import read_calls

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, AIMessageChunk

CEILINGS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "num_predict", "max_new_tokens")
"""Fields by which chat models know the ceiling of a completion; the first one a model has is set."""

_PASSES = re.compile(r"timeout|connect|network|protocol|unavailable|overloaded|ratelimit", re.IGNORECASE)


def langchain_model(
    chat: BaseChatModel | Mapping[Role, BaseChatModel],
    seconds_left: Callable[[], float],
    *,
    attempts: int = 3,
    request_seconds: float = 60.0,
) -> Model:
    """Return the Model port of one run over a chat model, or over one for each role."""
    return RetryingModel(LangChainModel(chat, seconds_left, request_seconds), attempts, seconds_left)


class LangChainModel:
    """Send one request for each reply through a chat model of LangChain, and trust nothing of the answer."""

    def __init__(
        self,
        chat: BaseChatModel | Mapping[Role, BaseChatModel],
        seconds_left: Callable[[], float],
        request_seconds: float = 60.0,
    ) -> None:
        self._chat = chat
        self._seconds_left = seconds_left
        self._request_seconds = request_seconds
        self._without_tools: set[int] = set()

    async def reply(self, path: str, request: Request) -> Reply:
        """Return the reply to one request; ModelError, or BudgetSpentError at the run's deadline."""
        seconds = self._seconds_left()
        if seconds <= 0:
            raise BudgetSpentError("seconds", "the time limit was reached before the model was asked")
        chat = self._chat if not isinstance(self._chat, Mapping) else self._chat[request.role]
        exchange = Exchange()
        try:
            async with asyncio.timeout(seconds):
                return await self._reply(chat, path, request, exchange)
        except TimeoutError:
            attempts = (exchange.attempt("cut at the deadline"),) if exchange.prompt_bytes else ()
            message = f"the time limit was reached while {_name(chat)} was asked"
            raise BudgetSpentError("seconds", message, attempts) from None

    async def _reply(self, chat: BaseChatModel, path: str, request: Request, exchange: Exchange) -> Reply:
        can = Capabilities(structure="text", tools=id(chat) not in self._without_tools, stream=False)
        outgoing = write_request(request, "", can)
        bound = self._bound(chat, request, outgoing.body.get("tools"))
        if bound is None:
            return await self._reply(chat, path, request, exchange)
        exchange.begin(outgoing.prompt_bytes)
        messages = [(one["role"], one["content"]) for one in outgoing.body["messages"]]
        try:
            whole, finish = await self._message(bound.astream(messages), request.max_tokens, exchange)
            completion = read_completion(_payload(whole, finish))
        except UnusableError as error:
            what = f"{_name(chat)} gave nothing to work with: {error}"
            attempts = (exchange.attempt(str(error)),)
            raise ModelReplyError(what, attempts, starved=error.starved) from None
        except _SilentError:
            what = f"{_name(chat)} was silent for {self._request_seconds:g} s"
            raise PassingError(what, (exchange.attempt("silent"),)) from None
        except Exception as error:  # noqa: BLE001  (a chat model of others may raise anything)
            raise _meaning(error, chat, exchange) from None
        read = read_calls(completion, request, outgoing.sent.tools)
        return _settled(path, read, whole, exchange)

    def _bound(self, chat: BaseChatModel, request: Request, tools: Sequence[Any] | None) -> Any:  # noqa: ANN401
        """Return a chat model with its ceiling and tools; None where it can be given no tools."""
        name = next((one for one in CEILINGS if one in type(chat).model_fields), None)
        limited = chat.model_copy(update={name: request.max_tokens}) if name else chat
        if not tools:
            return limited
        try:
            return limited.bind_tools(list(tools))
        except NotImplementedError:
            self._without_tools.add(id(chat))
            return None

    async def _message(
        self, chunks: AsyncIterator[AIMessageChunk], ceiling: int, exchange: Exchange
    ) -> tuple[AIMessage, str | None]:
        """Return what the chunks add up to, and why it ended where it was cut at the ceiling."""
        parts: list[AIMessageChunk] = []
        async with aclosing(cast(Any, chunks)) as stream:
            while (chunk := await self._next(stream)) is not None:
                parts.append(chunk)
                exchange.completion_bytes += _size(chunk)
                if exchange.completion_bytes > ceiling * BYTES_A_TOKEN and _is_part(chunk):
                    return _joined(parts), "length"
        return _joined(parts), None

    async def _next(self, stream: AsyncIterator[AIMessageChunk]) -> AIMessageChunk | None:
        """Return the next chunk, or None at the end; _SilentError when none comes in time."""
        try:
            async with asyncio.timeout(self._request_seconds):
                return await anext(stream, None)
        except TimeoutError:
            raise _SilentError from None


class _SilentError(Exception):
    """Say that no chunk came in time."""


def _joined(parts: list[AIMessageChunk]) -> AIMessage:
    from langchain_core.messages import AIMessage

    if not parts:
        return AIMessage("")
    first, *rest = parts
    return first + rest if rest else first


def _is_part(message: AIMessage) -> bool:
    """Tell whether more may follow: models that do not stream hand over one whole message."""
    return type(message).__name__.endswith("Chunk")


def _size(message: AIMessage) -> int:
    """Return the UTF-8 bytes a model wrote for a message."""
    calls = [*getattr(message, "tool_call_chunks", ()), *getattr(message, "invalid_tool_calls", ())]
    calls = calls or list(message.tool_calls)
    parts = [message.text, *(f"{call.get('name') or ''}{_written(call.get('args'))}" for call in calls)]
    parts.append(str(message.additional_kwargs.get("reasoning_content") or ""))
    return sum(len(part.encode("utf-8", "replace")) for part in parts)


def _written(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {}, default=str)


def _payload(message: AIMessage, finish: str | None) -> dict[str, Any]:
    """Return a message as the chat completions interface would have sent it."""
    calls = [*message.tool_calls, *message.invalid_tool_calls]
    told = message.response_metadata
    why = (told.get(name) for name in ("finish_reason", "stop_reason", "done_reason"))
    content = {
        "content": message.content,
        "tool_calls": [
            {"function": {"name": call["name"], "arguments": _written(call["args"])}} for call in calls
        ],
        "refusal": message.additional_kwargs.get("refusal"),
        "reasoning_content": message.additional_kwargs.get("reasoning_content") or _thoughts(message),
    }
    ended = finish or next((one for one in why if one), "stop")
    return {"choices": [{"message": content, "finish_reason": str(ended)}], "usage": _usage(message)}


def _thoughts(message: AIMessage) -> bool:
    """Tell whether a content in parts holds thoughts."""
    parts = message.content if isinstance(message.content, list) else ()
    return any(isinstance(part, dict) and part.get("type") in ("reasoning", "thinking") for part in parts)


def _usage(message: AIMessage) -> dict[str, Any] | None:
    told = cast(Mapping[str, Any] | None, message.usage_metadata)
    if not told:
        return None
    cached = (told.get("input_token_details") or {}).get("cache_read")
    thoughts = (told.get("output_token_details") or {}).get("reasoning")
    return {
        "prompt_tokens": told.get("input_tokens"),
        "completion_tokens": told.get("output_tokens"),
        "total_tokens": told.get("total_tokens"),
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": thoughts},
    }


def _settled(path: str, read: Completion, message: AIMessage, exchange: Exchange) -> Reply:
    """Return the reply of a completion; one that came from a cache of LangChain cost nothing."""
    told = cast(Mapping[str, Any], message.usage_metadata or {})
    usage: Usage | None = FREE if told.get("total_cost") == 0 else read.usage
    calls = tuple(ModelCall(f"{path}.call{n}", *one) for n, one in enumerate(read.calls, 1))
    return Reply(read.text, calls, read.finish, usage, (exchange.attempt("ok", usage),))


def _meaning(error: Exception, chat: BaseChatModel, exchange: Exchange) -> ModelError:
    """Return what the exception of a chat model means: by its status if it has one, else by its name."""
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
    kind, words = type(error).__name__, str(error)
    asked = Asked(_name(chat), _name(chat), exchange.prompt_bytes, secrets=_secrets(chat))
    meant: ModelError
    if isinstance(status, int) and status >= 300:
        meant = error_of(Refusal(status, words, dict(getattr(response, "headers", None) or {})), asked)
    elif isinstance(error, OSError) or _PASSES.search(kind):
        meant = PassingError(f"{_name(chat)} failed: {kind}{asked.quoted(words)}")
    else:
        meant = ModelUnavailableError(f"{_name(chat)} failed: {kind}{asked.quoted(words)}; {WITHOUT}")
    free = isinstance(status, int) and status < 500
    meant.attempts = (exchange.attempt(str(status or kind), FREE if free else None),)
    return meant


def _name(chat: BaseChatModel) -> str:
    """Return the name of a chat model: that of its model where it tells one, else its class."""
    told = getattr(chat, "model_name", None) or getattr(chat, "model", None)
    return f"{type(chat).__name__} {told}" if isinstance(told, str) and told else type(chat).__name__


def _secrets(chat: BaseChatModel) -> tuple[str, ...]:
    values = (getattr(chat, name, None) for name in type(chat).model_fields)
    return tuple(value.get_secret_value() for value in values if isinstance(value, SecretStr))
