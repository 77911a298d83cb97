"""Where a model is reached: address, key, the name for each role, how patient to be."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import get_args
from urllib.parse import urlsplit

from pydantic import SecretStr

from ..graphs.budget import Price, Tariff
from ..graphs.ports import Role
from ..tools.errors import ModelUnavailableError, SettingsError
from .model_settings import KEY_VARIABLE, ModelSettings, PriceSettings

OPENAI = "https://api.openai.com/v1"
DEFAULT_MODEL = "gpt-4.1-mini"
"""Model of api.openai.com where none is named: cheap, with strict schemas, without thoughts to pay for."""

NO_KEY = SecretStr("none")
"""What is sent to servers that ask for no key; the client insists on one."""

WITHOUT = "without a model `--policy rules` answers"
"""What still works when no model can be had."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible server: its address, the key, a model for each role, seconds of silence borne.

    `names` lacks the roles for which nothing was named; `attempts` counts all tries of one request.
    """

    base_url: str
    key: SecretStr
    names: Mapping[Role, str]
    request_seconds: float = 60.0
    attempts: int = 3
    stream: bool = True

    @property
    def local(self) -> bool:
        """Tell whether the server runs on this machine."""
        return is_local(self.base_url)

    @property
    def shown(self) -> str:
        """Return the address as people may see it, without the name and password it may hold."""
        return shown_address(self.base_url)

    def __post_init__(self) -> None:
        key = self.key.get_secret_value()
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise SettingsError(f"{KEY_VARIABLE} holds a character that no key has; copy it once more")


def endpoint_of(settings: ModelSettings, environ: Mapping[str, str]) -> Endpoint:
    """Return the endpoint of settings and environment; ModelUnavailableError where a key is missing."""
    base_url = settings.base_url or OPENAI
    given = environ.get(KEY_VARIABLE, "").strip()
    at_openai = urlsplit(base_url).hostname == urlsplit(OPENAI).hostname
    if at_openai and not given:
        raise ModelUnavailableError(
            f"there is no key for {shown_address(base_url)}; set {KEY_VARIABLE}, or OPENAI_BASE_URL for a "
            f"server of your own; {WITHOUT}"
        )
    fallback = DEFAULT_MODEL if at_openai else None
    named = {role: settings.named(role) or fallback for role in get_args(Role)}
    return Endpoint(
        base_url,
        SecretStr(given) if given else NO_KEY,
        {role: name for role, name in named.items() if name},
        settings.request_seconds,
        settings.attempts,
        settings.stream,
    )


def is_named(settings: ModelSettings, environ: Mapping[str, str]) -> bool:
    """Tell whether a model was asked for at all: by a key, an address or a name."""
    return bool(environ.get(KEY_VARIABLE, "").strip() or settings.base_url or settings.name)


def kept_here(settings: ModelSettings, endpoint: Endpoint, sources: Iterable[str]) -> frozenset[str]:
    """Return the sources whose passages must not reach the model: none when it runs on this machine."""
    return frozenset(() if endpoint.local else filter(settings.keeps_here, sources))


def tariff_of(endpoint: Endpoint, prices: Mapping[str, PriceSettings]) -> Tariff:
    """Return which model serves each role, and what each costs."""
    costs = {name: Price(one.prompt, one.completion) for name, one in prices.items()}
    return Tariff({role: endpoint.names.get(role, "") for role in get_args(Role)}, costs)


def is_local(base_url: str) -> bool:
    """Tell whether an address is one of this machine: localhost, a loopback or the unspecified address."""
    host = (urlsplit(base_url).hostname or "").rstrip(".").casefold()
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    inner = getattr(address, "ipv4_mapped", None) or address
    return bool(inner.is_loopback or inner.is_unspecified)


def shown_address(base_url: str) -> str:
    """Return an address without the name and password it may hold."""
    parts = urlsplit(base_url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
