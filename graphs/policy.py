"""What a policy is shown and what it may decide: five async callables in a frozen record.

A policy never holds permissions, limits or ids. Guards, vetoes, number checks, clusters and packing are
common code of the nodes and run whatever the policy says. "Unknown" is a legal answer everywhere.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from ..tools.evidence import ClaimKind, Feature, Reading, Span, Verdict
from .ports import Arguments, ToolCard
from .times import Period

RouteKind = Literal["none", "one", "iterative"]
Reply = Literal["", "empty", "greeting", "thanks", "conversation", "arithmetic", "task"]
GradeValue = Literal["supports", "related", "off", "ungraded"]
Ladder = Literal["sufficient", "partial", "conflicting", "not_in_sources"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Decision(Generic[T]):
    """A decision with its reason; `by` names who took it, `rejected` what was considered and refused."""

    kind: str
    value: T
    reason: str
    by: str
    confidence: float = 1.0
    rejected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ground:
    """An earlier claim with the source, the document and the spans that carried it."""

    text: str
    source: str
    document: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question of the conversation with what it was resolved to and how it ended.

    `spans` are the places that its claims cite; a turn is checked against them before it is used again.
    `grounds` are its claims with their sources; a policy is shown only those that are readable still.
    """

    question: str
    standalone: str
    status: str
    claims: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    grounds: tuple[Ground, ...] = ()


@dataclass(frozen=True, slots=True)
class Need:
    """A sub-question that the answer must meet; `subject` names what a comparison is about.

    `when` is the time it is about, set by the route node; None takes every version for one that holds.
    """

    id: str
    text: str
    subject: str = ""
    when: Period | None = None


@dataclass(frozen=True, slots=True)
class RouteView:
    """The question, the turns before it, and the tools there are."""

    question: str
    turns: tuple[Turn, ...] = ()
    tools: tuple[ToolCard, ...] = ()


@dataclass(frozen=True, slots=True)
class Route:
    """Where the question goes: rounds allowed at first, the question made standalone, its needs."""

    kind: RouteKind
    standalone: str
    needs: tuple[Need, ...]
    reply: Reply = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A numbered passage (`S3`) with its ranks, its features and the cosine of each sentence to each need.

    `around` is the text of its section beside it, where an identifier may stand that it does not repeat;
    `replaces` are the passages held of older versions that the document is said to replace.
    """

    s: int
    reading: Reading
    score: float
    ranks: Mapping[str, int] = field(default_factory=dict)
    features: Mapping[str, Feature] = field(default_factory=dict)
    cosines: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    grade: GradeValue = "ungraded"
    needs: tuple[str, ...] = ()
    around: str = ""
    replaces: tuple[Reading, ...] = ()


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Weight (1 + idf) of every term of the question over what is readable; `unknown` ones stand nowhere."""

    weights: Mapping[str, float] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A tool call a policy would like to see; `need` is the id of the need it serves."""

    tool: str
    arguments: Arguments
    need: str


@dataclass(frozen=True, slots=True)
class RewriteView:
    """What is still open, what was already asked, and which calls failed and why."""

    question: str
    needs: tuple[Need, ...]
    round: int
    asked: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    lexicon: Lexicon
    tools: tuple[ToolCard, ...]
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GradeView:
    """The needs and all evidence held so far."""

    question: str
    needs: tuple[Need, ...]
    evidence: tuple[Evidence, ...]
    lexicon: Lexicon


@dataclass(frozen=True, slots=True)
class Grade:
    """What a passage is worth, for which needs, and why."""

    value: GradeValue
    needs: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Grades:
    """A grade for each passage by number, the needs that are met, and the set's place on the ladder."""

    grades: Mapping[int, Grade]
    met: tuple[str, ...]
    ladder: Ladder
    missing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Draft:
    """A claim as written: text and the sentence ids it rests on (`S3.2`, `S0.1` for the user's words).

    `against` is the index of the draft that it disagrees with; `older` then says how its version is marked
    when the other one decides, and is empty when neither does.
    """

    text: str
    cites: tuple[str, ...]
    kind: ClaimKind = "stated"
    formula: str | None = None
    need: str | None = None
    qualifies: int | None = None
    against: int | None = None
    older: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A draft that did not pass its check, with the reason."""

    draft: Draft
    verdict: Verdict
    reason: str


@dataclass(frozen=True, slots=True)
class WriteView:
    """The packed evidence, the user's own words as `S0`, and what was refused before."""

    question: str
    needs: tuple[Need, ...]
    evidence: tuple[Evidence, ...]
    lexicon: Lexicon
    words: tuple[str, ...] = ()
    reply: Reply = ""
    refused: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True)
class Writing:
    """Drafts, and per unmet need what is missing."""

    drafts: tuple[Draft, ...]
    missing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JudgeView:
    """Drafts that code could not settle, with the texts they rest on."""

    drafts: tuple[Draft, ...]
    texts: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Policy:
    """Five decisions; replace one with `dataclasses.replace(rules, grade=mine)`.

    `ahead` says that routing may take so long that round 1's text searches had better run beside it.
    """

    name: str
    route: Callable[[RouteView], Awaitable[Decision[Route]]]
    rewrite: Callable[[RewriteView], Awaitable[Decision[tuple[PlannedCall, ...]]]]
    grade: Callable[[GradeView], Awaitable[Decision[Grades]]]
    write: Callable[[WriteView], Awaitable[Decision[Writing]]]
    judge: Callable[[JudgeView], Awaitable[Decision[tuple[Verdict, ...]]]]
    ahead: bool = False
