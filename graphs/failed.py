"""The answer of a run that ended by an error: nothing is claimed, and what was spent is said."""

from __future__ import annotations

from ..tools.answer import Answer
from ..tools.errors import QuaereError
from .state import Run, RunState


def failed_answer(error: QuaereError, state: RunState, run: Run) -> Answer:
    """Return the answer with status "failed" whose text is the error's sentence."""
    return Answer(
        "failed",
        str(error),
        f"failed: {type(error).__name__}",
        notes=tuple(run.ledger.notes),
        spent=run.ledger.spent(),
        revision=run.ports.library.revision,
        run=state["run"],
        question=state["question"],
    )
