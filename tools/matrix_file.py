"""The file of a matrix: stamp, passage ids and rows, written whole or not at all and checked when read."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

MAGIC = b"quaere matrix 1\n"
ALIGNMENT = 64
STALE_SECONDS = 3600.0
"""Age at which an unfinished file is taken for one whose writer was killed."""

Ids = NDArray[np.int64]
Rows = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """The vectors of a space at a revision; `mark` names the revision among all corpora.

    Passages up to `top` were looked at; those in `holes` had no vector yet. `ids` ascend, one for each row.
    """

    space: str
    revision: int
    mark: str
    top: int
    holes: Ids
    ids: Ids
    rows: Rows


def load(folder: Path, space: str) -> Snapshot | None:
    """Return the stored snapshot with its rows mapped; None when there is none, or it is damaged."""
    try:
        with _path(folder, space).open("rb") as file:
            return _read(file, space)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def store(folder: Path, snapshot: Snapshot) -> Snapshot:
    """Store a snapshot and return it with its rows mapped; as it is where the folder cannot be written.

    Matrices of other spaces are removed: they can be made again.
    """
    path = _path(folder, snapshot.space)
    try:
        _write(path, snapshot)
        _clean(folder, path)
    except OSError:
        return snapshot
    stored = load(folder, snapshot.space)
    # Another process may have put a file of its own in this place by now.
    return stored if stored is not None and stored.mark == snapshot.mark else snapshot


def _path(folder: Path, space: str) -> Path:
    return folder / f"vectors-{blake2b(space.encode(), digest_size=6).hexdigest()}.bin"


def _read(file: IO[bytes], space: str) -> Snapshot | None:
    if file.read(len(MAGIC)) != MAGIC:
        return None
    size = int.from_bytes(file.read(4), "little")
    stamp: dict[str, Any] = json.loads(file.read(size))
    at = _aligned(len(MAGIC) + 4 + size)
    mapped = np.asarray(np.memmap(file, np.uint8, "r"))
    counts = {"ids": stamp["ids"] * 8, "holes": stamp["holes"] * 8, "rows": stamp["ids"] * stamp["width"] * 4}
    body = mapped[at:]
    if stamp["space"] != space or len(body) != sum(counts.values()) or stamp["sum"] != _checksum(body):
        return None
    ids, holes, rows = np.split(body, np.cumsum([counts["ids"], counts["holes"]]))
    return Snapshot(
        space,
        stamp["revision"],
        stamp["mark"],
        stamp["top"],
        np.array(holes.view("<i8"), np.int64),
        np.array(ids.view("<i8"), np.int64),
        rows.view("<f4").reshape(stamp["ids"], stamp["width"]),
    )


def _write(path: Path, snapshot: Snapshot) -> None:
    arrays = [
        np.ascontiguousarray(snapshot.ids, "<i8"),
        np.ascontiguousarray(snapshot.holes, "<i8"),
        np.ascontiguousarray(snapshot.rows, "<f4"),
    ]
    stamp = {
        "space": snapshot.space,
        "revision": snapshot.revision,
        "mark": snapshot.mark,
        "top": snapshot.top,
        "ids": len(snapshot.ids),
        "holes": len(snapshot.holes),
        "width": snapshot.rows.shape[1],
        "sum": sum(_checksum(array.reshape(-1).view(np.uint8)) for array in arrays) % 2**64,
    }
    header = json.dumps(stamp).encode()
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix="vectors-", suffix=".tmp", delete=False) as file:
        try:
            file.write(MAGIC + len(header).to_bytes(4, "little") + header)
            file.write(bytes(_aligned(file.tell()) - file.tell()))
            for array in arrays:
                file.write(array.data)
        except BaseException:
            os.unlink(file.name)
            raise
    os.replace(file.name, path)


def _aligned(at: int) -> int:
    return -(-at // ALIGNMENT) * ALIGNMENT


def _checksum(body: NDArray[np.uint8]) -> int:
    """Return the sum of the 32-bit words: as fast as memory is read, and any changed byte changes it."""
    return int(body.view("<u4").sum(dtype=np.uint64))


def _clean(folder: Path, kept: Path) -> None:
    """Remove matrices of other spaces and what writers that were killed left behind."""
    for path in folder.glob("vectors-*"):
        with contextlib.suppress(OSError):
            unfinished = path.suffix == ".tmp"
            if path != kept and (not unfinished or time.time() - path.stat().st_mtime > STALE_SECONDS):
                path.unlink()
