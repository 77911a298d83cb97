"""The wire to an OpenAI-compatible server: a request goes out, a completion or a failure comes back."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..graphs.ports import Attempt, Usage
from .chat_reply import written_bytes
from .chat_request import Outgoing
from .endpoint import Endpoint
from .refusals import Refusal, words_of
from .server_events import server_events
from .stream import Assembly

if TYPE_CHECKING:
    from openai import AsyncOpenAI

MOST_BODY_BYTES = 8_000_000
"""Bytes of a body at most; a longer one is no reply of a model."""

CONNECT_SECONDS = 10.0
"""Seconds after which a server that does not take the connection counts as not there."""

FREE = Usage(0, 0)
"""The usage of a request that no model has read."""

Loss = Literal["unreachable", "silent", "lost", "markup", "endless"]


class RefusedError(Exception):
    """Hold what a server said when it refused."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(f"status {refusal.status}")
        self.refusal = refusal


class LostError(Exception):
    """Hold why no whole answer came: nobody there, silence, a cut, a web page, no end."""

    def __init__(self, loss: Loss, detail: str = "") -> None:
        super().__init__(loss)
        self.loss = loss
        self.detail = detail


@dataclass(slots=True)
class Exchange:
    """One request on its way: the bytes a model reads of it, when it left, what came back so far."""

    prompt_bytes: int = 0
    began: float = 0.0
    completion_bytes: int = 0
    answered: bool = False

    @property
    def began_empty(self) -> bool:
        """Tell whether a server began to answer and sent no word."""
        return self.answered and not self.completion_bytes

    def begin(self, prompt_bytes: int) -> None:
        """Note that a request leaves now."""
        self.prompt_bytes = prompt_bytes
        self.began = time.monotonic()

    def attempt(self, outcome: str, usage: Usage | None = None) -> Attempt:
        """Return the record of the request as it ended."""
        seconds = round(time.monotonic() - self.began, 3)
        return Attempt(seconds, outcome, usage, self.prompt_bytes, self.completion_bytes)


class Connection:
    """The client of one run; connections open with the first request and end with `close`."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._client: AsyncOpenAI | None = None

    async def complete(self, outgoing: Outgoing, ceiling: int, exchange: Exchange) -> dict[str, Any]:
        """Return the completion a server sends, in one body or a stream; RefusedError or LostError."""
        with _failures():
            create = self._opened().chat.completions.with_streaming_response.create
            async with create(**outgoing.body) as response:
                exchange.answered = True
                if _is_stream(response.headers.get("content-type", ""), outgoing.sent.stream):
                    return await _streamed(response.iter_bytes(), ceiling, exchange)
                return await _whole(response.iter_bytes(), exchange)

    async def models(self) -> list[str]:
        """Return the names of the models a server has; empty when it does not tell; LostError."""
        with _failures():
            listing = await self._opened().get("/models", cast_to=object)
        data = listing.get("data") if isinstance(listing, dict) else None
        names = [one.get("id") for one in data if isinstance(one, dict)] if isinstance(data, list) else []
        return [name for name in names if isinstance(name, str) and name]

    async def close(self) -> None:
        """Close the connections that are still open."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _opened(self) -> AsyncOpenAI:
        """Return the client, made and imported when it is first needed.

        It retries nothing, follows no other address, and asks no proxy for a server on this machine.
        """
        if self._client is None:
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

            endpoint = self._endpoint
            seconds = endpoint.request_seconds
            wire = DefaultAsyncHttpxClient(
                follow_redirects=False,
                trust_env=not endpoint.local,
                verify=endpoint.base_url.startswith("https:"),  # loading certificates takes 0.1 s
                timeout=Timeout(seconds, connect=min(seconds, CONNECT_SECONDS)),
            )
            self._client = AsyncOpenAI(
                api_key=endpoint.key.get_secret_value(),
                base_url=endpoint.base_url,
                max_retries=0,
                http_client=wire,
            )
        return self._client


def load_client() -> None:
    """Import the client ahead of the first request, which takes half a second, while other things load."""
    import openai  # noqa: F401


@contextmanager
def _failures() -> Iterator[None]:
    """Turn what the client raises into RefusedError and LostError; no key is in either."""
    import httpx2
    import openai

    try:
        yield
    except openai.APIStatusError as error:
        response = error.response
        raise RefusedError(Refusal(response.status_code, words_of(response.text), response.headers)) from None
    except openai.APIConnectionError as error:
        raise _lost(error.__cause__) from None
    except httpx2.HTTPError as error:
        raise _lost(error) from None


def _lost(error: BaseException | None) -> LostError:
    """Return why an exchange ended early; only the words of the operating system are kept."""
    import httpx2

    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.UnsupportedProtocol):
        detail = "no answer in time" if isinstance(error, httpx2.ConnectTimeout) else str(error)
        return LostError("unreachable", detail)
    return LostError("silent" if isinstance(error, httpx2.TimeoutException) else "lost")


def _is_stream(content_type: str, asked: bool) -> bool:
    kind = content_type.casefold()
    return "event-stream" in kind or (asked and "json" not in kind and "html" not in kind)


async def _streamed(pieces: AsyncIterator[bytes], ceiling: int, exchange: Exchange) -> dict[str, Any]:
    """Return the completion a stream adds up to, cut where it goes past the ceiling."""
    import httpx2

    assembly = Assembly(ceiling)
    try:
        async for data in server_events(_counted(pieces)):
            if data.strip() == "[DONE]":
                assembly.done = True
                break
            assembly.feed(data)
            exchange.completion_bytes = assembly.text_bytes
            if assembly.error is not None:
                raise RefusedError(_refusal_in(assembly.error))
            if assembly.went_past:
                assembly.cut()
                break
    except (ValueError, RecursionError):
        raise LostError("lost") from None
    except httpx2.HTTPError:
        if assembly.finish is None:
            raise
    if assembly.finish is None and not assembly.done:
        raise LostError("lost")
    return assembly.completion()


async def _whole(pieces: AsyncIterator[bytes], exchange: Exchange) -> dict[str, Any]:
    """Return the completion of one body; LostError for markup and for a body that breaks off."""
    body = b"".join([piece async for piece in _counted(pieces)])
    exchange.completion_bytes = len(body)
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        raise LostError("markup" if body.lstrip().startswith(b"<") else "lost") from None
    payload = payload if isinstance(payload, dict) else {}
    exchange.completion_bytes = written_bytes(payload)
    error = payload.get("error")
    if error and not payload.get("choices"):
        raise RefusedError(_refusal_in(error if isinstance(error, dict) else {"message": str(error)}))
    return payload


async def _counted(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Pass pieces on until there are too many bytes of them."""
    total = 0
    async for piece in pieces:
        total += len(piece)
        if total > MOST_BODY_BYTES:
            raise LostError("endless")
        yield piece


def _refusal_in(error: Mapping[str, Any]) -> Refusal:
    """Return the refusal of an error that came under status 200, as some servers send them."""
    code = error.get("code") or error.get("status")
    status = code if isinstance(code, int) and 400 <= code < 600 else 500
    return Refusal(status, words_of(json.dumps({"error": error}, default=str)))
