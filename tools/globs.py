"""Path patterns: `*` stays inside a folder, `**` crosses folders, a name also stands for all below it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache


def matcher(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Return a test of whether a path (forward slashes, relative) matches one of the patterns.

    A pattern without a slash matches a file or folder name at any depth, as in .gitignore; a path below a
    matching folder matches too. An empty list matches nothing.
    """
    compiled = [_compile(pattern) for pattern in patterns if pattern.strip("/")]
    return lambda path: any(one.match(path) for one in compiled)


@lru_cache(maxsize=256)
def _compile(pattern: str) -> re.Pattern[str]:
    plain = pattern.removeprefix("./")
    anywhere = "(?:.*/)?" if "/" not in plain.rstrip("/") else ""
    body = "".join(map(_translate, _parts(plain.strip("/"))))
    try:
        return re.compile(rf"(?s:{anywhere}{body}(?:/.*)?)\Z")
    except re.error:  # a range such as [z-a] can only be meant as it is written
        return re.compile(rf"(?s:{anywhere}{re.escape(plain.strip('/'))}(?:/.*)?)\Z")


def _parts(pattern: str) -> list[str]:
    return re.findall(r"\*\*/|\*\*|\[[!^]?\]?[^\]/]*\]|.", pattern, re.DOTALL)


def _translate(part: str) -> str:
    if part in _WILD:
        return _WILD[part]
    if len(part) > 2 and part[0] == "[":
        inner = re.sub(r"([\\[&~|]|--)", r"\\\1", part[1:-1])
        negated = inner[0] in "!^"
        return f"(?!/)[{'^' if negated else ''}{inner[1:] if negated else inner}]"
    return re.escape(part)


_WILD = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
