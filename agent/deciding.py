"""Who decides in a run: rules, or a model behind its server, as arguments, settings, environment say."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from ..graphs.budget import Ledger
from ..graphs.policy import Policy
from ..graphs.rules import rules
from ..tools.errors import ModelUnavailableError, UsageError
from .asking import Question, Seat
from .capabilities import CapabilityBook
from .endpoint import Endpoint, endpoint_of, is_named, kept_here, tariff_of
from .settings import Settings

NAMES = ("auto", "rules", "model")


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model that was asked for: what settings say of it, and what was found out about servers."""

    settings: Settings
    book: CapabilityBook


def wants_model(question: Question, settings: Settings) -> bool:
    """Tell whether a model is to decide; UsageError for a policy that is not there."""
    wanted = question.policy or settings.model.policy
    if isinstance(wanted, Policy):
        return False
    if wanted not in NAMES:
        raise UsageError(f"there is no policy {wanted!r}; give one of {', '.join(NAMES)}")
    return wanted == "model" or (wanted == "auto" and is_named(settings.model, os.environ))


@asynccontextmanager
async def deciding(
    question: Question, seat: Seat, choice: ModelChoice | None, ledger: Ledger
) -> AsyncIterator[Policy]:
    """Give the policy of one run; ModelUnavailableError where a model is wanted and cannot be had."""
    endpoint = _endpoint(choice, ledger) if choice else None
    if choice is None or endpoint is None:
        yield question.policy if isinstance(question.policy, Policy) else rules
        return
    from ..graphs.metering import MeteredModel
    from ..graphs.model_ask import ModelOptions
    from ..graphs.model_policy import model_policy
    from .model import open_model

    settings = choice.settings
    ledger.tariff = tariff_of(endpoint, settings.prices)
    sources = await asyncio.to_thread(seat.reader.holdings) if settings.model.local else ()
    local = kept_here(settings.model, endpoint, sources)
    options = ModelOptions(local=local, degrade=settings.model.degrade)
    async with open_model(endpoint, choice.book, lambda: ledger.seconds_left) as model:
        yield model_policy(MeteredModel(model, ledger), rules, options)


def _endpoint(choice: ModelChoice, ledger: Ledger) -> Endpoint | None:
    """Return where the model is, or None where the rules take over because there is no key."""
    try:
        return endpoint_of(choice.settings.model, os.environ)
    except ModelUnavailableError as error:
        if not choice.settings.model.degrade:
            raise
        ledger.note(f"the model could not be used ({error}); the rules took over")
        return None
