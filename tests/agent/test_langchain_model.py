"""The model port over chat models of LangChain: those that stream, call tools, cache, fail, and know nothing."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.language_models import BaseChatModel, FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from model_calls import SCHEMA, SOON, ask
from pydantic import Field, SecretStr
from quaere.agent.endpoint import WITHOUT
from quaere.agent.langchain_model import langchain_model
from quaere.graphs.ports import Reply, Request, Usage
from quaere.tools.errors import BudgetSpentError, ModelReplyError, ModelUnavailableError

USAGE = {"input_tokens": 11, "output_tokens": 5, "total_tokens": 16}
KEY = "sk-chat-0123456789"


class StatusError(Exception):
    """An error as the clients of providers raise it."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status_code = status


class OverloadedError(Exception):
    """An error without a status."""


class Chat(BaseChatModel):
    """A chat model that plays a script of messages and exceptions, streams if asked, and keeps what it saw."""

    script: list[Any]
    streams: bool = False
    max_tokens: int = 0
    every: float = 0.0
    key: SecretStr = SecretStr(KEY)
    seen: list[Any] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools: Any, **more: Any) -> Runnable[Any, Any]:
        return self.bind(tools=tools, **more)

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **more: Any
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._take(messages, more))])

    def _take(self, messages: list[BaseMessage], more: dict[str, Any]) -> AIMessage:
        self.seen.append((messages, more, self.max_tokens))
        said = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, AIMessage) else AIMessage(said, usage_metadata=USAGE)


class StreamingChat(Chat):
    """The same in pieces, one after another."""

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **more: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in _chunks(self._take(messages, more)):
            await asyncio.sleep(self.every)
            yield ChatGenerationChunk(message=chunk)


def _chunks(message: AIMessage) -> Iterator[AIMessageChunk]:
    text = str(message.content)
    for start in range(0, len(text), 5):
        yield AIMessageChunk(text[start : start + 5])
    for index, call in enumerate(message.tool_calls):
        arguments = json.dumps(call["args"])
        for part in (arguments[:4], arguments[4:]):
            name = call["name"] if part == arguments[:4] else None
            piece = tool_call_chunk(name=name, args=part, id=call["id"] if name else None, index=index)
            yield AIMessageChunk("", tool_call_chunks=[piece])
    yield AIMessageChunk(
        "", usage_metadata=message.usage_metadata, response_metadata=message.response_metadata
    )


def reply_of(chat: Any, request: Request, seconds: Callable[[], float] = lambda: 20.0, **more: Any) -> Reply:
    async def run() -> Reply:
        return await langchain_model(chat, seconds, **more).reply("r1.route.1", request)

    return asyncio.run(run())


@pytest.mark.parametrize("kind", [Chat, StreamingChat])
def test_text_usage_and_messages_go_through(kind: type[Chat]) -> None:
    chat = kind(script=["It costs 12 EUR — zwölf."])
    reply = reply_of(chat, ask())
    assert (reply.text, reply.finish, reply.usage) == ("It costs 12 EUR — zwölf.", "stop", Usage(11, 5))
    (messages, _, ceiling), *_ = chat.seen
    assert [(one.type, one.content) for one in messages] == [
        ("system", "Answer."),
        ("human", "What does a badge cost?"),
    ]
    assert ceiling == 200
    assert reply.attempts[0].completion_bytes == len("It costs 12 EUR — zwölf.".encode())


@pytest.mark.parametrize("kind", [Chat, StreamingChat])
def test_tools_are_bound_and_parallel_calls_come_back(kind: type[Chat]) -> None:
    calls = [{"name": "keyword_search", "args": {"query": q}, "id": "same"} for q in ("a", "b")]
    chat = kind(script=[AIMessage("", tool_calls=calls, usage_metadata=USAGE)])
    reply = reply_of(chat, ask(tools=True))
    assert [(one.name, json.loads(one.arguments)) for one in reply.calls] == [
        ("keyword_search", {"query": "a"}),
        ("keyword_search", {"query": "b"}),
    ]
    assert len({one.id for one in reply.calls}) == 2
    assert reply.finish == "tool_calls"
    assert chat.seen[0][1]["tools"][0]["function"]["name"] == "keyword_search"


def test_arguments_that_are_no_json_come_back_as_they_are() -> None:
    bad = {"name": "keyword_search", "args": '{"query": ', "id": "x", "error": "bad"}
    chat = Chat(script=[AIMessage("", invalid_tool_calls=[bad])])
    assert [one.arguments for one in reply_of(chat, ask(tools=True)).calls] == ['{"query":']


def test_a_schema_is_written_into_the_prompt() -> None:
    chat = Chat(script=['```json\n{"route": "one"}\n```'])
    assert '"route": "one"' in reply_of(chat, ask(schema=True)).text
    assert json.dumps(SCHEMA, separators=(",", ":")) in chat.seen[0][0][-1].content


def test_a_model_without_tool_calls_chooses_in_its_text() -> None:
    choice = '{"tool": "keyword_search", "arguments": {"query": "badge"}}'
    chat = FakeListChatModel(responses=[choice])
    reply = reply_of(chat, ask(tools=True))
    assert [(one.name, json.loads(one.arguments)) for one in reply.calls] == [
        ("keyword_search", {"query": "badge"})
    ]
    assert (reply.usage, reply.attempts[0].usage) == (None, None)
    assert reply.attempts[0].completion_bytes == len(choice)


def test_fakes_of_langchain_reply() -> None:
    assert reply_of(GenericFakeChatModel(messages=iter([AIMessage("12 EUR")])), ask()).text == "12 EUR"


@pytest.mark.parametrize(
    ("metadata", "finish"),
    [
        ({"finish_reason": "length"}, "length"),
        ({"stop_reason": "max_tokens"}, "length"),
        ({"stop_reason": "end_turn"}, "stop"),
        ({"finish_reason": "STOP"}, "stop"),
        ({"done_reason": "stop"}, "stop"),
        ({}, "stop"),
    ],
)
def test_why_a_reply_ended_is_read_from_any_provider(metadata: dict[str, Any], finish: str) -> None:
    assert reply_of(Chat(script=[AIMessage("x", response_metadata=metadata)]), ask()).finish == finish


def test_content_in_parts_leaves_thoughts_out() -> None:
    parts: list[Any] = [{"type": "thinking", "thinking": "15 EUR?"}, {"type": "text", "text": "12 EUR"}]
    assert reply_of(Chat(script=[AIMessage(parts)]), ask()).text == "12 EUR"
    with pytest.raises(ModelReplyError) as caught:
        reply_of(Chat(script=[AIMessage(parts[:1])]), ask())
    assert caught.value.starved


def test_a_reply_from_a_cache_costs_nothing() -> None:
    chat = Chat(script=["12 EUR"], cache=InMemoryCache())
    assert reply_of(chat, ask()).usage == Usage(11, 5)
    assert reply_of(chat, ask()).usage == Usage(0, 0)
    assert len(chat.seen) == 1


def test_each_role_may_have_a_chat_model_of_its_own() -> None:
    chats = {"router": Chat(script=["small"]), "writer": Chat(script=["big"])}
    assert reply_of(chats, ask(role="writer")).text == "big"
    assert reply_of(chats, ask(role="router")).text == "small"


def test_a_stream_past_its_ceiling_is_cut() -> None:
    chat = StreamingChat(script=["word " * 10_000])
    reply = reply_of(chat, ask(max_tokens=20))
    assert reply.finish == "length"
    assert len(reply.text) < 200


def test_a_stream_without_end_stops_at_the_deadline() -> None:
    end = time.monotonic() + 0.5
    chat = StreamingChat(script=["word " * 10_000], every=0.05)
    with pytest.raises(BudgetSpentError) as caught:
        reply_of(chat, ask(max_tokens=9_999), lambda: end - time.monotonic())
    assert caught.value.limit == "seconds"
    assert len(caught.value.attempts) == 1


def test_silence_is_cut_and_asked_again() -> None:
    chat = StreamingChat(script=["12 EUR"], every=3600.0)
    with pytest.raises(ModelUnavailableError) as caught:
        reply_of(chat, ask(), request_seconds=SOON, attempts=2)
    assert f"StreamingChat was silent for {SOON} s, 2 times" in str(caught.value)


@pytest.mark.parametrize(
    "error", [StatusError(503, "busy"), OverloadedError("busy"), ConnectionResetError("gone")]
)
def test_what_may_pass_is_tried_again(error: Exception) -> None:
    chat = Chat(script=[error, "12 EUR"])
    reply = reply_of(chat, ask())
    assert (reply.text, len(reply.attempts)) == ("12 EUR", 2)


@pytest.mark.parametrize(
    "error", [StatusError(401, f"bad key {KEY}"), ValueError(f"{KEY} is wrong"), KeyError("x")]
)
def test_what_does_not_pass_is_told_once_without_the_key(error: Exception) -> None:
    chat = Chat(script=[error])
    with pytest.raises(ModelUnavailableError) as caught:
        reply_of(chat, ask())
    assert len(chat.seen) == 1
    assert KEY not in str(caught.value)
    assert str(caught.value).endswith(WITHOUT)
