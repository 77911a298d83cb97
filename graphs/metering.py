"""The one place where calls are admitted, charged, cut and settled: wrappers around Model and Tools.

A call that no limit forbids is set aside in the ledger before it starts, is given no more completion tokens
than are left, ends at the run's deadline, and is charged for every attempt, whether it came back or not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from ..tools.errors import BudgetSpentError, ModelError, ModelUnavailableError
from .budget import Ask, Hold, Ledger
from .estimate import content_size, prompt_size, size_of
from .ports import Arguments, Attempt, Model, Observation, Reply, Request, Role, ToolCard, Tools

FEWEST: dict[Role, int] = {"router": 64, "grader": 48, "writer": 96, "judge": 32}
"""Completion tokens below which a reply in a role could not hold its object, so that the call is not made."""

MOST_TEXT = 4000
"""Characters of a tool's text that a run keeps."""

MOST_CANDIDATES = 50
"""Passages of one tool call that a run looks at."""

LIMITS = {
    "tokens": "token limit",
    "model_calls": "model call limit",
    "usd": "money limit",
    "seconds": "time limit",
}


@dataclass(slots=True)
class MeteredModel:
    """A model under the ledger of one run, with the circuit that opens when the model refuses or is gone."""

    model: Model
    ledger: Ledger
    gone: ModelUnavailableError | None = None

    def __post_init__(self) -> None:
        self.ledger.require_prices()

    async def reply(self, path: str, request: Request) -> Reply:
        """Return the reply, or raise BudgetSpentError, or the ModelError of the model.

        After a ModelUnavailableError the same error is raised without another request.
        """
        if self.gone is not None:
            raise self.gone
        hold = self.ledger.admit_model(path, ask_of(request))
        if isinstance(hold, str):
            raise BudgetSpentError(hold, f"the {LIMITS[hold]} leaves no room for the model")
        meter = _Meter(self.ledger, hold, request)
        try:
            return await self._replied(path, meter)
        except ModelUnavailableError as error:
            self.gone = error
            raise
        finally:
            meter.close()

    async def _replied(self, path: str, meter: _Meter) -> Reply:
        granted = replace(meter.request, max_tokens=meter.hold.ceiling, again=meter.again)
        try:
            async with asyncio.timeout(self.ledger.seconds_left):
                reply = await self.model.reply(path, granted)
        except TimeoutError:
            self.ledger.stop("seconds")
            raise BudgetSpentError("seconds", "the time limit was reached while the model wrote") from None
        except BudgetSpentError as error:
            self.ledger.stop(error.limit)
            meter.take(error.attempts)
            raise
        except ModelError as error:
            meter.take(error.attempts or _turned_away(error))
            raise
        meter.take_reply(reply)
        return reply

    def room(self, request: Request) -> int:
        """Return how many more bytes the prompt may have for the call still to be admitted."""
        return self.ledger.room(ask_of(request))

    def reserve(self, request: Request) -> None:
        """Keep room for one small call of the writer, such as this one."""
        self.ledger.reserve(ask_of(request))


def ask_of(request: Request) -> Ask:
    """Return what a request asks the ledger for."""
    return Ask(request.role, prompt_size(request), request.max_tokens, FEWEST[request.role])


def _turned_away(error: ModelError) -> tuple[Attempt, ...]:
    """Return the attempt of an error that names none: nothing left for a model that is not there."""
    return () if isinstance(error, ModelUnavailableError) else (Attempt(0.0, "400"),)


@dataclass(slots=True)
class _Meter:
    """Charge the attempts of one admitted call, each once; what never reported is charged in full."""

    ledger: Ledger
    hold: Hold
    request: Request
    charged: int = field(default=0, init=False)
    settled: bool = field(default=False, init=False)

    def again(self, attempt: Attempt) -> bool:
        """Charge a failed attempt and tell whether another may leave."""
        self._charge(attempt)
        return self.ledger.extend(self.hold)

    def take(self, attempts: Sequence[object]) -> None:
        """Charge the attempts of a call that `again` has not charged yet."""
        for attempt in attempts[self.charged :]:
            self._charge(cast(Attempt, attempt))
        self.settled = True

    def take_reply(self, reply: Reply) -> None:
        """Charge the attempts of a reply and learn from the usage it reports."""
        written = size_of("".join([reply.text, *(call.name + call.arguments for call in reply.calls)])).total
        attempts = reply.attempts or (Attempt(0.0, "ok", reply.usage, 0, written),)
        last = attempts[-1]
        if last.usage is None:
            last = replace(
                last, usage=reply.usage, outcome="ok", completion_bytes=max(written, last.completion_bytes)
            )
        self.take([*attempts[:-1], last])
        if last.usage is not None:
            self.ledger.rate(self.request.role).learn(content_size(self.request), last.usage.prompt)

    def _charge(self, attempt: Attempt) -> None:
        self.ledger.charge(self.hold, attempt)
        self.charged += 1

    def close(self) -> None:
        """Charge a call that was cut before it could report, and give back what was set aside."""
        if not self.settled:
            self._charge(Attempt(0.0, "cut"))
        self.ledger.settle(self.hold)


@dataclass(frozen=True, slots=True)
class MeteredTools:
    """Tools whose results are cut to their share of a run; the ledger admits their calls batch by batch."""

    tools: Tools

    def cards(self) -> tuple[ToolCard, ...]:
        """Return the tools a policy may choose from."""
        return self.tools.cards()

    async def call(self, path: str, name: str, arguments: Arguments, seen: frozenset[int]) -> Observation:
        """Run one tool and return what it found, cut to its share."""
        found = await self.tools.call(path, name, arguments, seen)
        return replace(found, text=_cut(found.text), candidates=tuple(found.candidates[:MOST_CANDIDATES]))


def _cut(text: str) -> str:
    if len(text) <= MOST_TEXT:
        return text
    return f"{text[:MOST_TEXT]} … (cut: {MOST_TEXT:,} of {len(text):,} characters)"
