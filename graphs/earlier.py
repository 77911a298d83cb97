"""What a conversation keeps of an answered question: its claims with their spans, never its text."""

from __future__ import annotations

from ..tools.answer import Answer
from .policy import Ground, Turn


def turn_after(question: str, answer: Answer) -> Turn:
    """Return the turn a question became; a claim without a footnote has no ground and enters no prompt."""
    grounds = tuple(
        Ground(
            claim.text,
            claim.footnotes[0].source,
            claim.footnotes[0].document,
            tuple(note.span for note in claim.footnotes),
        )
        for claim in answer.claims
        if claim.footnotes
    )
    claims = tuple(claim.text for claim in answer.claims)
    return Turn(question, answer.question, answer.status, claims, grounds=grounds)
