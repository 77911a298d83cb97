"""Turn the sentence ids of claims into numbered footnotes with exact spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..tools.evidence import Claim, Footnote, Locator, Span
from .extract import MOST_CHARACTERS, MOST_SENTENCES
from .policy import Evidence
from .state import Run, split_id

_NEXT = 4
"""Characters between two sentences that still stand beside each other."""


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Sentences of one passage beside each other, cited as one place."""

    s: int
    first: int
    last: int
    span: Span


async def add_footnotes(
    claims: Sequence[Claim], held: Mapping[int, Evidence], run: Run, path: str
) -> tuple[Claim, ...]:
    """Return the claims with footnotes, numbered by first use; one place has one number everywhere."""
    stretches = _stretches(claims, held)
    quotes = await run.ports.library.quotes(path, [stretch.span for stretch in stretches])
    notes = [
        _footnote(n, held[stretch.s], stretch.span, quote)
        for n, (stretch, quote) in enumerate(zip(stretches, quotes, strict=True), 1)
    ]
    return tuple(replace(claim, footnotes=_notes_of(claim, stretches, notes)) for claim in claims)


def _stretches(claims: Sequence[Claim], held: Mapping[int, Evidence]) -> list[_Stretch]:
    """Return the cited places in the order of the claims; neighbours in one passage are one place."""
    order = list(dict.fromkeys(split_id(cite) for claim in claims for cite in claim.cites))
    cited = sorted({(s, j) for s, j in order if s in held})
    stretches: list[_Stretch] = []
    for s, j in cited:
        span = held[s].reading.sentences[j - 1].source
        last = stretches[-1] if stretches else None
        if last is not None and last.s == s and _continues(last, j, span):
            stretches[-1] = _Stretch(s, last.first, j, last.span.join(span))
        else:
            stretches.append(_Stretch(s, j, j, span))
    return sorted(stretches, key=lambda one: min(order.index((one.s, j)) for j in _inside(one, order)))


def _inside(stretch: _Stretch, order: Sequence[tuple[int, int]]) -> list[int]:
    return [j for s, j in order if s == stretch.s and stretch.first <= j <= stretch.last]


def _continues(last: _Stretch, j: int, span: Span) -> bool:
    """Tell whether a sentence belongs to the place before it, within the limits of a citation."""
    beside = j == last.last + 1 and span.start - last.span.end <= _NEXT
    short = span.end - last.span.start <= MOST_CHARACTERS and j - last.first < MOST_SENTENCES
    return beside and short


def _footnote(n: int, item: Evidence, span: Span, quote: tuple[str, Locator]) -> Footnote:
    document = item.reading.document
    return Footnote(n, document.path, document.source, span, quote[0], quote[1])


def _notes_of(claim: Claim, stretches: Sequence[_Stretch], notes: Sequence[Footnote]) -> tuple[Footnote, ...]:
    """Return the footnotes of the places a claim's sentences belong to, by number."""
    cited = [split_id(cite) for cite in claim.cites]
    return tuple(
        note
        for stretch, note in zip(stretches, notes, strict=True)
        if any(s == stretch.s and stretch.first <= j <= stretch.last for s, j in cited)
    )
