"""One spelling for each letter, with the way back: compatibility forms, dashes, quotes, escapes.

`spell` rewrites a text so that what looks alike is written alike and remembers where each rewrite stood;
`fold` then takes case and accents away for comparison.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from heapq import merge

MARKS = "".join(c for c in map(chr, range(0x300, 0x1E00)) if unicodedata.category(c)[0] == "M")
"""Combining marks: accents, vowel signs and points, as the inside of a character class."""

_RUN = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+")
_CLUSTER = re.compile(
    r"(?<=\d)(?P<power>[\u00b2\u00b3\u00b9\u2070\u2074-\u207b]+)"
    r"|(?<=\d)(?P<fraction>[\u00bc-\u00be\u2150-\u215e])"
    rf"|[\u1100-\u11ff]+|[^{MARKS}\u3099\u309a\uff9e\uff9f][{MARKS}\u3099\u309a\uff9e\uff9f]*|."
)
_CACHED_RUN = 48

_STRING = re.compile(r'(?:(?<=[:,\[{(=\s])|\A)"[^"\\\n]*(?:\\.[^"\\\n]*)*"')
"""A string of JSON or code; what is escaped outside of one may be a path or a command of TeX."""

_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}(?:\\u[0-9a-fA-F]{4})*|.)")

_ALIKE = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d", "-"),
        **dict.fromkeys("\u2018\u2019\u02bc\uff07", "'"),
        **dict.fromkeys("\u2044\u2215", "/"),
        **dict.fromkeys("\u00a0\u2007\u2009\u202f", "\u00a0"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", ""),
    }
)
_HAS_ALIKE = re.compile("[" + "".join(map(chr, _ALIKE)) + "\u00b2\u00b3\u00b9\u00bc-\u00be]")

_PLAIN_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}
)


@dataclass(frozen=True, slots=True)
class Spelt:
    """A text in one spelling; each edit is (start, end) here and (start, end) in the text as it was given."""

    text: str
    edits: tuple[tuple[int, int, int, int], ...] = ()

    def start(self, at: int) -> int:
        """Return where what begins at a place of this text begins in the given one."""
        i = bisect_right(self.edits, at, key=lambda edit: edit[0]) - 1
        if i < 0:
            return at
        _, end, given_start, given_end = self.edits[i]
        return given_start if at < end else at - end + given_end

    def end(self, at: int) -> int:
        """Return where what ends at a place of this text ends in the given one."""
        i = bisect_left(self.edits, at, key=lambda edit: edit[0]) - 1
        if i < 0:
            return at
        _, end, _, given_end = self.edits[i]
        return given_end if at <= end else at - end + given_end


def spell(text: str) -> Spelt:
    """Return a text in one spelling: NFKC, plain dashes and quotes, nothing invisible; spans map back."""
    if text.isascii() and "\\" not in text:
        return Spelt(text)
    pieces, edits, taken, length = [], [], 0, 0
    for start, end, new in merge(_rewrites(text), _escapes(text)):
        if start < taken:
            continue
        pieces += [text[taken:start], new]
        length += start - taken
        edits.append((length, length + len(new), start, end))
        length += len(new)
        taken = end
    return Spelt("".join([*pieces, text[taken:]]), tuple(edits)) if edits else Spelt(text)


def _rewrites(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, new spelling) of what is not in one spelling yet, in order."""
    for match in _RUN.finditer(text):
        run, at = match.group(0), match.start()
        for start, end, new in _known_edits(run) if len(run) <= _CACHED_RUN else _edits(run):
            yield at + start, at + end, new


def _escapes(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, what is meant) of letters and breaks that a quoted string escapes."""
    strings = _STRING.finditer(text) if "\\" in text else ()
    for match in (one for string in strings for one in _ESCAPE.finditer(text, *string.span())):
        meant = " " if match[0][1] in "nrtbf" else _escaped(match[0]) if len(match[0]) > 2 else None
        if meant is not None:
            yield match.start(), match.end(), meant


def _escaped(run: str) -> str | None:
    """Return the letters that a run of escapes such as `\\u00e9` stands for, None where it is none."""
    letters = run.encode("ascii").decode("unicode_escape").encode("utf-16-le", "surrogatepass")
    try:
        meant = letters.decode("utf-16-le")
    except UnicodeDecodeError:
        return None
    return spell("".join(letter if letter.isprintable() else " " for letter in meant)).text


def _edits(run: str) -> tuple[tuple[int, int, str], ...]:
    if unicodedata.is_normalized("NFKC", run) and not _HAS_ALIKE.search(run):
        return ()
    found = ((match, _respelt(match)) for match in _CLUSTER.finditer(run))
    return tuple((match.start(), match.end(), new) for match, new in found if new != match.group(0))


_known_edits = lru_cache(maxsize=16384)(_edits)


def _respelt(match: re.Match[str]) -> str:
    """Return a letter with its marks in one spelling; a power or fraction does not run into its number."""
    if match["power"]:
        return "^" + unicodedata.normalize("NFKC", match["power"])
    cluster = match.group(0).translate(_ALIKE)
    if cluster == "\u00a0":
        return cluster
    plain = unicodedata.normalize("NFKC", cluster).translate(_ALIKE)
    return " " + plain if match["fraction"] else plain


@lru_cache(maxsize=65536)
def fold(text: str) -> str:
    """Return text without case, accents and compatibility forms, such as `strasse` for `Straße`."""
    if text.isascii():
        return text.lower()
    bare = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    folded = unicodedata.normalize("NFKD", bare.casefold())
    return "".join(c for c in folded if not unicodedata.combining(c)).translate(_PLAIN_LETTERS)
