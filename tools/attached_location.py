"""Where an attached Chroma collection lies: `chroma:PATH#NAME` or `chroma+http://host:port#NAME`."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from .chroma_client import DATABASE, TENANT, Server
from .errors import UsageError

KIND = "chroma"
"""The kind of a source that is an attached collection."""

STORE = "chroma.sqlite3"
"""The file by which a folder of Chroma's is known."""

SHAPES = "chroma:FOLDER#COLLECTION or chroma+http://HOST:PORT#COLLECTION"
PORTS = {"chroma+http": 8000, "chroma+https": 443}
_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,510}[a-zA-Z0-9]")


@dataclass(frozen=True, slots=True)
class Location:
    """A collection by its name, in a folder or on a server (one of the two)."""

    name: str
    folder: Path | None = None
    server: Server | None = None

    @property
    def place(self) -> str:
        """Return the folder or server as it is written, without the collection."""
        if self.server is None:
            return f"chroma:{self.folder}"
        server = self.server
        scheme = "chroma+https" if server.secure else "chroma+http"
        host = f"[{server.host}]" if ":" in server.host else server.host
        chosen = {"tenant": (server.tenant, TENANT), "database": (server.database, DATABASE)}
        asked = urlencode({key: value for key, (value, usual) in chosen.items() if value != usual})
        return f"{scheme}://{host}:{server.port}{'?' if asked else ''}{asked}"

    @property
    def text(self) -> str:
        """Return the location in the one spelling that is stored."""
        return f"{self.place}#{self.name}"


def is_attached(location: str) -> bool:
    """Tell whether a location is meant for a Chroma collection rather than for a path."""
    return location.startswith(("chroma:", "chroma+"))


def read_location(text: str) -> Location:
    """Return the location a text describes; UsageError says what is wrong with it."""
    if text.startswith("chroma:"):
        path, _, name = text.removeprefix("chroma:").rpartition("#")
        if not path:
            raise UsageError(f"{text} names no collection; write {SHAPES}")
        return Location(_checked(name), folder=Path(os.path.abspath(os.path.expanduser(path))))
    return _on_server(text)


def _on_server(text: str) -> Location:
    address, _, fragment = text.partition("#")
    parts = urlsplit(address)
    if parts.scheme not in PORTS:
        raise UsageError(f"{parts.scheme}: is no kind of location; write {SHAPES}")
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            "a location holds no user and no password, for it is stored and shown; put a token into a "
            "variable of the environment and its name into corpus.chroma_token_variable"
        )
    name, _, rest = fragment.partition("?")
    if not parts.hostname or parts.path.strip("/"):
        raise UsageError(f"{address} is no address of a Chroma server; write {SHAPES}")
    return Location(_checked(name), server=_server(parts.scheme, parts.netloc, parts.query or rest))


def _server(scheme: str, netloc: str, query: str) -> Server:
    parts = urlsplit(f"//{netloc}")
    try:
        port = parts.port or PORTS[scheme]
    except ValueError as error:
        raise UsageError(f"{netloc} has no port from 1 to 65535; write {SHAPES}") from error
    asked = dict(parse_qsl(query))
    unknown = asked.keys() - {"tenant", "database"}
    if unknown:
        raise UsageError(f"a location takes tenant and database, not {sorted(unknown)[0]!r}")
    assert parts.hostname is not None
    return Server(
        host=parts.hostname,
        port=port,
        secure=scheme.endswith("s"),
        tenant=asked.get("tenant", TENANT),
        database=asked.get("database", DATABASE),
    )


def _checked(name: str) -> str:
    name = unquote(name)
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name of a Chroma collection; write {SHAPES}")
    return name
