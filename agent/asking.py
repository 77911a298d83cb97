"""What one run is given: the question with what may be set for it, and the seat it reads from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..graphs.budget import Budget
from ..graphs.policy import Policy, Turn
from ..tools.embed import Encoder
from ..tools.evidence import NO_FILTER, Access, Filter
from ..tools.reader import Reader


@dataclass(frozen=True, slots=True)
class Question:
    """A question with what may be set for it: earlier turns, a narrowing filter, lower limits, a policy."""

    text: str
    history: Sequence[Turn] = ()
    filter: Filter = NO_FILTER
    budget: Budget | None = None
    policy: Policy | None = None


@dataclass(frozen=True, slots=True)
class Seat:
    """What one run or search reads from: a pinned reader, the encoder if there is one, and who asks."""

    reader: Reader
    encoder: Encoder | None
    access: Access
