"""Read Chroma collections that others made: nothing is ever written to them.

Opening a folder changes bytes in it, so a copy is opened. A server is asked page by page.
"""

from __future__ import annotations

import difflib
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .attached_location import STORE, Location
from .chroma_client import NOT_FOUND, MissingCollectionError, explained, open_folder, open_server
from .errors import SourceUnavailableError
from .matrix_file import Rows

PAGE = 100
"""Records read at once."""

PATIENCE = 8.0
"""Seconds to wait for a collection that is just receiving its first records."""

COPIES = 3
"""Times a folder is copied while somebody writes to it."""

ROUNDING = 1e-5
"""How far the length of a unit vector may be off."""

LOOPBACK = ("localhost", "127.0.0.1", "::1")

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """A record of a collection: its id, its document and its embedding, as far as there are any."""

    id: str
    text: str | None
    vector: Rows | None


@dataclass(frozen=True, slots=True)
class Attached:
    """An open collection; `function` names the embedding function stored with it, if there is one.

    Whatever Chroma raises leaves as SourceUnavailableError.
    """

    id: str
    function: str
    place: str
    _collection: Any

    def count(self) -> int:
        """Return how many records there are."""
        return int(self._ask(self._collection.count))

    def pages(self) -> Iterator[list[Record]]:
        """Yield all records in pages, in the order Chroma keeps them."""
        offset = 0
        while page := self.page(offset):
            yield page
            offset += len(page)

    def page(self, offset: int) -> list[Record]:
        """Return the records of one page; none beyond the last."""
        include = ["documents", "embeddings"]
        got = self._ask(partial(self._collection.get, limit=PAGE, offset=offset, include=include))
        texts, rows = got["documents"] or [None] * len(got["ids"]), got["embeddings"]
        return [
            Record(id, texts[at], _row(rows[at] if rows is not None else None))
            for at, id in enumerate(got["ids"])
        ]

    def texts(self, ids: Sequence[str]) -> dict[str, str | None]:
        """Return the documents of those records that are there, by id."""
        found: dict[str, str | None] = {}
        for at in range(0, len(ids), PAGE):
            some = list(ids[at : at + PAGE])
            got = self._ask(partial(self._collection.get, ids=some, include=["documents"]))
            found |= dict(zip(got["ids"], got["documents"] or [None] * len(got["ids"]), strict=True))
        return found

    def _ask(self, call: Callable[[], T]) -> T:
        with explained(self.place):
            return _patient(call)


@contextmanager
def attached(location: Location, token: str = "") -> Iterator[Attached]:
    """Open a collection for reading; SourceUnavailableError when it cannot be reached or is not there."""
    if location.folder is not None:
        with _copied(location) as copy, _opened(location, lambda: open_folder(copy)) as client:
            yield _collection(client, location)
    else:
        assert location.server is not None
        server = replace(location.server, headers=_headers(location, token))
        with _opened(location, lambda: open_server(server)) as client:
            yield _collection(client, location)


def folder_mark(folder: Path) -> str:
    """Return a hash of names, sizes and times of all files below a folder, to see whether it has changed."""
    digest = blake2b(digest_size=16)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            stat = path.stat()
            told = f"{path.relative_to(folder)}\0{stat.st_size}\0{stat.st_mtime_ns}\0{stat.st_ctime_ns}\n"
            digest.update(told.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _headers(location: Location, token: str) -> Mapping[str, str]:
    if not token:
        return {}
    server = location.server
    assert server is not None
    if not server.secure and server.host not in LOOPBACK:
        raise SourceUnavailableError(
            location.place,
            "a token would travel readable; write chroma+https, or unset corpus.chroma_token_variable",
        )
    return {"Authorization": f"Bearer {token}"}


@contextmanager
def _opened(location: Location, open: Callable[[], Any]) -> Iterator[Any]:
    with explained(location.text):
        client = open()
    try:
        yield client
    finally:
        client.close()


def _collection(client: Any, location: Location) -> Attached:  # noqa: ANN401  (Chroma has no types)
    try:
        with explained(location.text):
            found = client.get_collection(location.name, embedding_function=None)
    except MissingCollectionError as error:
        with explained(location.text):
            names = sorted(one.name for one in client.list_collections())
        near = difflib.get_close_matches(location.name, names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names[:8]) or 'none'}"
        raise MissingCollectionError(
            location.place, f"has no collection {location.name!r}; {hint}"
        ) from error
    return Attached(str(found.id), _function(found), location.text, found)


def _function(collection: Any) -> str:  # noqa: ANN401
    """Return the embedding function a collection was made with as `name (model)`, or nothing."""
    stored = (collection.configuration_json or {}).get("embedding_function") or {}
    if stored.get("type") != "known":
        return ""
    settings = stored.get("config") or {}
    model = settings.get("model_name") or settings.get("model") or ""
    return f"{stored.get('name', '')}{f' ({model})' if model else ''}"


def _row(values: Any) -> Rows | None:  # noqa: ANN401
    """Return an embedding as a unit vector; None when it is none."""
    if values is None:
        return None
    row = np.asarray(values, np.float32)
    length = float(np.linalg.norm(row))
    if not np.isfinite(length) or not length:
        return None
    return row if abs(length - 1) < ROUNDING else row / np.float32(length)


def _patient(call: Callable[[], T]) -> T:
    """Call again while a collection is just receiving its first records."""
    from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_fixed

    waiting = Retrying(
        retry=retry_if_exception(lambda error: NOT_FOUND in str(error)),
        stop=stop_after_delay(PATIENCE),
        wait=wait_fixed(0.1),
        reraise=True,
    )
    return waiting(call)


@contextmanager
def _copied(location: Location) -> Iterator[Path]:
    """Give a copy of a folder that is whole: the records first, then the indexes, which may be newer."""
    folder = location.folder
    assert folder is not None
    if not (folder / STORE).is_file():
        raise SourceUnavailableError(location.place, "there is no Chroma database in this folder")
    with tempfile.TemporaryDirectory(prefix="quaere-chroma-") as made:
        try:
            _check_room(folder, Path(made))
            for _ in range(COPIES):
                before = folder_mark(folder)
                copy = Path(tempfile.mkdtemp(dir=made))
                _copy(folder, copy)
                if folder_mark(folder) == before:
                    break
        except (OSError, sqlite3.Error, shutil.Error) as error:
            raise SourceUnavailableError(location.place, f"cannot be copied ({error})") from error
        yield copy


def _check_room(folder: Path, made: Path) -> None:
    needed = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if needed > shutil.disk_usage(made).free:
        raise OSError(f"{needed / 1e6:,.0f} MB are needed in {made.parent}; set TMPDIR to a larger disk")


def _copy(folder: Path, copy: Path) -> None:
    source = sqlite3.connect(f"{(folder / STORE).absolute().as_uri()}?mode=ro", uri=True)
    try:
        target = sqlite3.connect(copy / STORE)
        try:
            source.backup(target)
        finally:
            target.close()
    finally:
        source.close()
    for path in folder.iterdir():
        if path.is_dir():
            shutil.copytree(path, copy / path.name)
