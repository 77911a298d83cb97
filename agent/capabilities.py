"""What a server can do, found out once for each model and remembered in the workspace."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

Structure = Literal["json_schema", "json_object", "text"]
Ceiling = Literal["max_tokens", "max_completion_tokens"]

FILE = "models.json"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What may be asked of a server; everything is believed until it refuses.

    `structure` is how a schema is sent, `spelled` writes it into the prompt as well, `tools` are native tool
    calls, `usage` is the usage of streams, `ceiling` the name of the completion limit, `system` the role;
    `proven` says that a schema or tools were answered well in this way.
    """

    structure: Structure = "json_schema"
    spelled: bool = False
    tools: bool = True
    stream: bool = True
    usage: bool = True
    ceiling: Ceiling = "max_tokens"
    temperature: bool = True
    system: bool = True
    proven: bool = False

    @property
    def next_structure(self) -> Structure:
        """Return the way to send a schema that asks less of a server."""
        ways: tuple[Structure, ...] = get_args(Structure)
        return ways[min(ways.index(self.structure) + 1, len(ways) - 1)]

    @property
    def unenforced(self) -> Structure:
        """Return the way to send a schema to a server that took a strict one and did not hold it."""
        return "json_object" if self.structure == "json_schema" else self.structure


EVERYTHING = Capabilities()
"""What is believed of a model at first."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What a request made use of, so that a refusal can only be about that."""

    structure: Structure | None = None
    tools: bool = False
    stream: bool = False
    usage: bool = False
    temperature: bool = False
    system: bool = False


def lessened(capabilities: Capabilities, sent: Sent, said: str) -> Capabilities | None:
    """Return what is left after a server refused a request in these words; None when they name no feature."""
    text = said.casefold()
    return next((less for clue, less in _ways_down(capabilities, sent) if clue.search(text)), None)


def lessened_blindly(capabilities: Capabilities, sent: Sent) -> Capabilities | None:
    """Return what to try after a server failed without words: the next way to send schema or tools."""
    if sent.structure not in (None, "text"):
        return replace(capabilities, structure=capabilities.next_structure)
    return replace(capabilities, tools=False) if sent.tools else None


def _ways_down(now: Capabilities, sent: Sent) -> Iterator[tuple[re.Pattern[str], Capabilities]]:
    """Yield, for each feature in use, the words that refuse it and what is left without it."""
    if now.ceiling == "max_tokens":
        yield _CEILING, replace(now, ceiling="max_completion_tokens")
    if sent.usage:
        yield _USAGE, replace(now, usage=False)
    if sent.temperature:
        yield _TEMPERATURE, replace(now, temperature=False)
    if sent.structure not in (None, "text"):
        yield _STRUCTURE, replace(now, structure=now.next_structure)
    if sent.tools:
        yield _TOOLS, replace(now, tools=False)
    if sent.system:
        yield _SYSTEM, replace(now, system=False)
    if sent.stream:
        yield _STREAM, replace(now, stream=False, usage=False)


_CEILING = re.compile(r"max_completion_tokens")
_USAGE = re.compile(r"stream_options|include_usage")
_TEMPERATURE = re.compile(r"temperature")
_STRUCTURE = re.compile(
    r"response_?\s?format|json_?\s?schema|json_?\s?object|json mode|structured output|guided|grammar"
)
_TOOLS = re.compile(r"\btools?\b|tool_choice|tool[ -]?calls?|function[ -]?call|\bfunctions?\b")
_SYSTEM = re.compile(r"system[ -](role|message|prompt)|role[^.]{0,20}system|roles must alternate")
_STREAM = re.compile(r"\bstream(ing)?\b")


class CapabilityBook:
    """Remember what each model of each server can do; a file that cannot be read or written is no loss.

    Without a folder the memory ends with the process.
    """

    def __init__(self, folder: Path | None) -> None:
        self._path = folder / FILE if folder else None
        self._known = dict(_read(self._path)) if self._path else {}

    def of(self, address: str, model: str) -> Capabilities:
        """Return what is known of a model, which is believed to do everything at first."""
        return self._known.get(_entry(address, model), EVERYTHING)

    def learn(self, address: str, model: str, capabilities: Capabilities) -> None:
        """Remember what a model can do, beside what other processes have found out meanwhile."""
        if self.of(address, model) == capabilities:
            return
        self._known[_entry(address, model)] = capabilities
        if self._path and self._path.parent.is_dir():
            with suppress(OSError):
                _write(self._path, {**_read(self._path), _entry(address, model): capabilities})


def _entry(address: str, model: str) -> str:
    return f"{address} {model}"


def _read(path: Path) -> Mapping[str, Capabilities]:
    """Return what a file remembers; what does not fit is left out."""
    try:
        written = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(written, dict) or written.get("format") != FORMAT:
        return {}
    models = written.get("models")
    entries = models.items() if isinstance(models, dict) else ()
    return {name: _capabilities(value) for name, value in entries if isinstance(value, dict)}


def _capabilities(value: Mapping[str, Any]) -> Capabilities:
    fitting = {
        one.name: value[one.name] for one in fields(Capabilities) if _fits(one.name, value.get(one.name))
    }
    return Capabilities(**fitting)


def _fits(name: str, value: object) -> bool:
    return value in _WORDS[name] if name in _WORDS else isinstance(value, bool)


_WORDS: Mapping[str, tuple[str, ...]] = {"structure": get_args(Structure), "ceiling": get_args(Ceiling)}


def _write(path: Path, known: Mapping[str, Capabilities]) -> None:
    """Replace the file in one step, so that no reader meets half of it."""
    content = {"format": FORMAT, "models": {name: asdict(one) for name, one in sorted(known.items())}}
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{FILE}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1)
        os.replace(name, path)
    except OSError:
        with suppress(OSError):
            os.unlink(name)
        raise
