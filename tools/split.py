"""Split a parsed text into sentences with what governs them, and passages by structure."""

from __future__ import annotations

from .cuts import CountTokens, Limits, PassageCut, SentenceCut, Split
from .evidence import Parsed
from .outline import outline
from .passages import pack_passages

__all__ = ["SPLITTER", "CountTokens", "Limits", "PassageCut", "SentenceCut", "Split", "split"]

SPLITTER = "split/5"
"""Mark stored with each version; it changes when sentences or passages of the same text would."""


def split(parsed: Parsed, count: CountTokens, limits: Limits) -> Split:
    """Return the sentences and passages of a parsed text; no passage has more than `limits.tokens` tokens."""
    units = outline(parsed)
    return pack_passages(parsed, units, count, limits)
