"""Which language model runs, where, at what price, and what it never sees: [model] and [prices.NAME]."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from ..graphs.ports import Role
from ..tools.globs import matcher
from .setting_kinds import Globs, Number, Section, Whole

MODEL_VARIABLES = {"QUAERE_MODEL": "model.name", "OPENAI_BASE_URL": "model.base_url"}
"""Environment variables of settings that go by a name of their own."""

KEY_VARIABLE = "OPENAI_API_KEY"
KEY_PURPOSE = "Key of the model's server. It is read here and nowhere else, and written nowhere."


def _address(text: str) -> str:
    """Return an address without its last slashes; ValueError when nothing could be reached by it."""
    parts = urlsplit(text.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError("an address is written as http://127.0.0.1:8080/v1")
    if parts.query or parts.fragment:
        raise ValueError("an address has neither a query nor a fragment")
    return text.strip().rstrip("/")


PolicyName = Literal["auto", "rules", "model"]
Name = Annotated[str, Field(min_length=1)]
Address = Annotated[str, AfterValidator(_address)]


class ModelSettings(Section):
    """Which language model runs, and where; without one, rules decide."""

    policy: PolicyName = Field(
        default="auto",
        description="Who decides: `rules`, a `model`, or `auto`: a model as soon as a name, an address or a "
        "key is given, else the rules.",
    )
    degrade: bool = Field(
        default=False,
        description="Whether the rules take over when the model cannot be used; otherwise the run fails.",
        json_schema_extra={"allowed": "true or false"},
    )
    name: Name | None = Field(
        default=None,
        description="Name of the model at its server (also `QUAERE_MODEL`); unset: the only one the server "
        "has, and at api.openai.com gpt-4.1-mini.",
    )
    base_url: Address | None = Field(
        default=None,
        description="Address of an OpenAI-compatible server, up to its /v1 (also `OPENAI_BASE_URL`); unset: "
        "https://api.openai.com/v1.",
        json_schema_extra={"allowed": "an address such as http://127.0.0.1:8080/v1"},
    )
    router: Name | None = Field(
        default=None, description="Model that routes and rewrites; unset: `model.name`."
    )
    grader: Name | None = Field(default=None, description="Model that grades passages; unset: `model.name`.")
    writer: Name | None = Field(default=None, description="Model that writes answers; unset: `model.name`.")
    judge: Name | None = Field(
        default=None, description="Model that judges what code left open; unset: `model.name`."
    )
    request_seconds: Number = Field(
        default=60.0,
        gt=0,
        le=3_600,
        description="Seconds a server may be silent before the request is cut and sent again.",
    )
    attempts: Whole = Field(
        default=3, ge=1, le=10, description="Times a request is sent at most when the server fails."
    )
    stream: bool = Field(
        default=True,
        description="Whether replies are streamed. Otherwise a server is silent while it writes; some report "
        "what they used only then.",
        json_schema_extra={"allowed": "true or false"},
    )
    local: Globs = Field(
        default=(),
        description="Sources whose passages never reach a model on another machine (patterns of names).",
    )

    def named(self, role: Role) -> str | None:
        """Return the model set for a role, or None where none is named."""
        own: str | None = getattr(self, role)
        return own or self.name

    def keeps_here(self, source: str) -> bool:
        """Tell whether passages of a source must not leave this machine."""
        return matcher(self.local)(source)


class PriceSettings(Section):
    """What a model costs, in USD for a million tokens; `budget.usd` needs it."""

    prompt: Number = Field(ge=0, le=1_000_000, description="Price of what is sent.")
    completion: Number = Field(ge=0, le=1_000_000, description="Price of what comes back, thoughts included.")
