"""What one run is given: the question with what may be set for it, and the seat it reads from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypedDict

from ..graphs.budget import Budget
from ..graphs.policy import Policy, Turn
from ..tools.embed import Encoder
from ..tools.evidence import NO_FILTER, Access, Filter
from ..tools.reader import Reader


class Given(TypedDict, total=False):
    """What may be set for a question in Python."""

    history: Sequence[Turn]
    filter: Filter
    budget: Budget | None
    policy: Policy | str | None


@dataclass(frozen=True, slots=True)
class Question:
    """A question with what may be set for it: earlier turns, a narrowing filter, lower limits, a policy.

    `policy` is one, or the name of one (`auto`, `rules`, `model`); None is what settings say. `tell` is told
    every decision in one line.
    """

    text: str
    history: Sequence[Turn] = ()
    filter: Filter = NO_FILTER
    budget: Budget | None = None
    policy: Policy | str | None = None
    tell: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True)
class Seat:
    """What one run or search reads from: a pinned reader, the encoder if there is one, and who asks."""

    reader: Reader
    encoder: Encoder | None
    access: Access
