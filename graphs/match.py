"""How well a sentence, in its place, meets a need: idf-weighted coverage, cosine, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from ..tools.analyze import is_identifier, terms, tokens
from ..tools.evidence import SentenceKind
from .granted import granted_terms
from .policy import Evidence, Lexicon, Need
from .question import Question, holds_type, read_question

OWN, GOVERNING, NAMED, NEAR, PASSAGE = 1.0, 1.0, 0.75, 0.55, 0.4
"""What a term of the need is worth by where it stands: in the sentence, in what governs it, in a part of an
identifier, in the sentence beside it, elsewhere in the passage."""

COSINE_SHARE = 0.4
"""Share of the cosine in the score of a sentence where an encoder runs."""

FOCUS_WEIGHT = 0.25
"""Weight of a term that only names the kind of thing asked for, against one that is decisive."""


OWN_BONUS, TYPED_BONUS, POLARITY_BONUS = 0.15, 0.12, 0.05
"""What a sentence gains by holding the words itself, the type wanted, a negation that was asked for."""

PAIR_BONUS, PAIR_WINDOW = 0.04, 3
"""What a sentence gains for each pair of neighbouring words of the question within so many terms."""

CODE_MALUS = 0.15
"""What a line of code loses against a sentence that says the same."""

EXACT_BONUS = 0.15
"""What a sentence gains by holding an identifier of the question itself."""

IDENTIFIER_WEIGHT = 1.6
"""Weight of an identifier against a word of the same rarity."""


@dataclass(frozen=True, slots=True)
class Match:
    """One sentence against one need; `coverage`, `own` and `cosine` lie in 0..1, `j` counts from 1."""

    s: int
    j: int
    score: float
    coverage: float
    own: float
    cosine: float | None
    typed: bool
    missing: tuple[str, ...]

    @property
    def id(self) -> str:
        """Return the sentence id."""
        return f"S{self.s}.{self.j}"


@dataclass(frozen=True, slots=True)
class _Place:
    """Terms by distance from a sentence; `named` are those it only holds as parts of identifiers."""

    own: frozenset[str]
    named: frozenset[str]
    governing: frozenset[str]
    near: frozenset[str]
    passage: frozenset[str]

    def worth(self, term: str) -> float:
        if term in self.own:
            return OWN
        if term in self.governing:
            return GOVERNING
        if term in self.named:
            return NAMED
        if term in self.near:
            return NEAR
        return PASSAGE if term in self.passage else 0.0


@lru_cache(maxsize=8192)
def term_set(text: str) -> frozenset[str]:
    """Return the index terms of a text."""
    return frozenset(terms(text))


@lru_cache(maxsize=8192)
def part_set(text: str) -> frozenset[str]:
    """Return the terms a text holds only as parts of identifiers: `log` in `log_dir`, but not in `a log`."""
    wholes = [token for token in tokens(text) if is_identifier(text[token.start : token.end])]
    inside = [
        token.term
        for token in tokens(text)
        if any(w.start <= token.start and token.end <= w.end and token.term != w.term for w in wholes)
    ]
    everywhere = terms(text)
    return frozenset(term for term in inside if everywhere.count(term) == inside.count(term))


def match_sentences(need: Need, evidence: Evidence, lexicon: Lexicon) -> list[Match]:
    """Return a match for each sentence of a passage that can be cited for the need, in order."""
    question = read_question(need.text)
    weights = term_weights(question, lexicon)
    reading = evidence.reading
    sets = [term_set(text) for text in reading.texts]
    whole = frozenset().union(*sets, _place_terms(evidence))
    granted = granted_terms(need, evidence)
    matches = []
    for i, sentence in enumerate(reading.sentences):
        if sentence.kind == "heading":
            continue
        near = frozenset().union(*sets[max(0, i - 1) : i], *sets[i + 1 : i + 2])
        governing = _place_terms(evidence).union(
            granted[i], *(term_set(text) for text in reading.governing[i])
        )
        named = part_set(reading.texts[i])
        place = _Place(sets[i] - named, named, governing, near, whole)
        cosines = evidence.cosines.get(need.id, ())
        subject = _Subject(
            question, reading.texts[i], cosines[i] if i < len(cosines) else None, sentence.kind
        )
        matches.append(_match(subject, (evidence.s, i + 1), place, weights))
    return matches


@dataclass(frozen=True, slots=True)
class _Subject:
    """A question, the sentence held against it, and their cosine."""

    question: Question
    text: str
    cosine: float | None
    kind: SentenceKind


def _match(subject: _Subject, number: tuple[int, int], place: _Place, weights: Mapping[str, float]) -> Match:
    question, cosine = subject.question, subject.cosine
    total = sum(weights.values()) or 1.0
    coverage = sum(weight * place.worth(term) for term, weight in weights.items()) / total
    free = {term: weight for term, weight in weights.items() if term not in place.governing}
    own = sum(w for term, w in free.items() if term in place.own) / (sum(free.values()) or 1.0)
    typed = holds_type(question.wants, subject.text, question.text)
    score = coverage if cosine is None else (1 - COSINE_SHARE) * coverage + COSINE_SHARE * max(0.0, cosine)
    score += (TYPED_BONUS if typed and question.wants not in ("open", "yes_no") else 0.0) + OWN_BONUS * own
    score += PAIR_BONUS * _pairs(question, subject.text)
    score += EXACT_BONUS if _holds_identifier(question, subject.text, place) else 0.0
    score -= CODE_MALUS if subject.kind == "code" else 0.0
    score += POLARITY_BONUS if question.negated and read_question(subject.text).negated else 0.0
    missing = tuple(term for term in weights if place.worth(term) == 0.0)
    return Match(*number, score, coverage, own, cosine, typed, missing)


def _holds_identifier(question: Question, sentence: str, place: _Place) -> bool:
    """Tell whether a sentence holds an identifier of the question that its document is not all about."""
    wanted = [one for one in question.identifiers if not set(terms(one)[:1]) & place.governing]
    return any(holds_exactly(one, sentence) for one in wanted)


def _pairs(question: Question, sentence: str) -> int:
    """Return how many pairs of neighbouring words of the question stand close in order, at most 2."""
    places: dict[str, list[int]] = {}
    for i, term in enumerate(terms(sentence)):
        places.setdefault(term, []).append(i)
    near = [
        any(0 < j - i <= PAIR_WINDOW for i in places.get(one, ()) for j in places.get(other, ()))
        for one, other in pairwise(question.terms)
    ]
    return min(2, sum(near))


def term_weights(question: Question, lexicon: Lexicon) -> dict[str, float]:
    """Return the weight of each term of a need: its idf, less for the focus, more for an identifier."""
    exact = {term for identifier in question.identifiers for term in terms(identifier)[:1]}
    return {
        term: lexicon.weights.get(term, 1.0)
        * (FOCUS_WEIGHT if term in question.focus else IDENTIFIER_WEIGHT if term in exact else 1.0)
        for term in question.terms
    }


def _place_terms(evidence: Evidence) -> frozenset[str]:
    """Return terms of the title and the path of a document: they too say what a passage is about."""
    document = evidence.reading.document
    return term_set(document.title) | term_set(document.path)


def lacks(question: Question, evidence: Evidence) -> tuple[str, ...]:
    """Return the identifiers and quoted strings of a question that a passage and its place do not hold."""
    reading = evidence.reading
    text = "\n".join(
        [
            reading.text,
            *reading.passage.heading,
            reading.document.title,
            reading.document.path,
            *(line for lines in reading.governing for line in lines),
            evidence.around,
        ]
    )
    return tuple(wanted for wanted in _exact(question) if not holds_exactly(wanted, text))


def _exact(question: Question) -> Iterable[str]:
    return dict.fromkeys([*question.identifiers, *question.quoted])


def holds_exactly(wanted: str, text: str) -> bool:
    """Tell whether an identifier or quoted string stands in a text as a whole, in any case and spacing."""
    folded = " ".join(text.casefold().split())
    sought = " ".join(wanted.casefold().split())
    at = folded.find(sought)
    while at >= 0:
        before, behind = folded[at - 1 : at], folded[at + len(sought) : at + len(sought) + 2]
        if not _joins(before, sought[:1]) and not _joins_behind(sought[-1:], behind):
            return True
        at = folded.find(sought, at + 1)
    return False


def _joins(before: str, first: str) -> bool:
    return bool(before) and before.isalnum() and first.isalnum()


def _joins_behind(last: str, behind: str) -> bool:
    """Tell whether what follows makes it a longer identifier: `S-10` in `S-102`, `1.2` in `1.2.3`."""
    if not behind or not last.isalnum():
        return False
    return behind[0].isalnum() or (behind[0] in ".," and last.isdigit() and behind[1:2].isdigit())
