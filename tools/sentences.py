"""Cut prose into sentences with exact offsets: sentencex finds the ends, a few rules correct them.

sentencex reads a copy of the same length without quotation marks, brackets and markup, which it takes for
reasons not to end a sentence, and with plain spaces only, for others make it panic. Which ends lie inside a
bracket or a quotation is decided here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

LONGEST = 500
"""Characters of a sentence at most, so that one can always be cited."""

_CJK_END = "。！？"
_WRAPPING = '"“”„«»‘’()[]{}*_`•◦‣'
_MAY_END = re.compile(r"[.?!]\W|[\r\n\v\f]")
_NOTE_MARKS = re.compile(r"(?<=[.!?])(?:\[\d{1,3}\])+")
_CLOSERS = re.compile(r"(?:\[\d{1,3}\]|[\"'”’»)\]}*_`」』）])*")
_CJK_BREAK = re.compile(r"(?<=[。！？])(?![。！？”’」』）)\]])")
_UNBROKEN = re.compile(r"\S{300,}")
_ENCLOSED = re.compile(
    r"\((?:[^()]|\([^()]{0,200}\)){1,400}\)|\[[^\[\]]{1,400}\]|“[^“”]{1,400}”|"
    r"(?<!\w)\"(?=\S)[^\"]{1,400}(?<=\S)\"|(`+)[^`]{1,200}\1"
)
_NEAR = 80
"""Characters before a border that decide whether it stands."""

_ENUMERATOR = re.compile(r"[\s(*_•◦‣-]*(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)][)*_]*\s*\Z")
_ABBREVIATED = re.compile(
    r"(?:\b[A-Za-z]|\b[ap]\.m|\d|\b(?:vs|cf|ca|approx|no|nos|art|sec|fig|eq|pp?|vol|ed|usw|bzw|incl|resp))\.[\"”’)]*\Z",
    re.I,
)
_NUMBERED = re.compile(
    r"\b(?:no|nos|nr|fig|figs|eq|eqs|tab|sec|secs|ch|chap|art|app|vol|pp?|paras?|cl|ver|v|rev|ref|col|pt|approx|ca|cf|"
    r"bankr|civ|crim|evid|proc|stat|abs|bd|tel|ext)\.\Z",
    re.I,
)
_RULES_OF = re.compile(r"\b(?:Bankr|Civ|Crim|App|Evid)\.\Z")
_LOWER_WORD = re.compile(r"[a-z]+\b(?![_.(/-])")
_SOFT = (re.compile(r"(?<=[;:])\s+"), re.compile(r"(?<=,)\s+"), re.compile(r"\s+"))
_PARAGRAPH = re.compile(r"\n[ \t]*\r?\n")


def cut_sentences(text: str) -> list[tuple[int, int]]:
    """Return the spans of the sentences of a text, in order, without the white space between them.

    Together they cover every character that is not white space; none is longer than LONGEST.
    """
    if len(text) <= LONGEST and text.isascii() and not _MAY_END.search(text):
        return [_trimmed(text, 0, len(text))] if text.strip() else []
    found = _joined(text, list(_found(text)))
    spans = (_trimmed(text, start, end) for start, end in _opened(text, found))
    return [piece for start, end in spans if start < end for piece in _bounded(text, start, end)]


def _found(text: str) -> Iterator[tuple[int, int]]:
    """Yield stretches between the ends that sentencex finds, made to cover the text."""
    from sentencex import segment

    at = start = 0
    for sentence in (one for piece in _CJK_BREAK.split(text) for one in segment("en", _copy(piece))):
        at += len(sentence)
        closed = _CLOSERS.match(text, at - len(sentence) + len(sentence.rstrip()))
        if closed and closed.end() > start:
            yield start, closed.end()
            start = closed.end()
    if start < len(text):
        yield start, len(text)


def _copy(piece: str) -> str:
    """Return the copy for sentencex; what has no white space for long is quadratic there, and no sentence."""
    copy = _NOTE_MARKS.sub(lambda marks: " " * len(marks[0]), piece).translate(_plain_signs())
    return _UNBROKEN.sub(lambda run: "a" * len(run[0]), copy)


@lru_cache(maxsize=1)
def _plain_signs() -> dict[int, str]:
    """Return the signs that the copy for sentencex has as plain spaces: odd white space and what wraps."""
    odd = (chr(code) for code in range(0x3001) if chr(code).isspace() and chr(code) not in "\t\n\r ")
    return {ord(sign): " " for sign in (*odd, *_WRAPPING)}


def _joined(text: str, found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join stretches that were cut inside a word, an identifier or behind an abbreviation."""
    joined: list[tuple[int, int]] = []
    for start, end in found:
        if joined and _belongs(text[max(joined[-1][0], start - _NEAR) : start], text[start:end]):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _belongs(before: str, behind: str) -> bool:
    """Tell whether the second stretch goes on in the sentence of the first."""
    opening = behind.lstrip()
    if not before.strip() or not opening:
        return True
    bare = before.rstrip()
    if _PARAGRAPH.search(before[len(bare) :] + behind[: len(behind) - len(opening)]):
        return False
    if bare == before and opening == behind:
        return bare[-1] not in _CJK_END
    if _ENUMERATOR.match(bare):
        return True
    if opening[0].isdigit() and _NUMBERED.search(bare):
        return True
    if opening.startswith(("P.", "R.", "Proc.")) and _RULES_OF.search(bare):
        return True
    return bool(_LOWER_WORD.match(opening)) and (bare[-1] not in ".?!…" or bool(_ABBREVIATED.search(bare)))


def _opened(text: str, found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join stretches whose border lies inside a bracket or quotation that began within a sentence."""
    enclosed = [match.span() for match in _ENCLOSED.finditer(text)] if len(found) > 1 else []
    opened: list[tuple[int, int]] = []
    i = 0
    for start, end in found:
        while i < len(enclosed) and enclosed[i][1] <= start:
            i += 1
        inside = i < len(enclosed) and enclosed[i][0] < start
        if opened and inside and not _is_parenthesis(text, enclosed[i], opened):
            opened[-1] = (opened[-1][0], end)
        else:
            opened.append((start, end))
    return opened


def _is_parenthesis(text: str, span: tuple[int, int], opened: list[tuple[int, int]]) -> bool:
    """Tell whether a bracket holds whole sentences: it opens with one and is not a quotation."""
    begins = next((start for start, _ in reversed(opened) if start <= span[0]), 0)
    return text[span[0]] == "(" and not text[begins : span[0]].strip()


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
