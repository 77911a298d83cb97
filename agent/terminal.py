"""What may reach a terminal, how wide it is, and how text leaves the program."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TextIO

WIDEST = 100
"""Columns of running text at most, however wide the terminal is."""

NARROWEST = 20

_UNSHOWABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # control characters: escape sequences begin with one
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that turn the direction of writing
    "\u200b\u2028\u2029\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"  # unseen
    "\ud800-\udfff]"
)


def clean(text: str, keep: str = "\n\t") -> str:
    """Return text that cannot steer a terminal: each such character becomes visible, as in `<U+001B>`.

    Line breaks and tabs stay as they are, unless `keep` says otherwise.
    """
    unified = text.replace("\r\n", "\n")
    return _UNSHOWABLE.sub(lambda m: m[0] if m[0] in keep else f"<U+{ord(m[0]):04X}>", unified)


def clean_name(name: str) -> str:
    """Return a path or title on one line, with its own line breaks and tabs made visible too."""
    return clean(name, keep="")


@dataclass(frozen=True, slots=True)
class Paper:
    """What a result is written on: its width in columns (None: no wrapping), and whether it has styles."""

    width: int | None = None
    has_styles: bool = False

    def dim(self, text: str) -> str:
        """Return text that stands back."""
        return f"\x1b[2m{text}\x1b[22m" if self.has_styles else text

    def bold(self, text: str) -> str:
        """Return text that stands out."""
        return f"\x1b[1m{text}\x1b[22m" if self.has_styles else text

    def wrap(self, text: str, indent: str = "", hang: str | None = None) -> str:
        """Return text wrapped to the width, each line behind `indent`, continuing lines behind `hang`."""
        follow = indent if hang is None else hang
        lines = text.expandtabs(4).split("\n")
        wrapped = [piece for line in lines for piece in self._pieces(line, len(follow))]
        first, *rest = wrapped
        return "\n".join([(indent + first).rstrip(), *((follow + line).rstrip() for line in rest)])

    def _pieces(self, line: str, taken: int) -> Iterator[str]:
        room = None if self.width is None else max(self.width, NARROWEST) - taken
        if room is None or cells(line) <= room:
            yield line
        else:
            yield from _folded(line, max(room, NARROWEST // 2))


def paper_of(stream: TextIO, environ: Mapping[str, str] | None = None) -> Paper:
    """Return plain, unwrapped paper for a file or a pipe; NO_COLOR and TERM=dumb keep a terminal plain."""
    env = os.environ if environ is None else environ
    if not stream.isatty():
        return Paper()
    columns = shutil.get_terminal_size().columns
    return Paper(min(columns, WIDEST), not env.get("NO_COLOR") and env.get("TERM") != "dumb")


def cells(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return len(text) if text.isascii() else sum(_cells(character) for character in text)


def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _folded(line: str, room: int) -> Iterator[str]:
    """Yield pieces of at most `room` columns, broken at spaces, inside a word only where it must be."""
    piece = ""
    for word in line.split():
        joined = f"{piece} {word}" if piece else word
        while cells(joined) > room:
            if piece and cells(word) <= room:
                yield piece
                joined = word
            else:
                cut = _fitting(joined, room)
                yield joined[:cut]
                joined = word = joined[cut:]
                piece = ""
        piece = joined
    yield piece


def _fitting(text: str, room: int) -> int:
    """Return how many characters from the start fit, at least one."""
    used = 0
    for at, character in enumerate(text):
        used += _cells(character)
        if used > room:
            return max(at, 1)
    return len(text)


def prepare_streams() -> None:
    """Let no character be fatal: what a stream cannot encode or decode is replaced."""
    for name in ("stdout", "stderr", "stdin"):
        stream = getattr(sys, name)
        if stream is None:  # the caller closed it: `quaere ask … >&-`
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def emit(text: str) -> None:
    """Write a result to stdout; a reader that has gone is no failure, a full disk is one (OSError)."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _discard(sys.stdout)
    except OSError:
        _discard(sys.stdout)
        raise


def emit_json(data: object, indent: int | None = 2) -> None:
    """Write a JSON value to stdout in ASCII, which every encoding holds and no terminal obeys."""
    emit(json.dumps(data, indent=indent) + "\n")


def tell(text: str) -> None:
    """Write a line for a person to stderr."""
    with suppress(OSError):
        sys.stderr.write(clean(text) + "\n")
        sys.stderr.flush()


def discard_output() -> None:
    """Send what stdout still holds and could not write nowhere, so that closing it at exit says nothing."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _discard(sys.stdout)


def _discard(stream: TextIO) -> None:
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
