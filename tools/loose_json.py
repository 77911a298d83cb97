"""Find the JSON in what a model wrote: in a fence, between sentences, in doubled braces."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NoReturn

MOST_STARTS = 200
"""Places where a value may begin that are tried; more belong to a text that is no JSON."""

_FENCE = re.compile(r"```[\w-]*[ \t]*\n(.*?)```", re.DOTALL)
_START = re.compile(r"[{\[]")
_DOUBLED = re.compile(r"\{\{(?=\s*\")")


def read_json(text: str) -> object:
    """Return the object a text holds, else the array, else the bare value; ValueError when there is none."""
    values = list(json_values(text))
    for kind in (dict, list, object):
        for value in values:
            if isinstance(value, kind):
                return value
    raise ValueError("there is no JSON in the text")


def json_values(text: str) -> Iterator[object]:
    """Yield the JSON values of a text in their order; what breaks off at the end yields nothing.

    The whole text is one value when it can be; else each fenced block counts, else what stands in prose.
    """
    stripped = text.strip().removeprefix("\ufeff")
    whole = _decoded(stripped)
    if whole is not _NOTHING:
        yield whole
        return
    fenced = [value for block in _FENCE.findall(stripped) for value in _inline(block)]
    yield from fenced or _inline(stripped)


def mended(text: str) -> str:
    """Return a text that can be encoded: halves of surrogate pairs, which JSON may spell, are replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _inline(text: str) -> Iterator[object]:
    """Yield the objects and arrays that stand in a text, outermost only."""
    text = _undoubled(text)
    position = 0
    for _ in range(MOST_STARTS):
        start = _START.search(text, position)
        if start is None:
            return
        try:
            value, position = _DECODER.raw_decode(text, start.start())
        except json.JSONDecodeError as error:
            if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
                return  # it breaks off, and a part of it must not pass for the whole
            position = start.end()
        except (ValueError, RecursionError):
            position = start.end()
        else:
            yield _mended_value(value, text)


def _undoubled(text: str) -> str:
    """Return `{{"a": 1}}` as `{"a": 1}`: small models copy the braces of a template."""
    if not _DOUBLED.search(text):
        return text
    return _DOUBLED.sub("{", text).replace("}}", "}")


def _decoded(text: str) -> object:
    try:
        return _mended_value(_DECODER.decode(text), text)
    except (ValueError, RecursionError):
        return _NOTHING


def _mended_value(value: object, text: str) -> object:
    if "\\u" not in text:
        return value
    return json.loads(mended(json.dumps(value, ensure_ascii=False)))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_NOTHING = object()
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
