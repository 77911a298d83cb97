"""What every test runs under: no network, no tracing, no settings of the user, one cache for the encoder."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

for name in [name for name in os.environ if name.startswith("QUAERE_") and name != "QUAERE_CACHE"]:
    del os.environ[name]
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["LANGSMITH_TRACING_V2"] = "false"
os.environ.setdefault("QUAERE_CACHE", str(Path(__file__).parent.parent / ".bench" / "cache"))

_connect = socket.socket.connect


def _loopback_only(self: socket.socket, address: object) -> object:
    host = address[0] if isinstance(address, tuple) else ""
    if self.family in (socket.AF_INET, socket.AF_INET6) and host not in ("127.0.0.1", "::1", "localhost"):
        raise AssertionError(f"a test tried to reach {address!r}; the network is closed")
    return _connect(self, address)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def closed_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection that leaves the machine."""
    monkeypatch.setattr(socket.socket, "connect", _loopback_only)
