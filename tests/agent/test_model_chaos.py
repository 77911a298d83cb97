"""Whatever a server sends, a call ends in a reply or in an error of ours, and nothing stays open."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from model_calls import KEY, ask, reply_of
from model_server import Body, Cut, Events, ModelServer, Say, Status
from model_server import Reply as Scripted
from quaere.agent.capabilities import CapabilityBook
from quaere.graphs.ports import Reply, Request
from quaere.tools.errors import BudgetSpentError, ModelError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "message",
                    "delta",
                    "content",
                    "tool_calls",
                    "function",
                    "name",
                    "arguments",
                    "finish_reason",
                    "usage",
                    "error",
                    "code",
                    "prompt_tokens",
                    "completion_tokens",
                    "index",
                    "id",
                    "refusal",
                    "reasoning_content",
                ]
            )
            | st.text(max_size=5),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)
TEXTS = st.text(max_size=60) | st.sampled_from(
    ['{"route": "one"}', "<think>", "</think>", '{"tool": "none"}', "```json\n{}\n```", "{{" * 50, "[" * 2000]
)
HEADERS = st.dictionaries(
    st.sampled_from(["Retry-After", "retry-after-ms", "Location", "X-Should-Retry"]),
    st.sampled_from(["0", "0.01", "-1", "true", "99999", "x", "Mon, 01 Jan 1990 00:00:00 GMT"]),
    max_size=2,
)
CALLS = st.tuples(st.text(max_size=8), TEXTS, st.none() | st.just("call_1"))
REPLIES: st.SearchStrategy[Scripted] = st.one_of(
    st.builds(
        Say,
        text=st.none() | TEXTS,
        calls=st.lists(CALLS, max_size=3).map(tuple),
        finish=st.none() | st.sampled_from(["stop", "length", "content_filter", "eos", ""]),
        usage=st.sampled_from(["exact", None]) | st.dictionaries(st.just("prompt_tokens"), JSON, max_size=1),
        reasoning=TEXTS,
        split=st.integers(1, 9),
        indexed=st.booleans(),
    ),
    st.builds(Status, st.integers(300, 599), JSON.map(json.dumps) | TEXTS, HEADERS),
    st.builds(Body, JSON.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=80)),
    st.builds(Events, st.lists(JSON.map(json.dumps) | TEXTS, max_size=4).map(tuple)),
    st.builds(Cut, st.lists(TEXTS, max_size=3).map(tuple), st.booleans()),
)
REQUESTS = st.builds(ask, schema=st.booleans(), tools=st.booleans(), max_tokens=st.sampled_from([1, 20, 500]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(script=st.lists(REPLIES, min_size=1, max_size=4), request=REQUESTS, streams=st.booleans())
def test_any_script_ends_in_a_reply_or_an_error_of_ours(
    script: list[Scripted], request: Request, streams: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("quaere.agent.retry.LONGEST_BACKOFF", 0.001)
    with ModelServer(script, ignores_stream=not streams) as server:
        outcome = outcome_of(server, request)
        # An attempt on a kept connection that the server closes meanwhile is lost before it arrives.
        arrived = [one for one in outcome.attempts if not one.outcome.startswith("lost")]
        assert len(arrived) <= len(server.chats) <= len(outcome.attempts)
        assert server.wait_until_idle()
    if isinstance(outcome, Reply):
        assert outcome.text or outcome.calls or request.tools or outcome.finish == "content_filter"
        outcome.text.encode()
        assert len({call.id for call in outcome.calls}) == len(outcome.calls)
    else:
        assert str(outcome)
        assert "\n" not in str(outcome)
        assert KEY not in str(outcome)


def outcome_of(server: ModelServer, request: Request) -> Reply | ModelError | BudgetSpentError:
    """Return what a call ends in, whichever of the two it is."""
    more: dict[str, Any] = {"attempts": 2, "request_seconds": 0.5}
    try:
        return reply_of(server, request, CapabilityBook(None), seconds=lambda: 5.0, **more)
    except (ModelError, BudgetSpentError) as error:
        return error
