"""The result of a run, and the JSON that leaves the program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .evidence import Candidate, Claim, Conflict, Footnote, Locator, Reading, Span, Status

Json = dict[str, Any]
Engine = Literal["exact", "chroma"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a run ends with.

    `text` is the answer with marks such as `[1]`, without the footnotes themselves; `reason` one sentence
    that explains the status; `missing` what the sources do not say or could not be asked; `notes` what a
    reader should know (vectors not ready, a file changed); `options` the readings of an ambiguous question;
    `spent` the ledger (steps, tool_calls, seconds, …); `revision` the corpus revision; `run` the run's id;
    `question` the question as it was understood, made standalone.
    """

    status: Status
    text: str
    reason: str = ""
    claims: tuple[Claim, ...] = ()
    missing: tuple[str, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    options: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    spent: Mapping[str, float] = field(default_factory=dict)
    revision: int = 0
    run: str = ""
    question: str = ""

    @property
    def footnotes(self) -> tuple[Footnote, ...]:
        """Return the footnotes of all claims and conflicts once each, by number."""
        sides = [side for conflict in self.conflicts for side in conflict.sides]
        notes = {note.n: note for claim in [*self.claims, *sides] for note in claim.footnotes}
        return tuple(notes[n] for n in sorted(notes))

    def to_json(self) -> Json:
        """Return the documented JSON object (docs/answer.schema.json)."""
        return {
            "status": self.status,
            "text": self.text,
            "reason": self.reason,
            "claims": [_claim_json(claim) for claim in self.claims],
            "missing": list(self.missing),
            "conflicts": [
                {"about": conflict.about, "sides": [_claim_json(side) for side in conflict.sides]}
                for conflict in self.conflicts
            ],
            "options": list(self.options),
            "notes": list(self.notes),
            "spent": dict(self.spent),
            "revision": self.revision,
            "run": self.run,
            "question": self.question,
        }


def read_answer(data: Json) -> Answer:
    """Return the answer a JSON object of `Answer.to_json` describes."""
    return Answer(
        status=data["status"],
        text=data["text"],
        reason=data["reason"],
        claims=tuple(_read_claim(claim) for claim in data["claims"]),
        missing=tuple(data["missing"]),
        conflicts=tuple(
            Conflict(one["about"], tuple(_read_claim(side) for side in one["sides"]))
            for one in data["conflicts"]
        ),
        options=tuple(data["options"]),
        notes=tuple(data["notes"]),
        spent=data["spent"],
        revision=data["revision"],
        run=data["run"],
        question=data["question"],
    )


def _read_claim(data: Json) -> Claim:
    notes = tuple(_read_footnote(note) for note in data["citations"])
    return Claim(
        text=data["text"],
        cites=tuple(data["cites"]),
        kind=data["kind"],
        need=data["need"],
        verdict=data["verdict"],
        footnotes=notes,
    )


def _read_footnote(data: Json) -> Footnote:
    place = data["locator"]
    locator = Locator(
        place.get("page"), place.get("last_page"), tuple(place.get("heading", ())), place.get("element")
    )
    span = Span(data["version"], data["start"], data["end"])
    return Footnote(
        data["n"], data["document"], data["source"], span, data["quote"], locator, changed=data["changed"]
    )


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage of a search with its rank in each ranking (None where it was not found)."""

    reading: Reading
    score: float
    ranks: Mapping[str, int | None]
    scores: Mapping[str, float | None]
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Search:
    """What the retrieval debugger shows: the fused ranking with both rankings behind it.

    `engine` says whether vectors were compared one by one or proposed by Chroma; None to all but the owner.
    """

    query: str
    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()
    revision: int = 0
    engine: Engine | None = "exact"

    def to_json(self) -> Json:
        """Return the documented JSON object (docs/search.schema.json)."""
        return {
            "engine": self.engine,
            "hits": [_hit_json(hit) for hit in self.hits],
            "notes": list(self.notes),
            "revision": self.revision,
        }


def locator_json(locator: Locator) -> Json:
    """Return the parts of a locator that are known."""
    parts: Json = {
        "page": locator.page,
        "last_page": locator.last_page,
        "heading": list(locator.heading) or None,
        "element": locator.element,
    }
    return {name: value for name, value in parts.items() if value is not None}


def _claim_json(claim: Claim) -> Json:
    return {
        "text": claim.text,
        "kind": claim.kind,
        "need": claim.need,
        "cites": list(claim.cites),
        "verdict": claim.verdict,
        "citations": [_footnote_json(note) for note in claim.footnotes],
    }


def _footnote_json(note: Footnote) -> Json:
    return {
        "n": note.n,
        "kind": "text",
        "source": note.source,
        "document": note.document,
        "version": note.span.version,
        "start": note.span.start,
        "end": note.span.end,
        "quote": note.quote,
        "locator": locator_json(note.locator),
        "changed": note.changed,
    }


def _hit_json(hit: Hit) -> Json:
    reading = hit.reading
    return {
        "document": reading.document.path,
        "source": reading.document.source,
        "start": reading.passage.span.start,
        "end": reading.passage.span.end,
        "text": reading.text,
        "score": hit.score,
        "ranks": dict(hit.ranks),
        "locator": locator_json(reading.locator),
    }
