"""Read the values of flags: settings, limits, and words of which `-` stands for stdin."""

from __future__ import annotations

import difflib
import re
import sys
import tomllib
from collections.abc import Iterable, Sequence

from ..tools.errors import UsageError

LIMITS = ("steps", "tool_calls", "seconds", "model_calls", "tokens", "usd")
BROKEN = {"seconds": "a number of seconds", "usd": "a number of US dollars"}
"""Limits that need not be whole, and what they are."""
MOST_STDIN = 1_000_000
"""Bytes of stdin that are read as a question at most; the limit of a question lies far below."""


def read_setting(text: str) -> tuple[str, object]:
    """Return key and value of `KEY=VALUE`; the value is read as in quaere.toml, else as the text it is."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"--set {text!r} is no setting; write it as KEY=VALUE, such as search.k1=1.5")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value.strip()


def read_budget(text: str) -> dict[str, object]:
    """Return the limits of `steps=8,seconds=30` as settings; UsageError names what does not fit."""
    limits: dict[str, object] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise UsageError(f"--budget: {part.strip()!r} is no limit; write steps=8,seconds=30,tool_calls=4")
        if name not in LIMITS:
            raise UsageError(f"--budget: there is no limit {name!r}{nearest(name, LIMITS)}")
        if f"budget.{name}" in limits:
            raise UsageError(f"--budget: {name} is given twice; give it once")
        limits[f"budget.{name}"] = _limit(name, value)
    return limits


def _limit(name: str, value: str) -> float | int:
    whole = name not in BROKEN
    if not re.fullmatch(r"[0-9]+" if whole else r"[0-9]+(\.[0-9]+)?", value, re.ASCII):
        kind = BROKEN.get(name, "a whole number")
        raise UsageError(f"--budget: {name}={value} is not {kind}; write it as {name}=8")
    return int(value) if whole else float(value)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that names the nearest known name, or all of them."""
    names = list(known)
    near = difflib.get_close_matches(name, names, 1, 0.5)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; known are {', '.join(names)}" if names else "; there are none yet"


def read_words(words: Sequence[str]) -> str:
    """Return words joined by spaces, where `-` stands for what stdin holds."""
    parts = [_from_stdin() if word == "-" else word for word in words]
    # Arguments that were no UTF-8 arrive as lone surrogates, which no index can hold.
    return " ".join(parts).encode("utf-8", "replace").decode()


def _from_stdin() -> str:
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        return sys.stdin.read(MOST_STDIN).strip()
    return str(stream.read(MOST_STDIN).decode("utf-8", "replace")).removeprefix("\ufeff").strip()
