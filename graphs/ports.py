"""The four doors to the outside of a run: Model, Tools, Library, Clock.

Every call carries a call path (`r2.search.1`), fixed before the call starts. It names the call in traces;
metering, retrying, recording and replaying are wrappers around these ports and exist nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from ..tools.evidence import Candidate, Locator, Reading, Span

Standing = Literal["same", "changed", "gone"]
Role = Literal["router", "grader", "writer", "judge"]
Finish = Literal["stop", "length", "tool_calls", "content_filter"]
Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is asked, in which role, the schema its reply must fit, the tools it may choose.

    `prompt` names the prompt file with its version and hash; `max_tokens` is the ceiling of the completion.
    `again`, where given, charges a failed attempt and tells whether the budget lets another one leave.
    """

    role: Role
    messages: tuple[Mapping[str, str], ...]
    schema: Mapping[str, Any] | None = None
    schema_name: str = ""
    tools: tuple[Mapping[str, Any], ...] = ()
    max_tokens: int = 1024
    prompt: str = ""
    again: Callable[[Attempt], bool] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a server says it used, in tokens; `cached` is part of `prompt`, `reasoning` of `completion`."""

    prompt: int
    completion: int
    cached: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        """Return prompt and completion together."""
        return self.prompt + self.completion


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request that left for the model: seconds it took, how it ended, its usage, bytes both ways.

    `outcome` is "ok" or a few words such as "429"; bytes count the UTF-8 of what was sent and received.
    """

    seconds: float
    outcome: str
    usage: Usage | None = None
    prompt_bytes: int = 0
    completion_bytes: int = 0


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A tool call as a model wrote it: `arguments` is the JSON text, unchecked."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model replied, why it ended, what it says it used, and every attempt made for it."""

    text: str
    calls: tuple[ModelCall, ...] = ()
    finish: Finish = "stop"
    usage: Usage | None = None
    attempts: tuple[Attempt, ...] = ()


@dataclass(frozen=True, slots=True)
class Observation:
    """What came back from a tool call; a failure is an observation too, never an exception."""

    path: str
    tool: str
    status: Literal["ok", "refused", "failed", "timeout", "not_run"]
    text: str = ""
    candidates: tuple[Candidate, ...] = ()
    source: str = ""


@dataclass(frozen=True, slots=True)
class ToolCard:
    """A tool as a policy sees it: name, description, JSON schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any] = field(default_factory=dict)


class Model(Protocol):
    """Reply to a request."""

    async def reply(self, path: str, request: Request) -> Reply:
        """Return the model's reply or raise a ModelError, or BudgetSpentError at the deadline."""


class Tools(Protocol):
    """Run registered tools by name under the run's access."""

    def cards(self) -> tuple[ToolCard, ...]:
        """Return the tools a policy may choose from."""

    async def call(self, path: str, name: str, arguments: Arguments, seen: frozenset[int]) -> Observation:
        """Run one tool; unknown names, bad arguments and failures come back as observations."""


class Library(Protocol):
    """Read texts of passages under access, and say how the corpus stands now."""

    @property
    def revision(self) -> int:
        """Return the corpus revision the run is pinned to."""

    async def readings(self, path: str, ids: Sequence[int]) -> Mapping[int, Reading]:
        """Return the passages that are readable now, with their texts."""

    async def surroundings(self, path: str, ids: Sequence[int]) -> Mapping[int, str]:
        """Return the text of the section around each passage, the passage included, bounded in length."""

    async def similarity(self, path: str, query: str, ids: Sequence[int]) -> Mapping[int, tuple[float, ...]]:
        """Return the cosine of each sentence of each passage to the query; empty without an encoder."""

    async def frequencies(self, path: str, terms: Sequence[str]) -> Frequencies:
        """Return in how many readable passages each term stands."""

    async def quotes(self, path: str, spans: Sequence[Span]) -> tuple[tuple[str, Locator], ...]:
        """Return the stored text and the place of each span; the text is empty when it may not be read."""

    async def standing(self, path: str, documents: Iterable[int]) -> Mapping[int, Standing]:
        """Look at the files of documents on disk now."""

    async def notes(self, path: str) -> tuple[str, ...]:
        """Return what a reader should know about the corpus (vectors not ready, nothing indexed)."""

    async def unread(self, path: str, documents: Iterable[int]) -> tuple[str, ...]:
        """Return what could not be read of documents when they were indexed, such as a page without text."""


@dataclass(frozen=True, slots=True)
class Frequencies:
    """How many of `passages` readable passages hold each term; unknown terms count 0."""

    passages: int
    counts: Mapping[str, int] = field(default_factory=dict)


class Clock(Protocol):
    """Tell the time; no node reads any other clock."""

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start, never running backwards."""

    def today(self, path: str) -> str:
        """Return the date of the run as ISO 8601."""


@dataclass(frozen=True, slots=True)
class Ports:
    """The doors of one run; `model` is None where the rules policy needs none."""

    tools: Tools
    library: Library
    clock: Clock
    model: Model | None = None
