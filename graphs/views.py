"""Build what policies are shown from the state and the library: evidence with texts, and the lexicon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from ..tools.analyze import terms
from ..tools.evidence import ClaimKind, Reading
from .policy import Draft, Evidence, GradeValue, Lexicon
from .ports import Frequencies
from .standing import replaced_by
from .state import DraftState, EvidenceState, Run, RunState


async def held_evidence(state: RunState, run: Run, path: str) -> tuple[Evidence, ...]:
    """Return the numbered passages that are still readable, with their texts, in order of their numbers."""
    items = state.get("evidence", [])
    ids = [item["passage"] for item in items]
    readings = await run.ports.library.readings(f"{path}.read", ids)
    around = await run.ports.library.surroundings(f"{path}.around", ids)
    kept = [
        item
        for item in items
        if item["passage"] in readings and item["document"] not in state.get("withdrawn", [])
    ]
    held = [readings[item["passage"]] for item in kept]
    return tuple(
        replace(
            _evidence(item, reading),
            around=around.get(item["passage"], ""),
            replaces=replaced_by(reading, held),
        )
        for item, reading in zip(kept, held, strict=True)
    )


def _evidence(item: EvidenceState, reading: Reading) -> Evidence:
    return Evidence(
        s=item["s"],
        reading=reading,
        score=item["score"],
        ranks=item["ranks"],
        features=item["features"],
        cosines={need: tuple(values) for need, values in item["cosines"].items()},
        grade=cast(GradeValue, item["grade"]),
        needs=tuple(item["needs"]),
    )


async def lexicon_of(texts: Sequence[str], run: Run, path: str) -> Lexicon:
    """Return 1 + idf of all terms of some texts over the readable passages (Robertson and Zaragoza 2009).

    The 1 keeps weights apart from zero in a corpus of a few passages, where every known term is common.
    """
    sought = sorted({term for text in texts for term in terms(text)})
    found = await run.ports.library.frequencies(f"{path}.terms", sought)
    weights = {term: _idf(found, found.counts.get(term, 0)) for term in sought}
    return Lexicon(weights, frozenset(term for term in sought if not found.counts.get(term, 0)))


def _idf(found: Frequencies, count: int) -> float:
    return 1 + math.log(1 + (found.passages - count + 0.5) / (count + 0.5))


async def run_lexicon(state: RunState, run: Run, path: str) -> Lexicon:
    """Return the lexicon of the question and its needs."""
    return await lexicon_of([state["standalone"], *(need["text"] for need in state["needs"])], run, path)


def draft_state(draft: Draft, verdict: str = "not_judged", reason: str = "") -> DraftState:
    """Return the JSON form of a draft with its verdict."""
    return {
        "text": draft.text,
        "cites": list(draft.cites),
        "kind": draft.kind,
        "formula": draft.formula,
        "need": draft.need,
        "qualifies": draft.qualifies,
        "against": draft.against,
        "older": draft.older,
        "verdict": verdict,
        "reason": reason,
    }


def draft_of(state: DraftState) -> Draft:
    """Return a draft from its JSON form."""
    return Draft(
        text=state["text"],
        cites=tuple(state["cites"]),
        kind=cast(ClaimKind, state["kind"]),
        formula=state["formula"],
        need=state["need"],
        qualifies=state["qualifies"],
        against=state["against"],
        older=state["older"],
    )
