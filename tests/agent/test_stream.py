"""Streams: events out of bytes, pieces put together, however both were cut."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.agent import server_events as events_module
from quaere.agent.chat_reply import read_completion
from quaere.agent.server_events import server_events
from quaere.agent.stream import Assembly

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=12)


def read(pieces: Sequence[bytes]) -> list[str]:
    async def run() -> list[str]:
        async def given_() -> AsyncIterator[bytes]:
            for piece in pieces:
                yield piece

        return [data async for data in server_events(given_())]

    return asyncio.run(run())


def cut(content: bytes, places: Sequence[int]) -> list[bytes]:
    ends = sorted({min(place, len(content)) for place in places})
    return [content[a:b] for a, b in zip([0, *ends], [*ends, len(content)], strict=True)]


@given(
    st.lists(TEXTS, max_size=4),
    st.sampled_from(["\n", "\r\n"]),
    st.lists(st.integers(0, 90), max_size=6),
)
def test_events_are_the_same_wherever_their_bytes_are_cut(
    data: list[str], end: str, places: list[int]
) -> None:
    content = "".join(f": ping{end}data: {one}{end}{end}" for one in data).encode()
    assert read(cut(content, places)) == read([content]) == data


@pytest.mark.parametrize(
    ("content", "data"),
    [
        (b"data: a\ndata: b\n\n", ["a\nb"]),
        (b"event: x\nid: 1\ndata:a\n\n", ["a"]),
        (b"data: whole\n\ndata: broken", ["whole"]),
        (b"data: no blank line\n", ["no blank line"]),
        (b"data: \xff\n\n", ["\ufffd"]),
        ("data: a\u2028b\u0085c\n\n".encode(), ["a\u2028b\u0085c"]),
        (b"\n\n\n", []),
        (b"", []),
    ],
)
def test_only_data_that_ends_is_an_event(content: bytes, data: list[str]) -> None:
    assert read([content]) == data


def test_an_event_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events_module, "MOST_EVENT_BYTES", 100)
    with pytest.raises(ValueError, match="does not end"):
        read([b"data: ", *[b"x" * 30] * 5])


def piece(**delta: Any) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": delta}]})


def calls_of(*deltas: dict[str, Any]) -> list[tuple[str, str]]:
    assembly = Assembly(1000)
    for delta in deltas:
        assembly.feed(piece(tool_calls=[delta]))
    assembly.finish = "tool_calls"
    return list(read_completion(assembly.completion()).calls)


def call(name: str | None, arguments: object, **more: Any) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": arguments}, **more}


@pytest.mark.parametrize(
    "deltas",
    [
        [
            call("a", "", index=0, id="x"),
            call(None, '{"q":', index=0),
            call(None, "1}", index=0),
            call("b", '{"q":2}', index=1, id="y"),
        ],
        [call("a", '{"q":1}', index=0, id="x"), call("b", '{"q":2}', index=0, id="y")],
        [call("a", '{"q":1}', index=0, id="x"), call("b", '{"q":2}', index=0, id="x")],
        [call("a", '{"q":1}', index=0), call("b", '{"q":2}', index=0)],
        [call("a", '{"q":1}'), call("b", '{"q":2}')],
        [call("a", ""), call(None, '{"q":1}'), call("b", '{"q":'), call(None, "2}")],
        [
            call("a", None, id="x"),
            call(None, '{"q":1}', id="x"),
            call("b", "", id="y"),
            call("b", '{"q":2}', id="y"),
        ],
        [call("a", '{"q"', index=0, id="x"), call("a", ":1}", index=0, id="x"), call("b", {"q": 2}, index=1)],
        [
            call("a", '{"q"', index=0),
            call("b", '{"q"', index=1),
            call(None, ":1}", index=0),
            call(None, ":2}", index=1),
        ],
    ],
)
def test_calls_are_told_apart_however_servers_number_them(deltas: list[dict[str, Any]]) -> None:
    found = calls_of(*deltas)
    assert [(name, json.loads(arguments)) for name, arguments in found] == [("a", {"q": 1}), ("b", {"q": 2})]


def test_the_same_tool_called_twice_is_two_calls() -> None:
    same = [call("a", '{"q":1}', index=0, id="x"), call("a", '{"q":2}', index=0, id="x")]
    assert len(calls_of(*same)) == 2


@given(
    st.lists(
        st.recursive(
            st.none() | st.integers() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(
                        [
                            "choices",
                            "delta",
                            "tool_calls",
                            "function",
                            "name",
                            "arguments",
                            "index",
                            "id",
                            "content",
                            "usage",
                            "finish_reason",
                            "error",
                        ]
                    ),
                    inner,
                    max_size=4,
                )
            ),
            max_leaves=12,
        ),
        max_size=4,
    )
)
def test_whatever_pieces_hold_they_add_up_to_something(pieces: list[object]) -> None:
    assembly = Assembly(10)
    for one in pieces:
        assembly.feed(json.dumps(one))
    assert isinstance(assembly.completion(), dict)


def test_pieces_of_other_choices_are_left_out() -> None:
    assembly = Assembly(10)
    assembly.feed(
        json.dumps(
            {"choices": [{"index": 1, "delta": {"content": "no"}}, {"index": 0, "delta": {"content": "yes"}}]}
        )
    )
    assembly.finish = "stop"
    assert read_completion(assembly.completion()).text == "yes"
