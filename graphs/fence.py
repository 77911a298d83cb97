"""Show untrusted text to a model: one line a sentence under its id, so that no text can fake a marker.

White space of any kind, line ends included, is folded, and characters that no reader sees are taken out.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from .policy import Evidence, Need

LONGEST_LINE = 1200
"""Characters of one sentence that a model is shown."""

LONGEST_PLACE = 200
"""Characters of the place of a passage, and of what governs a sentence, that a model is shown."""

_UNSEEN = ("Cc", "Cf", "Cs", "Co")
"""Unicode categories of control and format characters, surrogates and private use."""


def fold(text: str, most: int = LONGEST_LINE) -> str:
    """Return a text in one line of at most so many characters, without characters that no reader sees."""
    line = " ".join(text[: 4 * most].split())
    seen = line if line.isascii() and line.isprintable() else " ".join("".join(_seen(line)).split())
    return seen if len(seen) <= most and len(text) <= 4 * most else f"{seen[:most].rstrip()} … (cut)"


def _seen(line: str) -> Iterable[str]:
    return (c for c in line if unicodedata.category(c) not in _UNSEEN)


def passage_block(item: Evidence) -> str:
    """Return a passage as lines: its number and place, then each sentence under its id."""
    reading = item.reading
    place = " › ".join([reading.document.path, *reading.passage.heading])
    lines = [f"S{item.s} in {fold(place, LONGEST_PLACE)}"]
    for j, text in enumerate(reading.texts, 1):
        lines.append(f"S{item.s}.{j} {_under(item, j)}{fold(text)}")
    return "\n".join(lines)


def _under(item: Evidence, j: int) -> str:
    """Return in brackets what governs a sentence beyond the headings: its lead-in, its header row."""
    above = set(item.reading.passage.heading)
    governing = [text for text in item.reading.governing[j - 1] if text.lstrip("# ").strip() not in above]
    inside = [text for text in governing if text not in item.reading.texts]
    return f"({fold(' › '.join(inside), LONGEST_PLACE)}) " if inside else ""


def fitting(evidence: Sequence[Evidence], most: int) -> tuple[Evidence, ...]:
    """Return the passages whose lines fit so many UTF-8 bytes, strongest chosen first, in the order given."""
    chosen: set[int] = set()
    for item in sorted(evidence, key=lambda item: (not item.needs, -item.score, item.s)):
        size = bytes_of(item)
        if size <= most:
            chosen.add(item.s)
            most -= size
    return tuple(item for item in evidence if item.s in chosen)


def bytes_of(item: Evidence) -> int:
    """Return the UTF-8 bytes of the lines of a passage."""
    return len(passage_block(item).encode("utf-8", "surrogatepass")) + 1


def evidence_block(evidence: Sequence[Evidence]) -> str:
    """Return the passages as lines in their order, or a word for none."""
    return "\n".join(passage_block(item) for item in evidence) or "(none)"


def need_lines(needs: Iterable[Need]) -> str:
    """Return each need under its id."""
    return "\n".join(f"{need.id}: {fold(need.text)}" for need in needs)


def question_line(question: str) -> str:
    """Return the question in one line."""
    return f"Q: {fold(question, 8000)}"


def sentence_ids(evidence: Iterable[Evidence]) -> frozenset[str]:
    """Return the ids of all sentences that are shown."""
    return frozenset(f"S{item.s}.{j}" for item in evidence for j in range(1, len(item.reading.texts) + 1))
