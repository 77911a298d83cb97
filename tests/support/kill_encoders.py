"""The encoders between which what is killed goes to and fro: they cut passages differently."""

from __future__ import annotations

from counting_encoder import CountingEncoder

ENCODERS = {
    "one": CountingEncoder("one", max_tokens=120, dimension=4),
    "two": CountingEncoder("two", max_tokens=40, dimension=7),
    "alike": CountingEncoder("alike", max_tokens=120, dimension=5),
}
