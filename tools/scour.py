"""Look through every byte of every file in a folder for samples of what must not be there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .needles import CHUNK, Needles
from .scan import shown

KEPT_OPEN = ("corpus.db", "writer.lock")
"""Files, by the beginning of their name, that SQLite may have open in this process: closing them otherwise
would give up its locks (sqlite.org/howtocorrupt.html, 2.2), so what is opened here stays open."""

_open_files: dict[tuple[int, int], int] = {}


@dataclass(frozen=True, slots=True)
class Leak:
    """A file that holds samples, by kind, or that could not be looked into (`unread` says why)."""

    file: str
    samples: dict[str, int]
    unread: str = ""


@dataclass(frozen=True, slots=True)
class Scoured:
    """Where was looked: how many files and bytes, and the files in which something was found."""

    files: int
    bytes: int
    leaks: tuple[Leak, ...]


Doubt = Callable[[Needles], Needles]
"""Told what was found in a file, returns what of it counts."""


def scour(folder: Path, needles: Needles, doubts: Mapping[str, Doubt] | None = None) -> Scoured:
    """Return what of the samples stands in the files of a folder; links are not followed.

    `doubts` are asked, by the name of a file, whether what was found in it is more than a coincidence.
    """
    files = sorted(files_in(folder))
    size, leaks = 0, []
    for path in files:
        name = shown(str(path.relative_to(folder)))
        try:
            size += path.lstat().st_size
            found = found_in_file(path, needles)
            if found.count and doubts and name in doubts:
                found = doubts[name](found)
        except FileNotFoundError:
            continue  # it went away since the listing
        except OSError as error:
            leaks.append(Leak(name, {}, error.strerror or "cannot be read"))
            continue
        if found.count:
            leaks.append(Leak(name, {kind: n for kind, n in found.counts().items() if n}))
    return Scoured(len(files), size, tuple(leaks))


def files_in(folder: Path) -> Iterator[Path]:
    """Yield the regular files below a folder."""
    for root, _, names in os.walk(folder):
        for name in names:
            path = Path(root, name)
            if path.is_file() and not path.is_symlink():
                yield path


def found_in_file(path: Path, needles: Needles) -> Needles:
    """Return the samples that stand in a file; OSError when it cannot be read."""
    return needles.found_in(_read(path))


def _read(path: Path) -> Iterator[bytes]:
    if not path.lstat().st_size:
        return
    if not path.name.startswith(KEPT_OPEN):
        with path.open("rb") as file:
            while part := file.read(CHUNK):
                yield part
        return
    descriptor, at = _opened(path), 0
    while part := os.pread(descriptor, CHUNK, at):
        yield part
        at += len(part)


def _opened(path: Path) -> int:
    found = path.stat()
    key = found.st_dev, found.st_ino
    if key not in _open_files:
        _open_files[key] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    return _open_files[key]
