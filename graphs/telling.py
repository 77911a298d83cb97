"""Put claims into words with what is said against them: an older version, a source that disagrees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..tools.evidence import Claim, Conflict
from .state import RunState


@dataclass(frozen=True, slots=True)
class Told:
    """A claim with the index of the draft it was, of the one it is against, and what introduces it."""

    claim: Claim
    index: int
    against: int | None
    older: str


def arrange(kept: Sequence[Told]) -> list[Told]:
    """Return claims in the order they are told: each behind the one it is against.

    What is against a claim that is not told falls with it when it is older, else it stands alone.
    """
    there = {one.index for one in kept}
    told = [
        one if one.against in there else replace(one, against=None)
        for one in kept
        if not one.older or one.against in there
    ]
    return sorted(told, key=lambda one: (_lead(one), one.against is not None, bool(one.older), one.index))


def worded(told: Sequence[Told]) -> list[Told]:
    """Return what older versions say as quotations that name the version."""
    return [
        replace(one, claim=replace(one.claim, text=f"{one.older}: “{one.claim.text}”")) if one.older else one
        for one in told
    ]


def conflicts_of(told: Sequence[Told], state: RunState) -> tuple[Conflict, ...]:
    """Return the claims of equal standing that cannot hold together, with the need they are about."""
    needs = {need["id"]: need["text"] for need in state["needs"]}
    found = []
    for lead in told:
        sides = _sides(lead, told)
        if len(sides) > 1:
            found.append(Conflict(needs.get(lead.claim.need or "", state["standalone"]), sides))
    return tuple(found) or _by_policy(told, state, needs)


def text_of(told: Sequence[Told], conflicts: Sequence[Conflict]) -> str:
    """Return one paragraph a claim with the marks of its footnotes; sides of a conflict as a list."""
    listed = {side for conflict in conflicts for side in conflict.sides}
    parts = [_conflict_text(conflict, several=len(conflicts) > 1) for conflict in conflicts]
    parts += [with_marks(one.claim) for one in told if one.claim not in listed]
    return "\n\n".join(parts)


def with_marks(claim: Claim) -> str:
    """Return a claim with the marks of its footnotes."""
    return claim.text + "".join(f" [{note.n}]" for note in claim.footnotes)


def _conflict_text(conflict: Conflict, several: bool) -> str:
    head = f"The sources disagree about “{conflict.about}”:" if several else "The sources disagree:"
    return "\n\n".join([head, "\n".join(f"- {with_marks(side)}" for side in conflict.sides)])


def _lead(one: Told) -> int:
    return one.index if one.against is None else one.against


def _sides(lead: Told, told: Sequence[Told]) -> tuple[Claim, ...]:
    """Return a claim with those of equal standing that are against it."""
    if lead.against is not None:
        return ()
    rivals = [one.claim for one in told if one.against == lead.index and not one.older]
    return (lead.claim, *rivals)


def _by_policy(told: Sequence[Told], state: RunState, needs: dict[str, str]) -> tuple[Conflict, ...]:
    """Return as a conflict what a policy called one: claims of several documents for one need."""
    if state.get("ladder") != "conflicting":
        return ()
    found = []
    for need, text in needs.items():
        sides = tuple(one.claim for one in told if one.claim.need == need)
        if len({note.document for side in sides for note in side.footnotes}) > 1:
            found.append(Conflict(text, sides))
    return tuple(found)
