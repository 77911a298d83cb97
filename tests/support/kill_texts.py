"""Documents of random words, each with one word that no other document ever had."""

from __future__ import annotations

import random

WORDS = ["amber", "basin", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "jetty", "knoll"]


def text_of(chance: random.Random) -> str:
    """Return a document with a word that no other document ever had."""
    lines = [" ".join(chance.choices(WORDS, k=chance.randint(3, 30))) for _ in range(chance.randint(1, 12))]
    return f"# About tok{chance.getrandbits(60)}\n\n" + ".\n\n".join(lines) + ".\n"
