"""The Model port over an OpenAI-compatible server: one request at a time, nothing of the answer trusted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from ..graphs.ports import Attempt, Model, ModelCall, Reply, Request, Role
from ..tools.errors import (
    BudgetSpentError,
    ModelError,
    ModelReplyError,
    ModelUnavailableError,
)
from .capabilities import EVERYTHING, Capabilities, CapabilityBook
from .chat_reply import Completion, NoFinishError, UnusableError, read_completion
from .chat_request import Outgoing, write_request
from .connection import FREE, Connection, Exchange, LostError, RefusedError
from .endpoint import NO_KEY, WITHOUT, Endpoint
from .negotiation import Negotiation
from .refusals import Asked, FeatureError, PassingError, Refusal, error_of, may_be_feature
from .retry import RetryingModel
from .strict_schema import fits
from .tool_choice import read_calls

LOST = {
    "silent": "{server} was silent for {seconds:g} s",
    "lost": "connection lost: the reply of {server} broke off",
    "markup": "{server} answers with a web page instead of JSON; see that OPENAI_BASE_URL is right",
    "endless": "the reply of {server} does not end",
}
"""What became of an exchange that was lost, in words."""

MOST_NAMES = 5
"""Models of a server that a message names."""


@asynccontextmanager
async def open_model(
    endpoint: Endpoint, book: CapabilityBook, seconds_left: Callable[[], float]
) -> AsyncIterator[Model]:
    """Give the model of one run, which sends again what failed; its connections end with the run."""
    connection = Connection(endpoint)
    try:
        yield RetryingModel(
            ChatModel(endpoint, connection, book, seconds_left), endpoint.attempts, seconds_left
        )
    finally:
        await connection.close()


@dataclass(slots=True)
class _Call:
    """A request under way: its path, the model it goes to, what is asked of it, the exchange itself."""

    path: str
    request: Request
    exchange: Exchange
    model: str = ""
    can: Capabilities = EVERYTHING
    outgoing: Outgoing | None = None


class ChatModel:
    """Send one request for each reply, and learn from refusals what to ask less of."""

    def __init__(
        self,
        endpoint: Endpoint,
        connection: Connection,
        book: CapabilityBook,
        seconds_left: Callable[[], float],
    ) -> None:
        self._endpoint = endpoint
        self._connection = connection
        self._negotiation = Negotiation(book, endpoint.shown)
        self._seconds_left = seconds_left
        self._reached = False
        self._only = ""
        self._naming = asyncio.Lock()

    async def reply(self, path: str, request: Request) -> Reply:
        """Return the reply to one request; ModelError, or BudgetSpentError at the run's deadline.

        PassingError and FeatureError say that the same request may be sent again.
        """
        call = _Call(path, request, Exchange())
        seconds = self._seconds_left()
        if seconds <= 0:
            raise BudgetSpentError("seconds", "the time limit was reached before the model was asked")
        try:
            async with asyncio.timeout(seconds):
                return await self._send(call)
        except TimeoutError:
            message = f"the time limit was reached while {self._endpoint.shown} was asked"
            raise BudgetSpentError(
                "seconds", message, self._attempts(call, "cut at the deadline", free=False)
            ) from None

    async def _send(self, call: _Call) -> Reply:
        """Send a request and return what came back, or raise what its failure means."""
        try:
            call.model = await self._name(call.request.role)
            call.can = self._asked_for(call.model)
            call.outgoing = outgoing = write_request(call.request, call.model, call.can)
            call.exchange.begin(outgoing.prompt_bytes)
            payload = await self._connection.complete(outgoing, call.request.max_tokens, call.exchange)
            return self._settled(call, outgoing, read_completion(payload))
        except RefusedError as refused:
            raise self._refused(call, refused.refusal) from None
        except LostError as lost:
            raise self._lost(call, lost) from None
        except UnusableError as error:
            raise self._unusable(call, error) from None
        finally:
            self._reached = self._reached or call.exchange.answered

    def _settled(self, call: _Call, outgoing: Outgoing, completion: Completion) -> Reply:
        """Return the reply of a completion, and remember how it was got."""
        sent, request = outgoing.sent, call.request
        read = read_calls(completion, request, sent.tools)
        can = call.can
        if sent.tools and read.calls and not completion.calls:
            can = replace(can, tools=False)
        if request.schema is not None and read.finish == "stop" and not fits(read.text, request.schema):
            can = replace(can, spelled=True, structure=can.unenforced)
        if not self._endpoint.stream:
            can = replace(can, stream=self._negotiation.of(call.model).stream)
        self._negotiation.worked(call.model, can, sent)
        calls = tuple(ModelCall(f"{call.path}.call{n}", *one) for n, one in enumerate(read.calls, 1))
        attempt = call.exchange.attempt("ok", read.usage)
        return Reply(read.text, calls, read.finish, read.usage, (attempt,))

    def _refused(self, call: _Call, refusal: Refusal) -> ModelError:
        """Return the error of a refusal; a FeatureError when it was about something that can be left out."""
        self._reached = True
        key = self._endpoint.key
        asked = Asked(
            self._endpoint.shown,
            call.model,
            call.exchange.prompt_bytes,
            has_key=key is not NO_KEY,
            secrets=() if key is NO_KEY else (key.get_secret_value(),),
        )
        error = error_of(refusal, asked)
        feature = self._was_about_a_feature(call, refusal)
        error = FeatureError(str(error), status=refusal.status) if feature else error
        free = feature or refusal.status < 500
        error.attempts = self._attempts(call, str(refusal.status), free)
        return error

    def _was_about_a_feature(self, call: _Call, refusal: Refusal) -> bool:
        """Tell whether the same request may be sent at once with less asked for."""
        if call.outgoing is None:
            return False
        if may_be_feature(refusal) and self._asked_for(call.model) != call.can:
            return True  # a request beside this one has met the same refusal
        return self._negotiation.refused(call.model, call.outgoing.sent, refusal)

    def _lost(self, call: _Call, lost: LostError) -> ModelError:
        """Return the error of an exchange without a whole answer."""
        server, seconds = self._endpoint.shown, self._endpoint.request_seconds
        if lost.loss == "lost" and call.can.stream and call.exchange.began_empty:
            self._negotiation.stream_broke(call.model)
        error: ModelError
        if lost.loss == "unreachable":
            what = f"no server answers at {server} ({lost.detail}); start it or correct OPENAI_BASE_URL"
            error = PassingError(what) if self._reached else ModelUnavailableError(f"{what}; {WITHOUT}")
        else:
            error = PassingError(LOST[lost.loss].format(server=server, seconds=seconds))
        error.attempts = self._attempts(call, lost.loss, lost.loss == "unreachable")
        return error

    def _unusable(self, call: _Call, unusable: UnusableError) -> ModelError:
        """Return the error of a completion that is none."""
        what = f"model {call.model!r} gave nothing to work with: {unusable}"
        error: ModelError = ModelReplyError(what, starved=unusable.starved)
        if isinstance(unusable, NoFinishError) and call.can.stream:
            self._negotiation.without_stream(call.model)
            error = FeatureError(what)
        error.attempts = self._attempts(call, str(unusable), free=False)
        return error

    def _attempts(self, call: _Call, outcome: str, free: bool) -> tuple[Attempt, ...]:
        """Return the record of a failed request; none when it was about the names of models only."""
        return (call.exchange.attempt(outcome, FREE if free else None),) if call.outgoing else ()

    def _asked_for(self, model: str) -> Capabilities:
        """Return what to ask of a model: what it can do, as far as settings want it."""
        can = self._negotiation.of(model)
        return can if self._endpoint.stream else replace(can, stream=False)

    async def _name(self, role: Role) -> str:
        """Return the model for a role: the one that is named, else the only one the server has."""
        named = self._endpoint.names.get(role)
        if named:
            return named
        async with self._naming:
            self._only = self._only or self._only_one(await self._connection.models())
        return self._only

    def _only_one(self, names: list[str]) -> str:
        if len(names) == 1:
            return names[0]
        more = "" if len(names) <= MOST_NAMES else f" and {len(names) - MOST_NAMES} more"
        has = f"has {', '.join(names[:MOST_NAMES])}{more}" if names else "does not say which models it has"
        raise ModelUnavailableError(
            f"no model is named, and {self._endpoint.shown} {has}; name one with QUAERE_MODEL; {WITHOUT}"
        )
