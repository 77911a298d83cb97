"""Walk the root of a source: which files are there, which are left out and why.

Hidden entries, `.quaere`, installed packages and caches are passed over in silence; links that lead out of
the root, round in a circle or nowhere are counted and named.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from .errors import OversizedFileError, UnreadableError
from .globs import matcher
from .standing import Stamp

PASSED_OVER = frozenset({"node_modules", "__pycache__"})
_CLOSED = PASSED_OVER | {".quaere", ".git"}


@dataclass(frozen=True, slots=True)
class Found:
    """A file below a root: its path as shown, its raw name there (empty: the root itself) and its stamp."""

    path: str
    name: bytes
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class Scan:
    """What a walk found, sorted by path.

    `unreadable` are folders whose content is unknown, `empty` says that the root held no entry at all.
    """

    files: tuple[Found, ...]
    skipped: int
    warnings: tuple[str, ...]
    unreadable: tuple[str, ...]
    empty: bool


@dataclass(slots=True)
class _Walk:
    root: str
    wanted: Callable[[str], bool]
    unwanted: Callable[[str], bool]
    files: dict[str, Found] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    visited: set[tuple[int, int]] = field(default_factory=set)
    skipped: list[str] = field(default_factory=list)
    aliases: int = 0
    unreadable: list[str] = field(default_factory=list)
    empty: bool = False


def scan(root: Path, include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> Scan:
    """Return the files of a source; `root` is a folder or one file and must exist."""
    if root.is_file():
        return Scan((Found(shown(root.name), b"", Stamp.of(root.stat())),), 0, (), (), False)
    walk = _Walk(str(root), matcher(include) if include else lambda path: True, matcher(exclude))
    _enter(walk, "")
    # Links come last: what they lead to is often found under its own path already.
    while walk.links:
        _follow(walk, walk.links.pop(0))
    return Scan(
        files=tuple(walk.files[path] for path in sorted(walk.files)),
        skipped=len(walk.skipped) + walk.aliases,
        warnings=tuple(walk.skipped)
        + tuple(f"{path}: the folder cannot be read" for path in walk.unreadable),
        unreadable=tuple(walk.unreadable),
        empty=walk.empty,
    )


def shown(path: str) -> str:
    """Return a path that can be printed and stored: bytes that are not UTF-8 as `\\xE9`."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def read_file(location: bytes, limit: int) -> tuple[bytes, Stamp]:
    """Return the bytes of a file (`limit` at most) with its stamp; UnreadableError says why it cannot be."""
    for _ in range(2):
        try:
            before, data, after = _read_once(location, limit)
        except FileNotFoundError as error:
            raise UnreadableError("gone while the folder was read") from error
        except PermissionError as error:
            raise UnreadableError("no permission to read it") from error
        except OSError as error:
            raise UnreadableError((error.strerror or "cannot be read").lower()) from error
        if before == after and len(data) == after.size:
            return data, after
    raise UnreadableError("being written while it was read")


def _read_once(location: bytes, limit: int) -> tuple[Stamp, bytes, Stamp]:
    # O_NONBLOCK: a pipe put in the place of a file must not hang the walk.
    with open(os.open(location, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise UnreadableError("not a regular file")
        if found.st_size > limit:
            raise OversizedFileError(f"larger than {limit / 1_000_000:g} MB")
        data = file.read(found.st_size + 1)
        return Stamp.of(found), data, Stamp.of(os.fstat(file.fileno()))


def _enter(walk: _Walk, folder: str) -> None:
    pending = [folder]
    while pending:
        here = pending.pop()
        for path, entry in _entries(walk, here):
            if entry.is_symlink():
                walk.links.append(path)
            elif entry.is_dir():
                pending.append(path)
            else:
                with suppress(FileNotFoundError):  # it went away since the listing
                    _take(walk, path, entry.stat())


def _entries(walk: _Walk, folder: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    location = os.path.join(walk.root, folder)
    try:
        with os.scandir(location) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
        found = os.stat(location)
    except OSError:
        walk.unreadable.append(shown(folder))
        return
    walk.empty = walk.empty or (not folder and not entries)
    walk.visited.add((found.st_dev, found.st_ino))
    if any(entry.name == "pyvenv.cfg" for entry in entries):
        return
    for entry in entries:
        path = f"{folder}/{entry.name}" if folder else entry.name
        if not _is_passed_over(entry.name) and not walk.unwanted(shown(path)):
            yield path, entry


def _is_passed_over(name: str) -> bool:
    return name.startswith((".", "~$")) or name.endswith("~") or name in PASSED_OVER


def _take(walk: _Walk, path: str, found: os.stat_result) -> None:
    label = shown(path)
    if not walk.wanted(label):
        return
    if not stat.S_ISREG(found.st_mode):
        walk.skipped.append(f"{label}: not a regular file")
    elif label in walk.files:
        walk.skipped.append(f"{label}: two names look the same")
    else:
        walk.visited.add((found.st_dev, found.st_ino))
        walk.files[label] = Found(label, os.fsencode(path), Stamp.of(found))


def _follow(walk: _Walk, path: str) -> None:
    location = os.path.join(walk.root, path)
    try:
        target, found = os.path.realpath(location, strict=True), os.stat(location)
    except OSError:
        walk.skipped.append(f"{shown(path)}: a link that leads nowhere")
        return
    root, parent = os.path.realpath(walk.root), os.path.realpath(os.path.dirname(location))
    if os.path.commonpath([root, target]) != root:
        walk.skipped.append(f"{shown(path)}: a link out of the folder")
    elif not _CLOSED.isdisjoint(target.removeprefix(root).split(os.sep)):
        walk.skipped.append(f"{shown(path)}: a link into a closed folder")
    elif os.path.commonpath([parent, target]) == target:
        walk.skipped.append(f"{shown(path)}: a link round in a circle")
    elif (found.st_dev, found.st_ino) in walk.visited:
        walk.aliases += 1
    elif stat.S_ISDIR(found.st_mode):
        _enter(walk, path)
    else:
        _take(walk, path, found)
