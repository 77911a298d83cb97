"""Decide whether a passage meets a need, by structure: identifiers, names, decisive words, type of answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..tools.analyze import content_words, terms
from .match import Match, lacks
from .policy import Evidence, Lexicon, Need
from .question import Question, read_question

COVERED = 0.58
"""Coverage of the need's idf mass from which a sentence in its place supports it by words alone."""

COVERED_NEAR = 0.42
"""Coverage that is enough when the sentence is also near in meaning."""

NEAR_COSINE = 0.5
"""Cosine from which a sentence counts as near in meaning; never enough by itself."""

RELATED = 0.3
"""Coverage from which a passage is about the same matter, though it does not answer."""

HEAVIEST_MISSING = 0.4
"""Share of the need's idf mass that one missing word may hold at most."""


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
        return Acceptance(False, False, 0.0, "it holds no sentence that can be cited")
    best = max(matches, key=lambda match: (match.score, -match.j))
    related = best.coverage >= RELATED
    against = _against(question, item, best, lexicon)
    if against:
        return Acceptance(False, related, best.score, against, best)
    return Acceptance(True, True, best.score, f"{best.id} covers {best.coverage:.0%} of what is asked", best)


def _against(question: Question, item: Evidence, best: Match, lexicon: Lexicon) -> str:
    """Return what keeps the best sentence from answering, or "" when nothing does."""
    absent = lacks(question, item)
    if absent:
        return f"nothing there on “{absent[0]}”"
    nameless = [name for name in question.names if set(terms(name)) & set(best.missing)]
    if nameless:
        return f"nothing there on “{nameless[0]}”"
    heavy = _heaviest_missing(question, best, lexicon)
    if heavy:
        return f"nothing there on “{heavy}”"
    if not best.typed:
        return f"no {question.wants.replace('_', ' ')} is given there"
    near = best.cosine is not None and best.cosine >= NEAR_COSINE
    if best.coverage < (COVERED_NEAR if near else COVERED):
        return f"it covers only {best.coverage:.0%} of what is asked"
    return ""


def _heaviest_missing(question: Question, best: Match, lexicon: Lexicon) -> str:
    """Return the decisive word that is missing and too heavy to do without, as written in the question."""
    decisive = question.decisive
    weights = {term: lexicon.weights.get(term, 1.0) for term in decisive}
    total = sum(weights.values()) or 1.0
    heavy = [term for term in decisive if term in best.missing and weights[term] / total > HEAVIEST_MISSING]
    return word_for(heavy[0], question.text) if heavy else ""


def word_for(term: str, text: str) -> str:
    """Return the word of a text that an index term stands for."""
    return next((text[t.start : t.end] for t in content_words(text) if t.term == term), term)
