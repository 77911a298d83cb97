"""Write claims from whole sentences: the best sentence for a need with what it needs to be understood."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..tools.plain import MARKER, plain, row_as_text
from .accept import objection
from .match import Match, holds_exactly, lacks, match_sentences
from .policy import Draft, Evidence, Need, WriteView
from .question import REQUIRED, Question, read_question

MOST_SENTENCES = 3
"""Sentences of one citation at most."""

MOST_CHARACTERS = 500
"""Characters of one citation at most."""

MOST_CODE, MOST_LINES = 200, 3
"""Characters and lines of a listing that is told with the sentence that leads it in."""

MOST_ITEMS = 8
"""Items of a list shown behind its lead-in at most."""

RANK_SHARE = 0.12
"""What the fused rank of a passage adds to the score of its sentences, at most."""

CLOSE = 0.85
"""Share of the best score from which a second sentence may add what the first one lacks."""

NEAR_OWN, NEAR_OWN_NAMELESS = 0.3, 0.5
"""Share of a need's mass a sentence itself must hold to be named as the nearest: with a name, without."""

_LEANS_BACK = re.compile(
    r"(?:this|that|these|those|it|its|they|their|he|she|such|here|there|then|the (?:former|latter)|"
    r"in (?:this|that|such) \w+|otherwise|instead|for example|also|thus|therefore|so)\b",
    re.I,
)
_QUALIFIES = re.compile(
    r"(?:however|but|except|unless|only|note that|exception|this does not|otherwise)\b", re.I
)


def write_need(need: Need, view: WriteView, refused: frozenset[str]) -> list[Draft]:
    """Return one or two claims for a need, best first; none when no passage supports it."""
    ranked = _ranked(need, view, refused)
    if not ranked:
        return []
    best, first = ranked[0]
    drafts = [state_sentence(need, best, first)]
    second = _complement(best, ranked[1:])
    if second:
        drafts.append(state_sentence(need, *second))
    return drafts


def write_nearest(need: Need, view: WriteView) -> list[Draft]:
    """Return what the sources do say about the subject of an unmet need, as a claim that answers no need.

    Only a sentence that holds a name of the need, or half of its decisive mass, is near enough; a passage
    that lacks an identifier of the need is about something else.
    """
    question = read_question(need.text)
    found = [
        (match, item)
        for item in view.evidence
        if not lacks(question, item)
        for match in match_sentences(need, item, view.lexicon)
        if match.own >= (NEAR_OWN if question.names or question.identifiers else NEAR_OWN_NAMELESS)
        and item.reading.sentences[match.j - 1].kind in ("prose", "item")
        and _names_it(question, item.reading.texts[match.j - 1])
    ]
    if not found:
        return []
    match, item = max(found, key=lambda pair: (pair[0].score, -pair[0].s, -pair[0].j))
    return [replace(state_sentence(need, match, item), need=None)]


def _names_it(question: Question, sentence: str) -> bool:
    """Tell whether a sentence holds a name or identifier of the question, where the question has one."""
    named = [*question.names, *question.identifiers]
    return not named or any(holds_exactly(name, sentence) for name in named)


def _ranked(need: Need, view: WriteView, refused: frozenset[str]) -> list[tuple[Match, Evidence]]:
    """Return the sentences of supporting passages, best first; the type of answer comes before the score."""
    question = read_question(need.text)
    found = [
        (match, item)
        for item in view.evidence
        if need.id in item.needs
        for match in match_sentences(need, item, view.lexicon)
        if match.id not in refused
    ]
    fit = [pair for pair in found if not objection(question, pair[1], pair[0], view.lexicon)]
    found = fit or found
    top = max((item.score for item in view.evidence), default=0.0) or 1.0
    required = question.wants in REQUIRED
    return sorted(
        found,
        key=lambda pair: (
            required and not pair[0].typed,
            -(pair[0].score + RANK_SHARE * pair[1].score / top),
            pair[0].s,
            pair[0].j,
        ),
    )


def _complement(best: Match, others: Sequence[tuple[Match, Evidence]]) -> tuple[Match, Evidence] | None:
    """Return a sentence that is nearly as good and holds words of the need that the best one lacks."""
    lacking = set(best.missing)
    for match, item in others:
        if match.score < CLOSE * best.score:
            return None
        if (
            item.reading.sentences[match.j - 1].kind != "code"
            and lacking - set(match.missing)
            and match.own > 0
        ):
            return match, item
    return None


def state_sentence(need: Need, match: Match, item: Evidence) -> Draft:
    """Return a claim of a sentence with its lead-in, what it leans on and what qualifies it."""
    listed = _listed(match.j, item)
    numbers = [match.j, *listed] if listed else _with_context(match.j, item)
    texts = [item.reading.texts[j - 1] for j in numbers]
    if len(numbers) == 1 and item.reading.sentences[match.j - 1].kind == "row":
        text = row_as_text(texts[0], item.reading.governing[match.j - 1])
    elif listed and item.reading.sentences[listed[0] - 1].kind == "item":
        text = f"{plain(texts[0])} {'; '.join(plain(part).rstrip(' .;,') for part in texts[1:])}."
    else:
        text = " ".join(plain(part) for part in texts)
    return Draft(text, tuple(f"S{item.s}.{j}" for j in numbers), need=need.id)


def _listed(j: int, item: Evidence) -> list[int]:
    """Return the items, or the short listing, that a sentence leads in: it says nothing without them."""
    lead = item.reading.sentences[j - 1]
    if lead.kind == "item" or not item.reading.texts[j - 1].rstrip().endswith(":"):
        return []
    led = [
        n
        for n, sentence in enumerate(item.reading.sentences[j:], j + 1)
        if any(span.overlaps(lead.source) for span in sentence.governed_by)
    ]
    kinds = {n: item.reading.sentences[n - 1].kind for n in led}
    items = [n for n in led if kinds[n] == "item"][:MOST_ITEMS]
    listing = [n for n in led if kinds[n] == "code"]
    return items or (listing if len(listing) == 1 and _is_command(item.reading.texts[listing[0] - 1]) else [])


def _is_command(listing: str) -> bool:
    """Tell whether a listing is so short that it is told whole."""
    return len(listing) <= MOST_CODE and listing.count("\n") < MOST_LINES


def _with_context(j: int, item: Evidence) -> list[int]:
    """Return the numbers of the sentences a claim needs, in order, within the limits of a citation."""
    chosen = [j]
    reading = item.reading
    lead = _lead_in(j, item)
    wanted = [*_rest_of_item(j, item), *([lead] if lead else [])]
    if j > 1 and reading.sentences[j - 1].kind == "prose" and _same_paragraph(j - 1, item):
        wanted = [j - 1] if _LEANS_BACK.match(reading.texts[j - 1]) else []
    if j < len(reading.texts) and _QUALIFIES.match(reading.texts[j]) and _same_paragraph(j, item):
        wanted.append(j + 1)
    for other in wanted:
        grown = sorted([*chosen, other])
        if len(grown) <= MOST_SENTENCES and sum(len(reading.texts[n - 1]) for n in grown) <= MOST_CHARACTERS:
            chosen = grown
    return chosen


def _rest_of_item(j: int, item: Evidence) -> list[int]:
    """Return the other sentences of a list item, nearest first: `402: too warm. Let it cool.` is one fact."""
    first = last = j
    while _one_item(last, item):
        last += 1
    while first > 1 and _one_item(first - 1, item):
        first -= 1
    return sorted((n for n in range(first, last + 1) if n != j), key=lambda n: (abs(n - j), -n))


def _one_item(j: int, item: Evidence) -> bool:
    """Tell whether sentence j and the next one belong to one list item."""
    pair = item.reading.sentences[j - 1 : j + 1]
    if len(pair) < 2 or any(one.kind != "item" for one in pair) or pair[0].governed_by != pair[1].governed_by:
        return False
    begin = item.reading.passage.span.start
    between = item.reading.text[pair[0].source.end - begin : pair[1].source.start - begin]
    return between.count("\n") <= 1 and not MARKER.match(item.reading.texts[j])


def _same_paragraph(j: int, item: Evidence) -> bool:
    """Tell whether sentence j and the next one are prose beside each other."""
    first, second = item.reading.sentences[j - 1 : j + 1]
    gap = second.source.start - first.source.end
    return first.kind == second.kind == "prose" and gap <= 3


def _lead_in(j: int, item: Evidence) -> int | None:
    """Return the number of the sentence that leads in a list item, when it stands in the same passage."""
    sentence = item.reading.sentences[j - 1]
    if sentence.kind != "item":
        return None
    for n, other in enumerate(item.reading.sentences[: j - 1], 1):
        governs = any(span.overlaps(other.source) for span in sentence.governed_by)
        if governs and other.kind in ("prose", "item") and item.reading.texts[n - 1].rstrip().endswith(":"):
            return n
    return None
