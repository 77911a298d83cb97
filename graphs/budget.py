"""Limits of a run and the ledger that holds them; no reply of a model and no text can move either."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ..tools.errors import UsageError

CLOSING_STEPS = 3
"""Steps kept for answer, cite and render, so that a run always ends with a checked answer."""

ROUND_STEPS = 3
"""Steps of one more round: rewrite, search, grade."""

FEWEST_STEPS = 7
"""Steps of the shortest run that searches: route, one round and the closing steps."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one run: graph nodes run, tool calls started, wall seconds."""

    steps: int = 24
    tool_calls: int = 24
    seconds: float = 60.0

    def __post_init__(self) -> None:
        if self.steps < FEWEST_STEPS:
            raise UsageError(f"budget: steps={self.steps} is too few; a run needs at least {FEWEST_STEPS}")
        if self.tool_calls < 0:
            raise UsageError(f"budget: tool_calls={self.tool_calls} is negative; give 0 or more")
        if not self.seconds > 0:
            raise UsageError(f"budget: seconds={self.seconds} is not positive; give a time such as 30")

    def narrowed(self, other: Budget) -> Budget:
        """Return the lower of both budgets, limit by limit: a caller may lower limits, never raise them."""
        return Budget(
            steps=min(self.steps, other.steps),
            tool_calls=min(self.tool_calls, other.tool_calls),
            seconds=min(self.seconds, other.seconds),
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """One event of the ledger: what was charged under which call path, `seconds` since the run began."""

    what: str
    path: str
    admitted: bool
    seconds: float


@dataclass(slots=True)
class Ledger:
    """Count what a run spends and admit calls before they start; `now` gives monotonic seconds."""

    budget: Budget
    now: Callable[[], float]
    steps: int = 0
    tool_calls: int = 0
    entries: list[Entry] = field(default_factory=list)
    stopped_by: str | None = None
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.now()

    @property
    def seconds(self) -> float:
        """Return the seconds since the run began."""
        return self.now() - self.began

    @property
    def seconds_left(self) -> float:
        """Return the seconds until the deadline, never below zero."""
        return max(0.0, self.budget.seconds - self.seconds)

    def charge_step(self, node: str, path: str) -> None:
        """Charge one run of a graph node."""
        self.steps += 1
        self.entries.append(Entry(f"step {node}", path, True, self.seconds))

    def admit_tools(self, paths: Sequence[str]) -> tuple[bool, ...]:
        """Admit a batch of tool calls in plan order before any of them starts."""
        admitted = tuple(self._admit_tool(path) for path in paths)
        if not all(admitted):
            self.stop(self._spent_limit() or "tool_calls")
        return admitted

    def _admit_tool(self, path: str) -> bool:
        fits = self.tool_calls < self.budget.tool_calls and self.seconds_left > 0
        self.tool_calls += fits
        self.entries.append(Entry("tool", path, fits, self.seconds))
        return fits

    def _spent_limit(self) -> str | None:
        if self.seconds_left <= 0:
            return "seconds"
        if self.tool_calls >= self.budget.tool_calls:
            return "tool_calls"
        return None

    def may_do(self, steps: int) -> bool:
        """Tell whether that many more steps fit; if they do not, remember the limit that stopped the run."""
        if self.steps + steps > self.budget.steps:
            self.stop("steps")
            return False
        limit = self._spent_limit()
        if limit:
            self.stop(limit)
        return limit is None

    def fits(self, steps: int) -> bool:
        """Tell whether that many more steps fit, without stopping the run when they do not."""
        return self.steps + steps <= self.budget.steps and self.seconds_left > 0

    def stop(self, limit: str) -> None:
        """Remember the first limit that kept the run from going on."""
        self.stopped_by = self.stopped_by or limit

    def spent(self) -> Mapping[str, float]:
        """Return what was spent; seconds are rounded to milliseconds."""
        return {"steps": self.steps, "tool_calls": self.tool_calls, "seconds": round(self.seconds, 3)}
