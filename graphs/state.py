"""The state of one run: JSON only, ids and small values; texts of documents stay in the corpus."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from typing_extensions import TypedDict

from ..tools.evidence import Access, Filter, Span
from .budget import Ledger
from .calls import Early
from .policy import Decision, Ground, Need, Policy, Turn
from .ports import Ports
from .times import Period

MOST_ROUNDS = 3
"""Rounds of searching at most, however often grade raises the allowance."""


class PeriodState(TypedDict):
    """The time a need is about: first and last day, the words that name it, the day of the run."""

    first: str
    last: str
    said: str
    today: str


class NeedState(TypedDict):
    """A need, whether evidence meets it, what was missing when it was last graded, the time it is about."""

    id: str
    text: str
    subject: str
    met: bool
    missing: str
    when: PeriodState


class CallState(TypedDict):
    """A planned tool call under its call path."""

    path: str
    tool: str
    arguments: dict[str, Any]
    need: str


class EvidenceState(TypedDict):
    """A numbered passage: `S{s}`; ranks by query and channel, cosines by need and sentence."""

    s: int
    passage: int
    document: int
    score: float
    ranks: dict[str, int]
    features: dict[str, Any]
    cosines: dict[str, list[float]]
    grade: str
    needs: list[str]
    reason: str
    round: int


class DraftState(TypedDict):
    """A claim as written, and after cite its verdict with the reason."""

    text: str
    cites: list[str]
    kind: str
    formula: str | None
    need: str | None
    qualifies: int | None
    against: int | None
    older: str
    verdict: str
    reason: str


class DecisionState(TypedDict):
    """A decision as the run remembers it."""

    path: str
    kind: str
    value: Any
    reason: str
    by: str
    rejected: list[str]


class FailureState(TypedDict):
    """A tool call that gave no evidence because it failed, timed out or was not run."""

    tool: str
    status: str
    why: str


class RunState(TypedDict, total=False):
    """Everything a run knows; each node returns the keys it changes."""

    run: str
    question: str
    turns: list[dict[str, Any]]
    route: str
    reply: str
    standalone: str
    needs: list[NeedState]
    rounds_allowed: int
    round: int
    calls: list[CallState]
    asked: list[str]
    evidence: list[EvidenceState]
    failures: list[FailureState]
    ladder: str
    stale: int
    continuing: bool
    drafts: list[DraftState]
    refused: list[DraftState]
    missing: dict[str, str]
    rewordings: int
    reopened: bool
    withdrawn: list[int]
    changed: list[int]
    notes: list[str]
    after_cite: str
    answer: dict[str, Any]
    decisions: Annotated[list[DecisionState], operator.add]


@dataclass(frozen=True, slots=True)
class Run:
    """What nodes are given besides the state: ports, policy, ledger, and who asks under which filter."""

    ports: Ports
    policy: Policy
    fallback: Policy
    ledger: Ledger
    access: Access
    filter: Filter
    packed: int = 12
    """Passages shown to the writer at most."""
    early: Early = field(default_factory=Early)
    """Searches that began before their turn."""

    def step(self, node: str, state: RunState) -> str:
        """Charge one step and return the node's call path, such as `r2.search`."""
        path = f"r{state.get('round', 0)}.{node}"
        self.ledger.charge_step(node, path)
        return path


def remember(path: str, decision: Decision[Any], value: object) -> list[DecisionState]:
    """Return the decision as one entry of the run's memory, with a short form of its value."""
    entry: DecisionState = {
        "path": path,
        "kind": decision.kind,
        "value": value,
        "reason": decision.reason,
        "by": decision.by,
        "rejected": list(decision.rejected),
    }
    return [entry]


def open_needs(state: RunState) -> tuple[Need, ...]:
    """Return the needs no evidence meets yet."""
    return tuple(need_of(need) for need in state.get("needs", []) if not need["met"])


def all_needs(state: RunState) -> tuple[Need, ...]:
    """Return all needs of the question."""
    return tuple(need_of(need) for need in state.get("needs", []))


def need_of(state: NeedState) -> Need:
    """Return a need as policies see it."""
    return Need(state["id"], state["text"], state["subject"], Period(**state["when"]))


def turns_of(state: RunState) -> tuple[Turn, ...]:
    """Return the earlier turns as policies see them."""
    return tuple(turn_of(turn) for turn in state.get("turns", []))


def turn_of(turn: Mapping[str, Any]) -> Turn:
    """Return one earlier turn from its JSON form."""
    grounds = tuple(
        Ground(one["text"], one["source"], one["document"], tuple(Span(*span) for span in one["spans"]))
        for one in turn.get("grounds", ())
    )
    return Turn(
        turn["question"],
        turn["standalone"],
        turn["status"],
        tuple(turn.get("claims", ())),
        grounds=grounds,
    )


def turn_state(turn: Turn) -> dict[str, Any]:
    """Return the JSON form of a turn."""
    return {
        "question": turn.question,
        "standalone": turn.standalone,
        "status": turn.status,
        "claims": list(turn.claims),
        "grounds": [
            {
                "text": one.text,
                "source": one.source,
                "document": one.document,
                "spans": [[span.version, span.start, span.end] for span in one.spans],
            }
            for one in turn.grounds
        ],
    }


def words_of(state: RunState) -> tuple[str, ...]:
    """Return the user's own words, oldest first: `S0.1`, `S0.2` …; the present question comes last."""
    return (*(turn["question"] for turn in state.get("turns", [])), state["question"])


def split_id(sentence: str) -> tuple[int, int]:
    """Return passage number and sentence number of an id such as `S3.2`; raise ValueError when it is none."""
    s, dot, j = sentence.removeprefix("S").partition(".")
    if not (sentence.startswith("S") and dot and s.isdecimal() and j.isdecimal()):
        raise ValueError(f"{sentence!r} is no sentence id such as S3.2")
    return int(s), int(j)


def find_evidence(state: RunState, s: int) -> EvidenceState | None:
    """Return the passage with this number, or None when the run never admitted it."""
    return next((item for item in state.get("evidence", []) if item["s"] == s), None)


def numbers(items: Sequence[EvidenceState]) -> list[int]:
    """Return the numbers of passages in order."""
    return [item["s"] for item in items]
