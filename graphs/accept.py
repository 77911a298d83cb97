"""Decide whether a passage meets a need, by structure: identifiers, names, decisive words, type of answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..tools.analyze import content_words, terms
from .match import Match, holds_exactly, lacks, term_weights
from .policy import Evidence, GradeView, Lexicon, Need
from .question import REQUIRED, Question, read_question

COVERED = 0.65
"""Coverage of the need's idf mass from which a sentence in its place supports it by words alone."""

COVERED_NEAR = 0.5
"""Coverage that is enough when the sentence is also near in meaning."""

NEAR_COSINE = 0.5
"""Cosine from which a sentence counts as near in meaning; never enough by itself."""

RELATED = 0.3
"""Coverage from which a passage is about the same matter, though it does not answer."""

HEAVIEST_MISSING = 0.33
"""Share of the need's idf mass that one missing word may hold at most."""


CONTRAST = 5
"""Sentences of other passages at least: among fewer, standing out means nothing."""

TRIED = 3
"""Sentences of a passage that may support a need, best first."""

STANDOUT_COSINE, STANDOUT_SHARE = 0.25, 0.6
"""Cosine a sentence needs to stand out, and the share of it that a sentence of another passage may reach."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Whether a passage supports a need, is related to it, and what speaks against it."""

    supports: bool
    related: bool
    score: float
    reason: str
    best: Match | None = None


def accept(need: Need, item: Evidence, matches: Sequence[Match], lexicon: Lexicon) -> Acceptance:
    """Return the acceptance of a passage for a need by its best sentence."""
    question = read_question(need.text)
    if not matches:
        return Acceptance(False, False, 0.0, "holds no sentence that can be cited")
    ranked = sorted(matches, key=lambda match: (-match.score, match.j))[:TRIED]
    reasons = [objection(question, item, match, lexicon) for match in ranked]
    for match, against in zip(ranked, reasons, strict=True):
        if not against:
            reason = f"{match.id} covers {match.coverage:.0%} of what is asked"
            return Acceptance(True, True, match.score, reason, match)
    best = ranked[0]
    return Acceptance(False, best.coverage >= RELATED, best.score, reasons[0], best)


def stands_out(
    need: Need, matched: Sequence[tuple[Evidence, Sequence[Match]]], view: GradeView
) -> Match | None:
    """Return the sentence that answers a need in other words than the question's, when only one can.

    All decisive words must be unknown to the sources, so that words cannot help; the sentence must hold the
    type of answer required, be near enough, and no sentence of another passage may come close to it.
    """
    question = read_question(need.text)
    exact = question.identifiers or question.quoted or question.names
    if question.wants not in REQUIRED or exact or not view.lexicon.unknown.issuperset(question.decisive):
        return None
    ranked = sorted(
        (match for _, matches in matched for match in matches if match.cosine is not None),
        key=lambda match: (-(match.cosine or 0.0), match.s, match.j),
    )
    best = next((match for match in ranked if match.typed), None)
    if best is None or (best.cosine or 0.0) < STANDOUT_COSINE:
        return None
    others = [match.cosine or 0.0 for match in ranked if match.s != best.s]
    if len(others) < CONTRAST:
        return None
    return best if max(others) <= STANDOUT_SHARE * (best.cosine or 0.0) else None


def objection(question: Question, item: Evidence, best: Match, lexicon: Lexicon) -> str:
    """Return what keeps a sentence in its place from answering, or "" when nothing does."""
    absent = lacks(question, item)
    if absent:
        return f"does not mention “{absent[0]}”"
    nameless = [name for name in question.names if set(terms(name)) & set(best.missing)]
    if nameless:
        return f"does not mention “{nameless[0]}”"
    foreign = [word for word in question.compounds if set(terms(word)[1:]) <= set(best.missing)]
    if foreign:
        return f"does not mention “{foreign[0]}”"
    heavy = _heaviest_missing(question, best, lexicon)
    if heavy:
        return f"does not mention “{heavy}”"
    if not best.typed and question.wants in REQUIRED:
        return f"gives no {question.wants.replace('_', ' ')}"
    unsaid = set(best.missing) & set(question.decisive)
    if question.wants == "reason" and not best.typed and unsaid:
        return f"does not mention “{word_for(min(unsaid), question.text)}”"
    if question.denies and not read_question(best_text(item, best)).negated:
        return "does not deny what is asked with a “not”"
    near = best.cosine is not None and best.cosine >= NEAR_COSINE
    named = any(holds_exactly(one, best_text(item, best)) for one in question.identifiers)
    if best.coverage < (COVERED_NEAR if near or named else COVERED):
        return f"covers only {best.coverage:.0%} of what is asked"
    return ""


def best_text(item: Evidence, match: Match) -> str:
    """Return the sentence of a match."""
    return item.reading.texts[match.j - 1]


def _heaviest_missing(question: Question, best: Match, lexicon: Lexicon) -> str:
    """Return the decisive word that is missing and too heavy to do without, as written in the question."""
    decisive = question.decisive
    weights = {term: weight for term, weight in term_weights(question, lexicon).items() if term in decisive}
    total = sum(weights.values()) or 1.0
    heavy = [term for term in decisive if term in best.missing and weights[term] / total > HEAVIEST_MISSING]
    return word_for(heavy[0], question.text) if heavy else ""


def word_for(term: str, text: str) -> str:
    """Return the word of a text that an index term stands for."""
    return next((text[t.start : t.end] for t in content_words(text) if t.term == term), term)
