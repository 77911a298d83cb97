"""How many tokens a text may have: its UTF-8 bytes at first, then what the model's server reported.

Bytes of ASCII and of all other characters are counted apart, because tokenizers treat them differently. An
estimate is meant to lie above the truth: bytes bound the tokens of a byte-level tokenizer, and a rate is
learned as if the whole report came from one class of bytes.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

from .ports import Request

FIRST_RATE = 1.0
"""Tokens a byte before anything was reported; no byte-level tokenizer needs more."""

MARGIN = 1.1
"""What a learned rate is raised by: the next text may be harder to tokenize than the last."""

MESSAGE_BYTES = 16
"""Bytes charged for what a chat template puts around each message."""

SHOWN = 2
"""Times the tools may be shown to a model whose server knows no tools: in words and in a schema."""

SCHEMA_BYTES = 128
"""Bytes charged for the words that hand a schema to a model whose server knows none."""


@dataclass(frozen=True, slots=True)
class Size:
    """UTF-8 bytes of a text: those of ASCII characters and those of all others."""

    ascii: int = 0
    other: int = 0

    def __add__(self, more: Size) -> Size:
        return Size(self.ascii + more.ascii, self.other + more.other)

    @property
    def total(self) -> int:
        """Return all bytes."""
        return self.ascii + self.other


@dataclass(slots=True)
class TokenRate:
    """Tokens a byte of one model, at most 1, learned from what its server reports within the run."""

    ascii: float = FIRST_RATE
    other: float = FIRST_RATE

    @property
    def most(self) -> float:
        """Return the higher of both rates."""
        return max(self.ascii, self.other)

    def estimate(self, size: Size) -> int:
        """Return the tokens a text of this size may have, rounded up."""
        return math.ceil(size.ascii * self.ascii + size.other * self.other)

    def learn(self, size: Size, tokens: int) -> None:
        """Take a report into account for the class of bytes the text mostly consists of.

        The first report replaces the byte for a token; of later ones the highest rate stays.
        """
        if tokens <= 0 or not size.total:
            return
        if 2 * size.ascii >= size.total:
            self.ascii = _learned(self.ascii, tokens / size.ascii)
        if 2 * size.other >= size.total:
            self.other = _learned(self.other, tokens / size.other)


def _learned(known: float, reported: float) -> float:
    raised = min(FIRST_RATE, reported * MARGIN)
    return raised if known == FIRST_RATE else max(known, raised)


def size_of(text: str) -> Size:
    """Return the size of a text; lone surrogates count as three bytes."""
    plain = len(text.encode("ascii", "ignore"))
    return Size(plain, len(text.encode("utf-8", "surrogatepass")) - plain)


def content_size(request: Request) -> Size:
    """Return the size of the messages alone, which every server counts."""
    return size_of("".join(message.get("content", "") for message in request.messages))


def prompt_size(request: Request) -> Size:
    """Return the size of all that may be counted as prompt: messages, their frames, schema and tools."""
    frames = MESSAGE_BYTES * (len(request.messages) + 1)
    schema = SCHEMA_BYTES + _json_bytes(request.schema) if request.schema is not None else 0
    tools = SHOWN * (SCHEMA_BYTES + _json_bytes(request.tools)) if request.tools else 0
    return content_size(request) + Size(frames + schema + tools)


def _json_bytes(value: object) -> int:
    return len(json.dumps(value, separators=(",", ":"), default=str))
