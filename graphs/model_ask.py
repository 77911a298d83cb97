"""Ask a model for one small object: a prompt, a schema, one repair turn, then the safe value of the decision.

Every way this may end is a value; only a model that refuses or is gone raises.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from ..prompts import load_prompt
from ..tools.errors import (
    BudgetSpentError,
    ModelContextError,
    ModelError,
    ModelReplyError,
    ModelUnavailableError,
)
from .metering import MeteredModel
from .policy import Decision, PlannedCall, Policy
from .ports import Reply, Request, Role

SAFE = "safe value"
"""Who took a decision for which the model gave nothing usable."""

RULES = "rules"
"""Who takes a decision for which a limit leaves no room for the model."""

SHOWN_BACK = 2000
"""Characters of an unusable reply that are shown to the model again."""

LONGER = 4
"""Times the ceiling is raised by when a reply was cut off by it."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Strategies:
    """Ways of rewriting a question beside asking it as it stands; each costs one model call in round 1.

    `hyde` searches by meaning for a passage that might answer, `step_back` for the more general question,
    `multi_query` for other wordings.
    """

    hyde: bool = False
    step_back: bool = False
    multi_query: bool = False


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What settings say about the model policy.

    `local` names the sources whose passages no remote model may see; `degrade` lets the rules take over when
    the model refuses or is gone; `evidence_bytes` bounds the passages of one prompt, as UTF-8.
    """

    strategies: Strategies = Strategies()
    local: frozenset[str] = frozenset()
    degrade: bool = False
    evidence_bytes: int = 16_000


@dataclass(slots=True)
class Mind:
    """The model of one run with what the policy remembers from decision to decision."""

    model: MeteredModel
    fallback: Policy
    options: ModelOptions
    asked: Counter[str] = field(default_factory=Counter)
    planned: Decision[tuple[PlannedCall, ...]] | None = None
    hidden: set[int] = field(default_factory=set)

    def note(self, text: str) -> None:
        """Tell the reader of the answer how it came about."""
        self.model.ledger.note(text)


@dataclass(frozen=True, slots=True)
class Read(Generic[T]):
    """What a reply was read as: a value or None, and what was wrong with it.

    `problems` are sentences for the model, which may correct them; `dropped` was understood and not taken.
    """

    value: T | None
    problems: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Task(Generic[T]):
    """One decision to ask for: its role, prompt and fields, the schema of the reply, how it is read."""

    decision: str
    role: Role
    fields: Mapping[str, str]
    schema: Mapping[str, Any]
    read: Callable[[Reply], Read[T]]
    tools: tuple[Mapping[str, Any], ...] = ()
    max_tokens: int = 400

    @property
    def request(self) -> Request:
        """Return the request of the first turn."""
        prompt = load_prompt(self.decision)
        messages = prompt.fill(self.fields)
        return Request(
            self.role, messages, self.schema, self.decision, self.tools, self.max_tokens, prompt.mark
        )


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """What a decision may rest on: the value, or None with who decides instead and why.

    `problems` is what was wrong with the reply, `dropped` what was not taken of it; `too_large` says that a
    shorter prompt may do.
    """

    value: T | None
    by: str
    why: str = ""
    problems: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    too_large: bool = False

    @property
    def rejected(self) -> tuple[str, ...]:
        """Return all that was considered and not taken."""
        return (*self.problems, *self.dropped)


async def ask(mind: Mind, task: Task[T]) -> Outcome[T]:
    """Ask, and once more with what was wrong when the reply cannot be used as a whole."""
    mind.asked[task.decision] += 1
    path = f"{task.decision}.{mind.asked[task.decision]}"
    first, reply = await _turn(mind, path, task, task.request)
    if first.too_large or first.by == RULES or not first.problems:
        return first
    second, _ = await _turn(mind, f"{path}.repair", task, _repair(task.request, reply, first))
    if second.value is not None:
        return second
    if first.value is not None:
        return first
    problems = (*first.problems, *second.problems)
    return replace(second, by=SAFE, why=problems[0], problems=problems, dropped=first.dropped)


async def _turn(mind: Mind, path: str, task: Task[T], request: Request) -> tuple[Outcome[T], Reply | None]:
    """Return what one request gives; a reply that cannot be used has its problems beside it."""
    try:
        reply = await mind.model.reply(path, request)
    except ModelUnavailableError:
        raise
    except BudgetSpentError as error:
        return Outcome(None, RULES, str(error)), None
    except ModelContextError as error:
        return Outcome(None, SAFE, str(error), too_large=True), None
    except ModelReplyError as error:
        return Outcome(None, SAFE, str(error), (str(error),)), None
    except ModelError as error:
        mind.note(f"the model failed: {error}")
        return Outcome(None, SAFE, str(error)), None
    if reply.finish == "content_filter":
        return Outcome(None, SAFE, "the model declined to reply"), reply
    found = task.read(reply)
    problems = found.problems
    if found.value is None and reply.finish == "length":
        problems = (f"the reply was cut off at {request.max_tokens:,} tokens; be shorter", *problems)
    by = "model" if found.value is not None else SAFE
    return Outcome(found.value, by, "", problems, found.dropped), reply


def _repair(request: Request, reply: Reply | None, outcome: Outcome[T]) -> Request:
    """Return the same request with the unusable reply and what was wrong with it behind it."""
    longer = reply is None or reply.finish == "length"
    ceiling = request.max_tokens * LONGER if longer else request.max_tokens
    if reply is None:
        return replace(request, max_tokens=ceiling)
    written = reply.text or "\n".join(f"{call.name} {call.arguments}" for call in reply.calls)
    wrong = "\n".join(f"- {problem}" for problem in outcome.problems[:8])
    messages = (
        *request.messages,
        {"role": "assistant", "content": written[:SHOWN_BACK] or "(nothing)"},
        {
            "role": "user",
            "content": f"That cannot be used:\n{wrong}\nReply again, with the JSON object only.",
        },
    )
    return replace(request, messages=messages, max_tokens=ceiling)
