"""Send requests through the model port to a server of a test, and catch what comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from model_server import ModelServer
from quaere.agent.capabilities import CapabilityBook
from quaere.agent.endpoint import Endpoint, endpoint_of
from quaere.agent.model import open_model
from quaere.agent.model_settings import ModelSettings
from quaere.graphs.ports import Reply, Request
from quaere.tools.errors import BudgetSpentError, ModelError

SCHEMA = {
    "type": "object",
    "properties": {"route": {"type": "string", "enum": ["one", "many"], "title": "Route"}},
    "required": ["route"],
}
TOOL = {
    "name": "keyword_search",
    "description": "Find words.",
    "schema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}
KEY = "sk-secret-0123456789"
SOON = 0.3
"""Seconds of silence that tests bear: long enough for a busy machine's loopback, short enough to wait for."""


def ask(schema: bool = False, tools: bool = False, **more: Any) -> Request:
    """Return a request for a text, for an object that fits a schema, or for a choice of tools."""
    messages = (
        {"role": "system", "content": "Answer."},
        {"role": "user", "content": "What does a badge cost?"},
    )
    given = {
        "role": "router",
        "messages": messages,
        "schema": SCHEMA if schema else None,
        "schema_name": "route",
        "tools": (TOOL,) if tools else (),
        "max_tokens": 200,
    }
    return Request(**(given | more))


def endpoint_at(url: str, **more: Any) -> Endpoint:
    """Return the endpoint at an address, with a key, as settings and environment name it."""
    settings = ModelSettings(**({"name": "m", "base_url": url, "request_seconds": 5.0} | more))
    return endpoint_of(settings, {"OPENAI_API_KEY": KEY})


def reply_of(
    server: ModelServer | str,
    request: Request,
    book: CapabilityBook | None = None,
    seconds: Callable[[], float] = lambda: 20.0,
    **more: Any,
) -> Reply:
    """Return the reply of one call under a model of its own; `more` are settings of the model."""
    url = server if isinstance(server, str) else server.url

    async def run() -> Reply:
        async with open_model(endpoint_at(url, **more), book or CapabilityBook(None), seconds) as model:
            return await model.reply("r1.route.1", request)

    return asyncio.run(run())


def error_of(server: ModelServer | str, request: Request, **more: Any) -> ModelError | BudgetSpentError:
    """Return the error a call ends with."""
    with pytest.raises((ModelError, BudgetSpentError)) as caught:
        reply_of(server, request, **more)
    assert isinstance(caught.value, ModelError | BudgetSpentError)
    return caught.value
