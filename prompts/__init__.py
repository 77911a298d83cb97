"""Prompt files, one a decision of the model policy; the rules policy needs none.

A file begins with `id` and `version` between two lines of three dashes, and holds a part `# system` and a
part `# user` with fields such as `{{question}}`. What a field is filled with is never read as a prompt.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_HEAD = re.compile(r"---\nid: (?P<id>\w+)\nversion: (?P<version>\d+)\n---\n")
_PARTS = re.compile(r"# system\n(?P<system>.*?)\n# user\n(?P<user>.*)", re.S)
_FIELD = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt file: its id and version, the hash of its text, its two parts."""

    id: str
    version: int
    hash: str
    system: str
    user: str

    @property
    def mark(self) -> str:
        """Return id, version and hash in one word, such as `write/1-0a1b2c3d4e5f`."""
        return f"{self.id}/{self.version}-{self.hash}"

    @property
    def fields(self) -> frozenset[str]:
        """Return the names of the fields to fill."""
        return frozenset(_FIELD.findall(self.system + self.user))

    def fill(self, values: Mapping[str, str]) -> tuple[dict[str, str], ...]:
        """Return the messages with every field filled once; KeyError when a field has no value."""
        return tuple(
            {"role": role, "content": _FIELD.sub(lambda match: values[match[1]], part)}
            for role, part in (("system", self.system), ("user", self.user))
        )


@lru_cache
def load_prompt(name: str) -> Prompt:
    """Return the prompt of a file in this folder; ValueError when it is not written as one."""
    text = Path(__file__).with_name(f"{name}.md").read_text("utf-8")
    head = _HEAD.match(text)
    parts = _PARTS.fullmatch(text[head.end() :].strip()) if head else None
    if head is None or parts is None or head["id"] != name:
        raise ValueError(f"prompts/{name}.md has no id {name!r}, no version or not its two parts")
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    return Prompt(name, int(head["version"]), digest, parts["system"].strip(), parts["user"].strip())
