"""Chroma's clients, and whatever goes wrong in them, as one sentence.

Chroma is imported here and nowhere else, inside functions: that takes a second.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import SourceUnavailableError

TENANT = "default_tenant"
DATABASE = "default_database"

TIMEOUT = 20.0
"""Seconds a server may be silent; Chroma's own client would wait for ever."""

NOT_FOUND = "Nothing found on disk"
"""What Chroma says of a collection that is just receiving its first records: it passes."""

FOREIGN = ("httpx", "httpcore", "pyo3_runtime")
"""Modules whose errors Chroma lets through: its transport, and panics of its Rust part (no Exceptions)."""


@dataclass(frozen=True, slots=True)
class Server:
    """Where a Chroma server listens, and which database of it is meant.

    `headers` are sent along; after `patience` seconds of silence it counts as away.
    """

    host: str
    port: int
    secure: bool = False
    tenant: str = TENANT
    database: str = DATABASE
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    patience: float = TIMEOUT


class MissingCollectionError(SourceUnavailableError):
    """Report that Chroma is there but not the collection, the database or the tenant."""


@contextmanager
def explained(name: str) -> Iterator[None]:
    """Turn what Chroma raises into SourceUnavailableError; `name` is whose Chroma it is."""
    import chromadb.errors

    try:
        yield
    except chromadb.errors.NotFoundError as error:
        raise MissingCollectionError(name, _first_line(error)) from error
    except (
        chromadb.errors.ChromaError,
        sqlite3.Error,
        OSError,
        ValueError,
        RuntimeError,
        AttributeError,  # what a client raises that was closed
        KeyError,
    ) as error:
        raise SourceUnavailableError(name, _first_line(error)) from error
    except BaseException as error:
        if type(error).__module__.partition(".")[0] not in FOREIGN:
            raise
        raise SourceUnavailableError(name, _first_line(error)) from error


def open_folder(folder: Path) -> Any:  # noqa: ANN401  (Chroma has no types)
    """Return a client of a persistent folder, which is made where there is none; close it after use."""
    import chromadb
    from chromadb.config import Settings

    return chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))


def open_server(server: Server) -> Any:  # noqa: ANN401
    """Return a client of a server."""
    import chromadb
    from chromadb.config import Settings

    knock(server)
    # Chroma writes host and port into the settings it is given: they can serve one client only.
    client = chromadb.HttpClient(
        host=server.host,
        port=server.port,
        ssl=server.secure,
        headers=dict(server.headers) or None,
        tenant=server.tenant,
        database=server.database,
        settings=Settings(anonymized_telemetry=False),
    )
    session = getattr(getattr(client, "_server", None), "_session", None)
    if session is not None:
        session.timeout = server.patience
    return client


def knock(server: Server) -> None:
    """Raise OSError or ValueError where no Chroma server answers, which Chroma's client would wait for."""
    from http.client import HTTPException
    from urllib.error import URLError
    from urllib.request import Request, urlopen

    host = f"[{server.host}]" if ":" in server.host else server.host
    address = f"{'https' if server.secure else 'http'}://{host}:{server.port}/api/v2/heartbeat"
    try:
        with urlopen(Request(address, headers=dict(server.headers)), timeout=server.patience) as answer:
            told = answer.read(1000).decode("utf-8", "replace")
    except HTTPException as error:
        raise ValueError("what answers there is no Chroma server") from error
    except URLError as error:
        raise OSError(f"no Chroma server answers ({error.reason})") from error
    if "heartbeat" not in told:
        raise ValueError("what answers there is no Chroma server")


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__
