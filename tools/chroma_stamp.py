"""The stamp beside the Chroma folder: which revision it holds, and whether its files are as they were left.

A run that changes the folder unsettles the stamp first and settles it last: where it is not settled a run
was killed. Damaged index files can crash the process that loads them, so they are checked before.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path

import numpy as np

from .matrix_file import Ids

FOLDER = "chroma"
FILE = "chroma.json"
FORMAT = 1
LOADED = "index_metadata.pickle"
"""The file of a vector index without which Chroma loads none of the others."""

CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the Chroma folder holds: the vectors of `space` at the revision that `mark` names.

    `ids` is the hash of the passage ids in it, `files` that of its index files; `attempts` counts the runs
    that began to change it since it was settled; `deleted` the records it lost since it was made.
    """

    space: str
    collection: str
    revision: int
    mark: str
    count: int = 0
    ids: str = ""
    files: str = ""
    attempts: int = 0
    deleted: int = 0
    format: int = FORMAT

    @property
    def is_settled(self) -> bool:
        """Tell whether no run is changing the folder, or was killed while it did."""
        return self.attempts == 0


def collection_name(space: str, shape: Mapping[str, object]) -> str:
    """Return the name of the collection of an encoder space whose index is built in a shape."""
    told = json.dumps([space, shape], sort_keys=True)
    return f"passages-{blake2b(told.encode(), digest_size=8).hexdigest()}"


def read_stamp(home: Path) -> Stamp | None:
    """Return the stamp of a `.quaere` folder; None when there is none, or none that can be understood."""
    try:
        stamp = Stamp(**json.loads((home / FILE).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
    return stamp if stamp.format == FORMAT else None


def write_stamp(home: Path, stamp: Stamp) -> None:
    """Write the stamp whole or not at all."""
    draft = home / f"{FILE}.{os.getpid()}.tmp"
    try:
        with draft.open("w", encoding="utf-8") as file:
            json.dump(asdict(stamp), file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, home / FILE)
    finally:
        draft.unlink(missing_ok=True)


def remove_stamp(home: Path) -> None:
    """Remove the stamp: what it spoke for cannot be trusted any more."""
    (home / FILE).unlink(missing_ok=True)


def unsettled(stamp: Stamp) -> Stamp:
    """Return the stamp of a folder that a run begins to change."""
    return replace(stamp, attempts=stamp.attempts + 1)


def ids_hash(ids: Ids) -> str:
    """Return the hash of passage ids in their order."""
    return blake2b(np.ascontiguousarray(ids, "<i8").tobytes(), digest_size=16).hexdigest()


def files_hash(home: Path) -> str:
    """Return the hash of the index files that Chroma would load as they are."""
    digest = blake2b(digest_size=16)
    for loaded in sorted((home / FOLDER).glob(f"*/{LOADED}")):
        for path in sorted(loaded.parent.iterdir()):
            digest.update(f"{loaded.parent.name}/{path.name} {path.stat().st_size}\n".encode())
            with path.open("rb") as file:
                while chunk := file.read(CHUNK):
                    digest.update(chunk)
    return digest.hexdigest()


def is_intact(home: Path, stamp: Stamp) -> bool:
    """Tell whether the index files are there as the run left them that settled the stamp."""
    try:
        return (home / FOLDER / "chroma.sqlite3").exists() and files_hash(home) == stamp.files
    except OSError:
        return False
