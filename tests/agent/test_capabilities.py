"""What a server can do is remembered beside the index, and forgotten without harm."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.agent.capabilities import (
    EVERYTHING,
    FILE,
    Capabilities,
    CapabilityBook,
    Sent,
    lessened,
    lessened_blindly,
)

LESS = replace(EVERYTHING, structure="json_object", tools=False, ceiling="max_completion_tokens")
ALL_SENT = Sent("json_schema", tools=True, stream=True, usage=True, temperature=True, system=True)


def test_what_was_learned_is_there_for_the_next_process(tmp_path: Path) -> None:
    CapabilityBook(tmp_path).learn("http://h/v1", "m", LESS)
    assert CapabilityBook(tmp_path).of("http://h/v1", "m") == LESS
    assert CapabilityBook(tmp_path).of("http://h/v1", "other") == EVERYTHING
    assert CapabilityBook(tmp_path).of("http://g/v1", "m") == EVERYTHING


def test_two_processes_do_not_forget_what_the_other_learned(tmp_path: Path) -> None:
    one, other = CapabilityBook(tmp_path), CapabilityBook(tmp_path)
    one.learn("http://h/v1", "a", LESS)
    other.learn("http://h/v1", "b", LESS)
    assert [CapabilityBook(tmp_path).of("http://h/v1", name) for name in "ab"] == [LESS, LESS]
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_nothing_is_written_where_there_is_no_workspace(tmp_path: Path) -> None:
    for folder in (None, tmp_path / "missing"):
        book = CapabilityBook(folder)
        book.learn("http://h/v1", "m", LESS)
        assert book.of("http://h/v1", "m") == LESS
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"format": 99, "models": {"http://h/v1 m": {"tools": false}}}',
        '{"format": 1, "models": []}',
        '{"format": 1, "models": {"http://h/v1 m": 7}}',
        '{"format": 1, "models": {"http://h/v1 m": {"structure": "magic", "tools": 1, "stream": null, "x": true}}}',
        "[" * 100_000,
    ],
)
def test_a_damaged_file_is_a_fresh_start(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE).write_text(content)
    book = CapabilityBook(tmp_path)
    assert book.of("http://h/v1", "m") == EVERYTHING
    book.learn("http://h/v1", "m", LESS)
    assert CapabilityBook(tmp_path).of("http://h/v1", "m") == LESS


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=5),
        lambda inner: st.dictionaries(
            st.sampled_from(["format", "models", "tools", "structure", "http://h/v1 m"]), inner, max_size=3
        ),
        max_leaves=6,
    )
)
def test_any_json_in_the_file_is_read(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    folder = tmp_path_factory.mktemp("book")
    (folder / FILE).write_text(json.dumps(value))
    assert isinstance(CapabilityBook(folder).of("http://h/v1", "m"), Capabilities)


@pytest.mark.parametrize(
    ("said", "less"),
    [
        ("This response_format type is unavailable now", replace(EVERYTHING, structure="json_object")),
        (
            "model does not support response format `json_schema`",
            replace(EVERYTHING, structure="json_object"),
        ),
        ("registry/gemma does not support tools", replace(EVERYTHING, tools=False)),
        ("No endpoints found that support tool use", replace(EVERYTHING, tools=False)),
        ("Use 'max_completion_tokens' instead.", replace(EVERYTHING, ceiling="max_completion_tokens")),
        ("'temperature' does not support 0", replace(EVERYTHING, temperature=False)),
        ("Unrecognized request argument supplied: stream_options", replace(EVERYTHING, usage=False)),
        ("Conversation roles must alternate user/assistant", replace(EVERYTHING, system=False)),
        ("streaming is not supported", replace(EVERYTHING, stream=False, usage=False)),
        ("bad schema", None),
        ("Internal Server Error", None),
        ("", None),
    ],
)
def test_a_refusal_takes_away_the_feature_it_names(said: str, less: Capabilities | None) -> None:
    assert lessened(EVERYTHING, ALL_SENT, said) == less


def test_a_refusal_of_what_was_not_sent_takes_nothing_away() -> None:
    assert lessened(EVERYTHING, Sent(), "no response_format, tools, stream, temperature, system role") is None


def test_every_way_down_ends() -> None:
    can, steps = EVERYTHING, 0
    said = "max_completion_tokens stream_options temperature response_format tools system role stream"
    while True:
        sent = Sent(can.structure, can.tools, can.stream, can.usage, can.temperature, can.system)
        less = lessened(can, sent, said)
        if less is None:
            break
        can, steps = less, steps + 1
    assert steps == 8
    assert lessened_blindly(can, Sent("text")) is None


def test_a_server_that_fails_blindly_is_sent_schema_then_tools_another_way() -> None:
    assert lessened_blindly(EVERYTHING, Sent("json_schema", tools=True)) == replace(
        EVERYTHING, structure="json_object"
    )
    assert lessened_blindly(EVERYTHING, Sent(None, tools=True)) == replace(EVERYTHING, tools=False)
    assert lessened_blindly(EVERYTHING, Sent()) is None
