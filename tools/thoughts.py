"""Part what a model thought from what it replied; thoughts are never taken for an answer."""

from __future__ import annotations

import re

_NAMES = r"(?:think|thinking|thought|thoughts|reasoning|analysis)"
_WHOLE = re.compile(rf"\s*<({_NAMES})>.*?</\1>", re.DOTALL | re.IGNORECASE)
_OPEN = re.compile(rf"\s*<{_NAMES}>", re.IGNORECASE)
_CLOSE = re.compile(rf"</{_NAMES}>", re.IGNORECASE)


def without_thoughts(text: str) -> tuple[str, bool]:
    """Return a text without the thoughts that open it, and whether there were any.

    Thoughts that do not end leave nothing. Where a server kept the opening mark to itself, what stands
    before the closing one goes, unless the text begins as JSON, in which such a mark can only be quoted.
    """
    rest = text
    while (whole := _WHOLE.match(rest)) is not None:
        rest = rest[whole.end() :]
    if _OPEN.match(rest):
        return "", True
    if rest is text and not text.lstrip().startswith(("{", "[", "`")):
        *_, last = (None, *_CLOSE.finditer(text))
        rest = text[last.end() :] if last else text
    return rest.strip() if rest is not text else text, rest is not text
