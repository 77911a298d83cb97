"""Send a request again when it failed for a reason that may pass, never past the deadline or the budget."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from ..graphs.ports import Attempt, Model, Reply, Request
from ..tools.errors import BudgetSpentError, ModelError, ModelUnavailableError
from .endpoint import WITHOUT
from .refusals import FeatureError, PassingError

if TYPE_CHECKING:
    from tenacity import RetryCallState

BACKOFF = 0.5
"""Seconds the first wait has at most where a server asks for none; each later one twice as many."""

LONGEST_BACKOFF = 8.0

MOST_FEATURES = 10
"""Refused features after which a server is given up; there are no more to refuse."""


class RetryingModel:
    """Retry what may pass; every attempt is in the reply, or in the error that ends the tries."""

    def __init__(
        self, model: Model, attempts: int, seconds_left: Callable[[], float], backoff: float = BACKOFF
    ) -> None:
        self._model = model
        self._attempts = attempts
        self._seconds_left = seconds_left
        self._backoff = backoff

    async def reply(self, path: str, request: Request) -> Reply:
        """Return the reply of the first try that gave one; ModelError, or BudgetSpentError."""
        from tenacity import AsyncRetrying, retry_if_exception_type

        tries = _Tries(self._model, path, request)
        retrying = AsyncRetrying(
            sleep=asyncio.sleep,
            wait=lambda state: self._wait(state, tries),
            stop=lambda state: self._gives_up(state, tries),
            retry=retry_if_exception_type((PassingError, FeatureError)),
            reraise=True,
        )
        try:
            reply: Reply = await retrying(tries.send)
        except (PassingError, FeatureError) as error:
            raise self._last_word(error, tries) from None
        except (ModelError, BudgetSpentError) as error:
            error.attempts = tuple(tries.attempts)
            raise
        return replace(reply, attempts=tuple(tries.attempts))

    def _wait(self, state: RetryCallState, tries: _Tries) -> float:
        """Return the seconds to wait: none without a refused feature, else as asked for, else by chance."""
        from tenacity import wait_random_exponential

        error = _error(state)
        if isinstance(error, FeatureError):
            return 0.0
        wait = error.wait if isinstance(error, PassingError) else None
        if wait is not None:
            return wait
        return wait_random_exponential(multiplier=self._backoff, max=LONGEST_BACKOFF)(state)

    def _gives_up(self, state: RetryCallState, tries: _Tries) -> bool:
        """Tell whether this failure was the last one, and note what the next try waits for."""
        tries.count(_error(state))
        if tries.failed >= self._attempts or tries.features > MOST_FEATURES:
            return True
        if state.upcoming_sleep >= self._seconds_left():
            tries.late = True
            return True
        return not tries.may_go_on(state.upcoming_sleep)

    def _last_word(self, error: PassingError | FeatureError, tries: _Tries) -> ModelError | BudgetSpentError:
        attempts = tuple(tries.attempts)
        waits_too_long = isinstance(error, PassingError) and error.wait is not None
        if tries.forbidden or (tries.late and not waits_too_long):
            limit = "seconds" if tries.late or self._seconds_left() <= 0 else "tokens"
            return BudgetSpentError(
                limit, f"{error}; the limits of the run allow no further attempt", attempts
            )
        times = f", {len(attempts)} times" if len(attempts) > 1 else ""
        message = f"{error}{times}; try again later; {WITHOUT}"
        return ModelUnavailableError(message, attempts, status=error.status)


@dataclass(slots=True)
class _Tries:
    """The tries of one request: all attempts so far, how many failed, why there will be no more."""

    model: Model
    path: str
    request: Request
    attempts: list[Attempt] = field(default_factory=list)
    failed: int = 0
    features: int = 0
    late: bool = False
    forbidden: bool = False

    async def send(self) -> Reply:
        """Send the request once and keep the record of it."""
        path = f"{self.path}.try{self.failed + self.features + 1}"
        try:
            reply = await self.model.reply(path, self.request)
        except (ModelError, BudgetSpentError) as error:
            self.attempts.extend(cast(tuple[Attempt, ...], error.attempts))
            raise
        self.attempts.extend(reply.attempts)
        return reply

    def count(self, error: BaseException | None) -> None:
        """Count a failure as one of a feature or of the server."""
        if isinstance(error, FeatureError):
            self.features += 1
        else:
            self.failed += 1

    def may_go_on(self, wait: float) -> bool:
        """Note the wait in the last attempt, have it charged, and tell whether another one may leave."""
        if not self.attempts:
            return True
        last = self.attempts[-1]
        if wait:
            last = self.attempts[-1] = replace(last, outcome=f"{last.outcome}, waited {wait:.1f} s")
        self.forbidden = self.request.again is not None and not self.request.again(last)
        return not self.forbidden


def _error(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None
