"""Whether the file behind a stored version still is what was read, looked up on disk now."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

Standing = Literal["same", "changed", "gone"]

RACY_NS = 2_000_000_000
"""A file written this short before it was read may change again at the same time: it is compared by hash."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the file system says of a file without opening it; the change time betrays a restored mtime."""

    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, found: os.stat_result) -> Stamp:
        """Return the stamp in a stat result."""
        return cls(found.st_size, found.st_mtime_ns, found.st_ctime_ns)

    def is_settled(self, observed_ns: int) -> bool:
        """Tell whether a file with this stamp can be taken for the one read at `observed_ns`."""
        return max(self.mtime_ns, self.ctime_ns) + RACY_NS < observed_ns


@dataclass(frozen=True, slots=True)
class Observation:
    """What was read of a file: its stamp, when (ns since 1970) and the hash of its bytes."""

    stamp: Stamp
    observed_ns: int
    content_hash: str


def content_hash(data: bytes) -> str:
    """Return the hash by which equal files are known: blake2b, 128 bits, hexadecimal."""
    return blake2b(data, digest_size=16).hexdigest()


def standing(location: bytes, observed: Observation) -> Standing:
    """Compare a file on disk with what was read of it; what cannot be read any more counts as changed."""
    try:
        stamp = Stamp.of(os.stat(location))
        if stamp == observed.stamp and stamp.is_settled(observed.observed_ns):
            return "same"
        if stamp.size != observed.stamp.size:
            return "changed"
        with open(location, "rb") as file:
            return "same" if content_hash(file.read()) == observed.content_hash else "changed"
    except (FileNotFoundError, NotADirectoryError):
        return "gone"
    except OSError:
        return "changed"


def is_away(root: bytes, inode: int) -> bool:
    """Tell whether a source is not there now: no root, or another, empty folder, as where a disk was mounted.

    Its files are not gone then; nobody can tell.
    """
    try:
        found = os.stat(root)
        if found.st_ino == inode or not stat.S_ISDIR(found.st_mode):
            return False
        with os.scandir(root) as entries:
            return next(entries, None) is None
    except OSError:
        return True
