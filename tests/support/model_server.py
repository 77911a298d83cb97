"""A fake OpenAI-compatible server over real HTTP on loopback: it plays a script and counts tokens exactly.

    with ModelServer([Say("12 EUR"), Status(429, headers={"Retry-After": "1"})]) as server:
        ...  # server.url, server.requests, server.tokens, server.open

Every response leaves in one send, unless the script asks for delays.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

FRAME_BYTES = 8
"""Bytes of a chat template around each message, and once more for the reply."""


@dataclass(frozen=True)
class Say:
    """A reply of the model: text, calls (name, arguments, id), why it ends, what it reports as usage.

    `usage` is the exact one ("exact"), none at all (None), or what is given. `split` is the size of the
    pieces of a stream in characters; `indexed` numbers the calls of a stream.
    """

    text: str | None = ""
    calls: tuple[tuple[str, str, str | None], ...] = ()
    finish: str | None = "stop"
    usage: str | Mapping[str, Any] | None = "exact"
    reasoning: str = ""
    refusal: str | None = None
    split: int = 7
    indexed: bool = True


@dataclass(frozen=True)
class Status:
    """A refusal or a failure with a status; a text for a body is sent as it is."""

    status: int
    body: str | Mapping[str, Any] = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Body:
    """Bytes under status 200, whatever they are; `length` lies about their number."""

    content: bytes
    kind: str = "application/json"
    length: int | None = None


@dataclass(frozen=True)
class Silence:
    """Nothing more after the first pieces of a stream, until the client goes; no pieces: not even a header."""

    pieces: tuple[str, ...] = ()


@dataclass(frozen=True)
class Trickle:
    """One piece of a stream every so many seconds, for ever."""

    piece: str = "12 "
    every: float = 0.05


@dataclass(frozen=True)
class Cut:
    """Pieces of a stream, then a closed connection; `cleanly` ends it as if it were whole."""

    pieces: tuple[str, ...] = ()
    cleanly: bool = False


@dataclass(frozen=True)
class Events:
    """The data of each event of a stream, as it is; `stays` keeps the connection open behind the last one."""

    data: tuple[str, ...]
    stays: bool = False


Reply = Say | Status | Body | Silence | Trickle | Cut | Events
Script = Iterable[Reply] | Callable[[Mapping[str, Any]], Reply]


@dataclass(frozen=True)
class Received:
    """One request as it came: method, path, headers in small letters, body, when, tokens it cost."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    at: float
    tokens: int = 0


@dataclass(frozen=True)
class Manners:
    """What the server refuses and how it behaves.

    `refuses` maps a feature (json_schema, json_object, tools, stream, stream_options, max_tokens,
    temperature, system) to the status it is refused with; `mute` leaves out the words. `calls_as_text` hands
    tool calls over in the text, written by this pattern. `rate` is tokens a byte, `window` the context.
    """

    refuses: Mapping[str, int] = field(default_factory=dict)
    mute: bool = False
    honours_ceiling: bool = True
    calls_as_text: str = ""
    ignores_stream: bool = False
    rate: float = 0.25
    window: int | None = None
    key: str | None = None
    models: tuple[str, ...] = ("m",)
    knows_others: bool = True


REFUSALS = {
    "json_schema": "[('body','response_format','type'): Input should be 'text' or 'json_object']",
    "json_object": "'response_format.type' must be 'text'",
    "tools": "tools are not supported by this template",
    "stream": "this server does not stream",
    "stream_options": "Unrecognized request argument supplied: stream_options",
    "max_tokens": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
    "temperature": "Unsupported value: 'temperature' does not support 0 with this model.",
    "system": "System role not supported",
}


class ModelServer:
    """Serve a script in a thread of its own; when the script has run out, its last reply is repeated."""

    def __init__(self, script: Script = (), manners: Manners | None = None, **manner: Any) -> None:
        self.manners = replace(manners or Manners(), **manner)
        self.requests: list[Received] = []
        self.tokens = 0
        self.open = 0
        self._choose = script if callable(script) else _in_order(list(script) or [Say("")])
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """Return the address up to /v1."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    @property
    def chats(self) -> list[Received]:
        """Return the requests for completions."""
        return [one for one in self.requests if one.path.endswith("/chat/completions")]

    def wait_until_idle(self, seconds: float = 5.0) -> bool:
        """Wait until no request is open any more; tell whether that came about."""
        end = time.monotonic() + seconds
        while self.open and time.monotonic() < end:
            time.sleep(0.01)
        return not self.open

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        start = asyncio.start_server(self._connected, "127.0.0.1", 0)
        self._server = asyncio.run_coroutine_threadsafe(start, self._loop).result()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Go away, in the middle of what is being sent; a second time does nothing."""
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while (request := await _read(reader)) is not None:
                self.open += 1
                try:
                    goes_on = await self._answer(request, reader, writer)
                finally:
                    self.open -= 1
                if not goes_on:
                    return
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(
        self, request: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer one request; tell whether the connection stays open."""
        reply = self._reply_to(request)
        asked = self._count(request.body)
        free = isinstance(reply, Status) or request.method == "GET"
        place = len(self.requests)
        self.requests.append(replace(request, tokens=0 if free else asked))
        self.tokens += 0 if free else asked
        sender = _Sender(self, place, reader, writer)
        return await sender.send(reply, request.body, asked)

    def charge(self, place: int, tokens: int) -> None:
        """Count tokens that a model wrote for a request."""
        self.tokens += tokens
        self.requests[place] = replace(self.requests[place], tokens=self.requests[place].tokens + tokens)

    def _reply_to(self, request: Received) -> Reply:
        manners = self.manners
        if manners.key and request.headers.get("authorization") != f"Bearer {manners.key}":
            given = request.headers.get("authorization", "").removeprefix("Bearer ")
            return Status(401, _error(f"Incorrect API key provided: {given}.", "invalid_api_key"))
        if request.path == "/v1/models":
            listing = {"object": "list", "data": [{"id": name} for name in manners.models]}
            return Body(json.dumps(listing).encode())
        if request.path != "/v1/chat/completions":
            return Status(404, {"detail": "Not Found"})
        if not manners.knows_others and request.body.get("model") not in manners.models:
            words = f"The model `{request.body.get('model')}` does not exist."
            return Status(404, _error(words, "model_not_found"))
        return self._refusal(request.body) or self._choose(request.body)

    def _refusal(self, body: Mapping[str, Any]) -> Status | None:
        for feature in _features(body):
            status = self.manners.refuses.get(feature)
            if status is not None:
                return Status(status, "" if self.manners.mute else _error(REFUSALS[feature]))
        window, asked = self.manners.window, self._count(body)
        if window is not None and asked + 1 > window:
            words = f"This model's maximum context length is {window} tokens. However, you requested {asked}."
            return Status(400, _error(words, "context_length_exceeded"))
        return None

    def _count(self, body: Mapping[str, Any]) -> int:
        """Return the prompt tokens of a request: messages, their frames, tools and schema."""
        messages = body.get("messages", [])
        size = sum(_bytes(str(one.get("content", ""))) + FRAME_BYTES for one in messages) + FRAME_BYTES
        functions = [tool.get("function") for tool in body.get("tools", [])]
        for part in (functions or None, _schema(body)):
            size += _bytes(json.dumps(part, ensure_ascii=False)) if part is not None else 0
        return math.ceil(size * self.manners.rate)


class _Sender:
    """Write one reply as the server's manners have it."""

    def __init__(
        self, server: ModelServer, place: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.server = server
        self.manners = server.manners
        self.place = place
        self.reader = reader
        self.writer = writer

    async def send(self, reply: Reply, body: Mapping[str, Any], asked: int) -> bool:
        if isinstance(reply, Status):
            content = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
            kind = "text/html" if content.startswith("<") else "application/json"
            return await self._one(reply.status, content.encode(), kind, reply.headers)
        if isinstance(reply, Body):
            return await self._one(200, reply.content, reply.kind, length=reply.length)
        if isinstance(reply, Say):
            return await self._say(reply, body, asked)
        if isinstance(reply, Silence) and not reply.pieces:
            await self.reader.read()
            return False
        await self._write(_head(200, "text/event-stream", {"Transfer-Encoding": "chunked"}))
        async for data in self._events(reply):
            await self._write(_chunk(_event(data)))
        if isinstance(reply, Silence) or (isinstance(reply, Events) and reply.stays):
            await self.reader.read()
            return False
        if isinstance(reply, Events) or (isinstance(reply, Cut) and reply.cleanly):
            await self._write(b"0\r\n\r\n")
        return False

    async def _events(self, reply: Silence | Trickle | Cut | Events) -> AsyncIterator[str]:
        if isinstance(reply, Events):
            for data in reply.data:
                yield data
            return
        pieces: Iterator[str] = (
            iter(reply.pieces) if not isinstance(reply, Trickle) else _for_ever(reply.piece)
        )
        for piece in pieces:
            self.server.charge(self.place, math.ceil(_bytes(piece) * self.manners.rate))
            yield _piece({"content": piece})
            if isinstance(reply, Trickle):
                # The reader ends when the client has gone.
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.reader.read(), reply.every)
                    return

    async def _say(self, reply: Say, body: Mapping[str, Any], asked: int) -> bool:
        reply, written = self._cut(self._as_text(reply), body)
        self.server.charge(self.place, written)
        usage = _usage(reply, asked, written)
        if not body.get("stream") or self.manners.ignores_stream:
            return await self._one(200, json.dumps(_completion(reply, usage)).encode(), "application/json")
        reports = body.get("stream_options", {}).get("include_usage") and usage
        events = [*_stream(reply), *([_piece(None, usage=usage)] if reports else []), "[DONE]"]
        content = b"".join(_event(data) for data in events)
        await self._write(
            _head(200, "text/event-stream", {"Transfer-Encoding": "chunked"}) + _chunk(content) + b"0\r\n\r\n"
        )
        return True

    def _as_text(self, reply: Say) -> Say:
        """Return the reply with its calls in its text, for templates that know no calls."""
        if not (self.manners.calls_as_text and reply.calls):
            return reply
        name, arguments, _ = reply.calls[0]
        text = self.manners.calls_as_text.replace("NAME", name).replace("ARGUMENTS", arguments)
        return replace(reply, text=text, calls=(), finish="stop")

    def _cut(self, reply: Say, body: Mapping[str, Any]) -> tuple[Say, int]:
        """Return the reply within the ceiling, if that is honoured, and the tokens it costs."""
        ceiling = body.get("max_completion_tokens", body.get("max_tokens"))
        parts = [reply.reasoning, reply.text or "", *(name + arguments for name, arguments, _ in reply.calls)]
        tokens = math.ceil(sum(map(_bytes, parts)) * self.manners.rate)
        if ceiling is None or tokens <= ceiling or not self.manners.honours_ceiling:
            return reply, tokens
        room = math.floor(ceiling / self.manners.rate)
        thoughts = _first_bytes(reply.reasoning, room)
        text = _first_bytes(reply.text or "", room - _bytes(thoughts))
        spent = math.ceil((_bytes(thoughts) + _bytes(text)) * self.manners.rate)
        return replace(reply, reasoning=thoughts, text=text, calls=(), finish="length"), spent

    async def _one(
        self,
        status: int,
        content: bytes,
        kind: str,
        headers: Mapping[str, str] | None = None,
        length: int | None = None,
    ) -> bool:
        size = {"Content-Length": str(len(content) if length is None else length)}
        await self._write(_head(status, kind, size | dict(headers or {})) + content)
        return length is None

    async def _write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()


def _in_order(replies: Sequence[Reply]) -> Callable[[Mapping[str, Any]], Reply]:
    rest = list(replies)
    return lambda _: rest.pop(0) if len(rest) > 1 else rest[0]


def _for_ever(piece: str) -> Iterator[str]:
    while True:
        yield piece


async def _read(reader: asyncio.StreamReader) -> Received | None:
    """Return the next request of a connection, or None when there is none."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").rstrip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Received(method, path, headers, json.loads(body) if body else {}, time.monotonic())


def _features(body: Mapping[str, Any]) -> Iterator[str]:
    kind = body.get("response_format", {}).get("type")
    yield from (kind,) if kind else ()
    yield from (name for name in ("tools", "stream_options", "max_tokens", "temperature") if name in body)
    yield from ("stream",) if body.get("stream") else ()
    yield from ("system",) if any(one.get("role") == "system" for one in body.get("messages", [])) else ()


def _schema(body: Mapping[str, Any]) -> object:
    """Return the schema a model reads; that of a grammar, as with json_object, is none of its prompt."""
    return body.get("response_format", {}).get("json_schema", {}).get("schema")


def _usage(reply: Say, asked: int, written: int) -> Mapping[str, Any] | None:
    if reply.usage == "exact":
        return {"prompt_tokens": asked, "completion_tokens": written, "total_tokens": asked + written}
    return reply.usage if isinstance(reply.usage, Mapping) else None


def _message(reply: Say) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    message |= {"reasoning_content": reply.reasoning} if reply.reasoning else {}
    message |= {"refusal": reply.refusal} if reply.refusal else {}
    if reply.calls:
        message["tool_calls"] = [_call(*call) for call in reply.calls]
    return message


def _call(name: str, arguments: str, identity: str | None) -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


def _completion(reply: Say, usage: Mapping[str, Any] | None) -> dict[str, Any]:
    choice = {"index": 0, "message": _message(reply), "finish_reason": _finish(reply)}
    return {"id": "c", "object": "chat.completion", "choices": [choice]} | ({"usage": usage} if usage else {})


def _finish(reply: Say) -> str | None:
    return "tool_calls" if reply.calls and reply.finish == "stop" else reply.finish


def _stream(reply: Say) -> Iterator[str]:
    """Yield the data of each event of a streamed reply, without the closing usage."""
    yield _piece({"role": "assistant"})
    for name, text in (("reasoning_content", reply.reasoning), ("content", reply.text or "")):
        for start in range(0, len(text), reply.split):
            yield _piece({name: text[start : start + reply.split]})
    if reply.refusal:
        yield _piece({"refusal": reply.refusal})
    for index, (name, arguments, identity) in enumerate(reply.calls):
        number = {"index": index} if reply.indexed else {}
        yield _piece({"tool_calls": [number | _call(name, "", identity)]})
        for start in range(0, len(arguments), reply.split):
            part = {"function": {"arguments": arguments[start : start + reply.split]}}
            yield _piece({"tool_calls": [number | part]})
    yield _piece({}, finish=_finish(reply))


def _piece(
    delta: Mapping[str, Any] | None, finish: str | None = None, usage: Mapping[str, Any] | None = None
) -> str:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    piece: dict[str, Any] = {"id": "c", "object": "chat.completion.chunk", "choices": choices}
    return json.dumps(piece | ({"usage": usage} if usage else {}), ensure_ascii=False)


def _event(data: str) -> bytes:
    return f"data: {data}\n\n".encode()


def _chunk(content: bytes) -> bytes:
    return f"{len(content):x}\r\n".encode() + content + b"\r\n"


def _head(status: int, kind: str, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Said", f"Content-Type: {kind}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _error(words: str, code: str = "invalid_request") -> dict[str, Any]:
    return {"error": {"message": words, "type": "invalid_request_error", "code": code}}


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _first_bytes(text: str, room: int) -> str:
    return text.encode("utf-8", "replace")[: max(0, room)].decode("utf-8", "ignore")
