"""Find many byte strings at once in a stream that is larger than memory.

Strings are cut to 8, 16 or 32 bytes and known by a 64-bit hash of their words; the stream is hashed at every
offset. Of 8 bytes the hash is one to one; of more, a chance hit among a million strings in a gigabyte has a
probability below 0.001. Only hashes are kept, so that a list of them tells nothing of the texts.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

SIZES = (32, 16, 8)
"""Bytes that are looked for; a longer string is cut to the first size it reaches."""

LEAST_VARIETY = 5
"""Different bytes a string must have: rulers and padding would be found everywhere."""

CHUNK = 1 << 17
"""Bytes looked through at once: their hashes stay in a core's cache."""

Hashes = NDArray[np.uint64]

_FACTOR, _JOINING = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_SHIFT = np.uint64(32)
_TABLE_SHIFT = np.uint64(64 - 20)
_NONE: Hashes = np.zeros(0, np.uint64)


@dataclass(slots=True)
class Needles:
    """Byte strings to be found, each of a kind; `of[size]` holds their hashes, ascending, by kind."""

    of: dict[tuple[str, int], Hashes] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Return how many strings there are."""
        return sum(len(hashes) for hashes in self.of.values())

    def counts(self) -> dict[str, int]:
        """Return how many strings of each kind there are."""
        kinds = sorted({kind for kind, _ in self.of})
        return {kind: sum(len(self.of[key]) for key in self.of if key[0] == kind) for kind in kinds}

    def add(self, kind: str, strings: Iterable[bytes]) -> None:
        """Add strings; those under 8 bytes, or with hardly any different bytes, cannot be looked for."""
        by_size: dict[int, set[bytes]] = {}
        for string in strings:
            size = next((size for size in SIZES if len(string) >= size), 0)
            if size and len(set(string[:size])) >= LEAST_VARIETY:
                by_size.setdefault(size, set()).add(string[:size])
        for size, cut in by_size.items():
            hashes = _hashes(b"".join(cut), {size})[size][::size]
            self.of[kind, size] = np.union1d(self.of.get((kind, size), _NONE), hashes)

    def of_size(self, size: int) -> Needles:
        """Return the strings that are looked for by so many bytes."""
        return Needles({key: hashes for key, hashes in self.of.items() if key[1] == size})

    def without(self, found: Needles) -> Needles:
        """Return the strings that are not among the ones that were found."""
        return Needles({key: np.setdiff1d(held, found.of.get(key, _NONE)) for key, held in self.of.items()})

    def found_in(self, stream: Iterable[bytes]) -> Needles:
        """Return those that stand in a stream of bytes, also across the borders of its parts."""
        found = dict.fromkeys(self.of, _NONE)
        sizes = {size for (_, size), hashes in self.of.items() if len(hashes)}
        tables = {size: _table([held for key, held in self.of.items() if key[1] == size]) for size in sizes}
        for part in _overlapping(stream):
            for size, hashes in _hashes(part, sizes).items():
                near = hashes[tables[size][hashes >> _TABLE_SHIFT]]
                for key in self.of if len(near) else ():
                    if key[1] == size:
                        found[key] = np.union1d(found[key], np.intersect1d(near, self.of[key]))
        return Needles(found)

    def to_json(self) -> dict[str, str]:
        """Return the hashes as text."""
        return {
            f"{kind} {size}": base64.b64encode(held.astype("<u8").tobytes()).decode()
            for (kind, size), held in self.of.items()
        }

    @classmethod
    def from_json(cls, stored: dict[str, str]) -> Needles:
        """Return what `to_json` gave as text."""
        parts = {tuple(name.rsplit(" ", 1)): base64.b64decode(held) for name, held in stored.items()}
        return cls(
            {
                (kind, int(size)): np.frombuffer(held, "<u8").astype(np.uint64)
                for (kind, size), held in parts.items()
            }
        )


def _table(held: Iterable[Hashes]) -> NDArray[np.bool_]:
    """Return by the first bits of a hash whether any of the hashes begins so."""
    table = np.zeros(1 << 20, np.bool_)
    for hashes in held:
        table[hashes >> _TABLE_SHIFT] = True
    return table


def _overlapping(stream: Iterable[bytes]) -> Iterator[bytes]:
    """Yield a stream in parts of about CHUNK bytes, each with the end of the one before at its head."""
    held, size, tail = [b""], 0, b""
    for piece in stream:
        for at in range(0, len(piece), CHUNK):
            held.append(piece[at : at + CHUNK])
            size += len(held[-1])
            if size >= CHUNK:
                part = tail + b"".join(held)
                yield part
                held, size, tail = [], 0, part[1 - SIZES[0] :]
    yield tail + b"".join(held)


def _hashes(part: bytes, sizes: Collection[int]) -> dict[int, Hashes]:
    """Return for each size the hash of the bytes of that size at every offset.

    Twice the size is hashed from the two halves; each step can be undone, so that none loses a bit.
    """
    found: dict[int, Hashes] = {}
    hashes, size = _words(part), 8
    while len(hashes):
        hashes *= _FACTOR
        hashes ^= hashes >> _SHIFT
        hashes *= _JOINING
        if size in sizes:
            found[size] = hashes
        if size >= max(sizes, default=0):
            break
        hashes, size = hashes[:-size] * _FACTOR + hashes[size:], 2 * size
    return found


def _words(part: bytes) -> Hashes:
    """Return the eight bytes at each offset as an integer."""
    count = max(0, len(part) - 7)
    return np.array(np.ndarray((count,), "<u8", part, strides=(1,)), np.uint64)
