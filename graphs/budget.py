"""Limits of a run and the ledger that holds them; no reply of a model and no text can move either."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields

from ..tools.errors import UsageError
from .estimate import Size, TokenRate
from .ports import Attempt, Role, Usage

CLOSING_STEPS = 3
"""Steps kept for answer, cite and render, so that a run always ends with a checked answer."""

ROUND_STEPS = 3
"""Steps of one more round: rewrite, search, grade."""

FEWEST_STEPS = 7
"""Steps of the shortest run that searches: route, one round and the closing steps."""

LONGEST_TOKEN = 8
"""Bytes a token of a completion has on the mean at most; a longer reply ignored its ceiling."""

PER_MILLION = 1_000_000
"""Tokens a price is given for."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of one run: graph nodes run, calls to models and tools started, tokens, wall seconds, money.

    Tokens are those of prompts and completions in all attempts; `usd` infinite is no limit on money.
    """

    steps: int = 24
    model_calls: int = 12
    tool_calls: int = 24
    tokens: int = 32_000
    seconds: float = 60.0
    usd: float = math.inf

    def __post_init__(self) -> None:
        if self.steps < FEWEST_STEPS:
            raise UsageError(f"budget: steps={self.steps} is too few; a run needs at least {FEWEST_STEPS}")
        for name in ("model_calls", "tool_calls", "tokens", "usd"):
            value = getattr(self, name)
            if not value >= 0:
                raise UsageError(f"budget: {name}={value} is no amount; give 0 or more")
        if not self.seconds > 0:
            raise UsageError(f"budget: seconds={self.seconds} is not positive; give a time such as 30")

    def narrowed(self, other: Budget) -> Budget:
        """Return the lower of both budgets, limit by limit: a caller may lower limits, never raise them."""
        names = [one.name for one in fields(self)]
        return Budget(**{name: min(getattr(self, name), getattr(other, name)) for name in names})


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs in US dollars per million tokens, prompt and completion."""

    prompt: float
    completion: float


@dataclass(frozen=True, slots=True)
class Tariff:
    """Which model serves each role, and what each model costs; one without a price is not counted in usd."""

    models: Mapping[Role, str] = field(default_factory=dict)
    prices: Mapping[str, Price] = field(default_factory=dict)

    def model(self, role: Role) -> str:
        """Return the name of the model in a role; all roles are one model where nothing is said."""
        return self.models.get(role, "")

    def price(self, role: Role) -> Price | None:
        """Return the price of the model in a role, or None where none is known."""
        return self.prices.get(self.model(role))


@dataclass(frozen=True, slots=True)
class Ask:
    """A model call that asks to be admitted: its prompt, and completion tokens wanted and useful at least."""

    role: Role
    size: Size
    most: int
    fewest: int


@dataclass(frozen=True, slots=True)
class Hold:
    """An admitted model call: what its prompt was estimated at, and the ceiling of its completion."""

    path: str
    role: Role
    prompt: int
    ceiling: int

    @property
    def tokens(self) -> int:
        """Return the tokens set aside for the call."""
        return self.prompt + self.ceiling


@dataclass(frozen=True, slots=True)
class Entry:
    """One event of the ledger: what was admitted or charged under which call path, when, and how much.

    `seconds` count from the beginning of the run; `tokens` are those set aside or charged.
    """

    what: str
    path: str
    admitted: bool
    seconds: float
    tokens: int = 0


@dataclass(slots=True)
class Ledger:
    """Count what a run spends and admit calls before they start; `now` gives monotonic seconds."""

    budget: Budget
    now: Callable[[], float]
    tariff: Tariff = field(default_factory=Tariff)
    steps: int = 0
    tool_calls: int = 0
    model_calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    entries: list[Entry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    stopped_by: str | None = None
    began: float = field(init=False)
    _held: dict[str, Hold] = field(default_factory=dict)
    _rates: dict[str, TokenRate] = field(default_factory=dict)
    _reserved: Ask | None = None

    def __post_init__(self) -> None:
        self.began = self.now()

    def require_prices(self) -> None:
        """Refuse a limit on money where a model has no price, for it could not be held: UsageError."""
        roles: tuple[Role, ...] = ("router", "grader", "writer", "judge")
        unpriced = sorted({self.tariff.model(role) for role in roles if self.tariff.price(role) is None})
        if self.budget.usd < math.inf and unpriced:
            raise UsageError(
                f"budget: usd={self.budget.usd} cannot be held without the price of {unpriced[0]!r}; "
                f"give it in quaere.toml under [prices.{unpriced[0]!r}]"
            )

    @property
    def seconds(self) -> float:
        """Return the seconds since the run began."""
        return self.now() - self.began

    @property
    def seconds_left(self) -> float:
        """Return the seconds until the deadline, never below zero."""
        return max(0.0, self.budget.seconds - self.seconds)

    @property
    def tokens_left(self) -> int:
        """Return the tokens neither spent nor set aside; below zero when a server went past its ceiling."""
        return self.budget.tokens - self.tokens - sum(hold.tokens for hold in self._held.values())

    @property
    def usd_left(self) -> float:
        """Return the money neither spent nor set aside."""
        held = sum(self._cost(hold.role, hold.prompt, hold.ceiling) for hold in self._held.values())
        return self.budget.usd - self.usd - held

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

    def note(self, text: str) -> None:
        """Remember once what a reader of the answer should know about how it came about."""
        if text not in self.notes:
            self.notes.append(text)

    def rate(self, role: Role) -> TokenRate:
        """Return the rate of tokens a byte of the model in a role, as it is known by now."""
        return self._rates.setdefault(self.tariff.model(role), TokenRate())

    def reserve(self, ask: Ask) -> None:
        """Keep room for one small call of the writer until a call of the writer is admitted."""
        self._reserved = ask

    def admit_model(self, path: str, ask: Ask) -> Hold | str:
        """Set aside what a call may cost at most, or return the limit that forbids it and remember it."""
        hold = Hold(path, ask.role, self.rate(ask.role).estimate(ask.size), 0)
        limit, ceiling = self._ceiling(ask, hold.prompt)
        hold = Hold(path, ask.role, hold.prompt, ceiling)
        self.entries.append(Entry(f"model {ask.role}", path, limit is None, self.seconds, hold.tokens))
        if limit is not None:
            self.stop(limit)
            return limit
        self.model_calls += 1
        self._held[path] = hold
        if ask.role == "writer":
            self._reserved = None
        return hold

    def _ceiling(self, ask: Ask, prompt: int) -> tuple[str | None, int]:
        """Return the limit that forbids a call, or None and the completion tokens it may use."""
        kept = self._reserved if ask.role != "writer" else None
        kept_prompt = self.rate("writer").estimate(kept.size) if kept else 0
        kept_tokens, kept_usd = (
            (kept_prompt + kept.fewest, self._cost("writer", kept_prompt, kept.fewest)) if kept else (0, 0.0)
        )
        if self.seconds_left <= 0:
            return "seconds", 0
        if self.model_calls + (kept is not None) >= self.budget.model_calls:
            return "model_calls", 0
        room = self.tokens_left - kept_tokens - prompt
        if room < ask.fewest:
            return "tokens", 0
        affordable = self._affordable(ask.role, prompt, self.usd_left - kept_usd)
        if affordable < ask.fewest:
            return "usd", 0
        return None, int(min(ask.most, room, affordable))

    def _affordable(self, role: Role, prompt: int, usd: float) -> float:
        """Return the completion tokens that money pays for behind a prompt."""
        price = self.tariff.price(role)
        left = usd - self._cost(role, prompt, 0)
        if price is None or left == math.inf:
            return math.inf
        if left < 0:
            return 0
        return math.floor(left * PER_MILLION / price.completion) if price.completion else math.inf

    def room(self, ask: Ask) -> int:
        """Return how many more bytes a prompt may have for its call still to be admitted, at least 0."""
        rate = self.rate(ask.role)
        prompt = rate.estimate(ask.size)
        tokens = float(self.tokens_left - prompt - ask.fewest)
        price = self.tariff.price(ask.role)
        if price is not None and price.prompt and self.usd_left < math.inf:
            usd = self.usd_left - self._cost(ask.role, prompt, ask.fewest)
            tokens = min(tokens, usd * PER_MILLION / price.prompt)
        return max(0, math.floor(tokens / rate.most) - 1)

    def charge(self, hold: Hold, attempt: Attempt) -> None:
        """Charge one attempt of an admitted call by its usage, or by the estimate where none is reported."""
        prompt, completion = self._charged(hold, attempt)
        self.tokens += prompt + completion
        self.usd += self._cost(hold.role, prompt, completion)
        what = f"attempt {hold.role} {attempt.outcome}"[:60]
        self.entries.append(Entry(what, hold.path, True, self.seconds, prompt + completion))

    def _charged(self, hold: Hold, attempt: Attempt) -> tuple[int, int]:
        """Return prompt and completion tokens; a failed attempt that reports nothing used costs nothing."""
        usage = attempt.usage or Usage(0, 0)
        prompt = max(usage.prompt, usage.cached, 0)
        completion = max(usage.completion, usage.reasoning, 0)
        if attempt.usage is not None and attempt.outcome != "ok":
            return prompt, completion
        if completion == 0:
            whole = attempt.outcome == "ok" or _refused(attempt)
            completion = self._written(hold, attempt.completion_bytes) if whole else hold.ceiling
        return (prompt if prompt > 0 else hold.prompt), completion

    def _written(self, hold: Hold, written: int) -> int:
        """Estimate what was written: no more than the ceiling, unless no tokens are as long as that."""
        by_rate = math.ceil(written * self.rate(hold.role).most)
        return min(by_rate, max(hold.ceiling, math.ceil(written / LONGEST_TOKEN)))

    def extend(self, hold: Hold) -> bool:
        """Tell whether another attempt of a call fits beside all that is set aside and charged."""
        return self.seconds_left > 0 and self.tokens_left >= 0 and self.usd_left >= 0

    def settle(self, hold: Hold) -> None:
        """Give back what was set aside for a call, after its attempts were charged; name an overshoot."""
        self._held.pop(hold.path, None)
        over = self.tokens - self.budget.tokens
        if over > 0:
            self.stop("tokens")
            self.note(
                f"the model's server went {over:,} tokens past the limit of {self.budget.tokens:,}; "
                "they are charged, and no later call was made"
            )
        if self.usd > self.budget.usd:
            self.stop("usd")

    def _cost(self, role: Role, prompt: int, completion: int) -> float:
        price = self.tariff.price(role)
        return (prompt * price.prompt + completion * price.completion) / PER_MILLION if price else 0.0

    def spent(self) -> Mapping[str, float]:
        """Return what was spent; seconds are rounded to milliseconds, money to a millionth of a dollar."""
        counts: dict[str, float] = {
            "steps": self.steps,
            "model_calls": self.model_calls,
            "tool_calls": self.tool_calls,
            "tokens": self.tokens,
            "seconds": round(self.seconds, 3),
        }
        return counts | ({"usd": round(self.usd, 6)} if self.tariff.prices else {})


def _refused(attempt: Attempt) -> bool:
    """Tell whether a server turned a request away with a status, before it wrote anything."""
    return attempt.outcome[:3].isdecimal() and attempt.completion_bytes == 0
