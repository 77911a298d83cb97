"""What every test runs under: no network, no tracing, no settings of the user, one cache for the encoder."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

KEPT = {"QUAERE_CACHE", "QUAERE_DATA"}
"""Variables of the user that stay: where things lie, not how they work."""

# A job in the background ignores Ctrl-C and so would every program the tests start; undo that for them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

for name in [name for name in os.environ if name.startswith(("QUAERE_", "OPENAI_")) and name not in KEPT]:
    del os.environ[name]
os.environ |= {
    "HF_HUB_OFFLINE": "1",
    "LANGSMITH_TRACING_V2": "false",
    "ANONYMIZED_TELEMETRY": "False",
    "QUAERE_SEARCH_VECTOR_ENGINE": "exact",  # only Chroma's own tests load it
    "TOKENIZERS_PARALLELISM": "false",
}
# The export of the encoder takes half a minute; made once, it serves every test of every session.
os.environ.setdefault("QUAERE_CACHE", str(Path(__file__).parents[1] / ".bench" / "cache"))

# How long an example takes says how busy the machine is, not whether the code is right.
settings.register_profile("quaere", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("soak", settings.get_profile("quaere"), max_examples=1000)
settings.load_profile("quaere")

_connect, _connect_ex = socket.socket.connect, socket.socket.connect_ex
_getaddrinfo = socket.getaddrinfo


@pytest.fixture(autouse=True)
def closed_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection and every look-up of a name that leaves the machine."""
    monkeypatch.setattr(socket.socket, "connect", _on_this_machine(_connect))
    monkeypatch.setattr(socket.socket, "connect_ex", _on_this_machine(_connect_ex))
    monkeypatch.setattr(socket, "getaddrinfo", _local_names_only)


def _on_this_machine(connect: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(self: socket.socket, address: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_local(address[0]):
            pytest.fail(f"a test tried to reach {address!r}; the network is closed")
        return connect(self, address)

    return guarded


def _local_names_only(host: Any, *rest: Any, **named: Any) -> Any:
    if not _is_local(host):
        pytest.fail(f"a test tried to look up {host!r}; the network is closed")
    return _getaddrinfo(host, *rest, **named)


def _is_local(host: object) -> bool:
    if isinstance(host, bytes):
        host = host.decode()
    if host in (None, "", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(host)).is_loopback
    except ValueError:
        return False
