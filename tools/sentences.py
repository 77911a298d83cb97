"""Cut prose into sentences with exact offsets: sentencex finds the ends, a few rules correct them."""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST = 500
"""Characters of a sentence at most, so that one can always be cited."""

_CJK_END = "。！？"
_ABBREVIATED = re.compile(
    r"(?:\b[A-Za-z]|\b[ap]\.m|\d|\b(?:vs|cf|ca|approx|no|nos|art|sec|fig|eq|pp?|vol|ed))\.['\"”’)]*$", re.I
)
_LOWER_WORD = re.compile(r"[a-z]+\b(?![_.(/-])")
_SOFT = (re.compile(r"(?<=[;:])\s+"), re.compile(r"(?<=,)\s+"), re.compile(r"\s+"))
_PARAGRAPH = re.compile(r"\n[ \t]*\n")


def cut_sentences(text: str) -> list[tuple[int, int]]:
    """Return the spans of the sentences of a text, in order, without the white space between them.

    Together they cover every character that is not white space; none is longer than LONGEST.
    """
    spans = (_trimmed(text, start, end) for start, end in _joined(text, list(_found(text))))
    return [piece for start, end in spans if start < end for piece in _bounded(text, start, end)]


def _found(text: str) -> Iterator[tuple[int, int]]:
    """Yield stretches between the ends that sentencex finds, made to cover the text."""
    from sentencex import segment

    at = 0
    for sentence in segment("en", text):
        start = text.find(sentence, at)
        if start < 0 or not sentence:
            continue
        yield at, start + len(sentence)
        at = start + len(sentence)
    if at < len(text):
        yield at, len(text)


def _joined(text: str, found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join stretches that were cut inside a word, an identifier or behind an abbreviation."""
    joined: list[tuple[int, int]] = []
    for start, end in found:
        if joined and _belongs(text[joined[-1][0] : joined[-1][1]], text[start:end]):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _belongs(before: str, behind: str) -> bool:
    """Tell whether the second stretch goes on in the sentence of the first."""
    if not before.strip() or not behind.strip():
        return True
    bare = before.rstrip()
    if bare == before and not behind[0].isspace():
        return bare[-1] not in _CJK_END
    if _PARAGRAPH.search(before[len(bare) :]):
        return False
    opening = behind.lstrip()
    return bool(_LOWER_WORD.match(opening)) and (bare[-1] not in ".?!…" or bool(_ABBREVIATED.search(bare)))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    stretch = text[start:end]
    start += len(stretch) - len(stretch.lstrip())
    return start, start + len(stretch.strip())


def _bounded(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield pieces of at most LONGEST characters, cut at ; or :, at a comma, at white space, or hard."""
    while end - start > LONGEST:
        at = _cut_place(text, start)
        yield _trimmed(text, start, at)
        start = _trimmed(text, at, end)[0]
    yield start, end


def _cut_place(text: str, start: int) -> int:
    window = text[start : start + LONGEST]
    for pattern in _SOFT:
        places = [match.start() for match in pattern.finditer(window) if match.start() > LONGEST // 3]
        if places:
            return start + places[-1]
    return start + LONGEST
