"""The model behind its port: what it sends, what it accepts, what it tells when a server refuses."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from model_calls import KEY, SCHEMA, TOOL, ask, endpoint_at, error_of, reply_of
from model_server import Body, Cut, Events, ModelServer, Reply, Say, Status
from quaere.agent.capabilities import CapabilityBook
from quaere.agent.model import open_model
from quaere.graphs.ports import Usage
from quaere.tools.errors import ModelContextError, ModelReplyError

ROUTED = '{"route": "one"}'


def kinds(server: ModelServer) -> list[str]:
    return [one.body.get("response_format", {}).get("type", "text") for one in server.chats]


def test_a_streamed_reply_comes_whole_with_its_usage() -> None:
    with ModelServer([Say("It costs 12 EUR — „zwölf“ 十二.")]) as server:
        reply = reply_of(server, ask())
        assert (reply.text, reply.finish) == ("It costs 12 EUR — „zwölf“ 十二.", "stop")
        assert reply.usage is not None
        assert reply.usage.total == server.tokens
        assert [one.outcome for one in reply.attempts] == ["ok"]
        body = server.chats[0].body
        assert (body["model"], body["max_tokens"], body["temperature"], body["stream"]) == ("m", 200, 0, True)
        assert server.chats[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_strict_schema_is_sent_where_the_server_takes_one() -> None:
    with ModelServer([Say(ROUTED)]) as server:
        assert reply_of(server, ask(schema=True)).text == ROUTED
        sent = server.chats[0].body["response_format"]["json_schema"]
        assert sent["strict"] is True
        assert sent["schema"]["additionalProperties"] is False
        assert "title" not in sent["schema"]["properties"]["route"]


@pytest.mark.parametrize("status", [400, 422, 500])
@pytest.mark.parametrize("stream", [True, False])
def test_a_refused_schema_is_sent_another_way_and_that_is_remembered(
    tmp_path: Path, status: int, stream: bool
) -> None:
    refuses = {"json_schema": status} | ({} if stream else {"stream": 400})
    with ModelServer([Say(ROUTED)], refuses=refuses) as server:
        assert reply_of(server, ask(schema=True), CapabilityBook(tmp_path)).text == ROUTED
        first = len(server.chats)
        assert server.chats[-1].body["response_format"] == {"type": "json_object", "schema": SCHEMA}
        assert reply_of(server, ask(schema=True), CapabilityBook(tmp_path)).text == ROUTED
        assert len(server.chats) == first + 1


def test_the_schema_is_written_into_the_prompt_where_the_server_takes_none(tmp_path: Path) -> None:
    with ModelServer(
        [Say(f"Sure:\n```json\n{ROUTED}\n```")], refuses={"json_schema": 400, "json_object": 400}
    ) as server:
        assert json.loads(reply_of(server, ask(schema=True), CapabilityBook(tmp_path)).text.split("\n")[2])
        assert kinds(server) == ["json_schema", "json_object", "text"]
        assert '"enum":["one","many"]' in server.chats[-1].body["messages"][-1]["content"]


def test_a_server_that_fails_over_schemas_without_a_word_is_found_out(tmp_path: Path) -> None:
    with ModelServer([Say(ROUTED)], refuses={"json_schema": 500}, mute=True) as server:
        assert reply_of(server, ask(schema=True), CapabilityBook(tmp_path)).text == ROUTED
        assert kinds(server) == ["json_schema", "json_schema", "json_object"]
        reply_of(server, ask(schema=True), CapabilityBook(tmp_path))
        assert kinds(server)[3:] == ["json_object"]


def test_a_schema_that_is_ignored_is_written_into_the_next_prompt() -> None:
    book = CapabilityBook(None)
    with ModelServer([Say("I would say one."), Say(ROUTED)]) as server:
        assert reply_of(server, ask(schema=True), book).text == "I would say one."
        assert reply_of(server, ask(schema=True), book).text == ROUTED
        assert kinds(server) == ["json_schema", "json_object"]
        assert "JSON Schema" not in server.chats[0].body["messages"][-1]["content"]
        assert "JSON Schema" in server.chats[1].body["messages"][-1]["content"]


def test_one_failure_makes_no_lasting_loss() -> None:
    book = CapabilityBook(None)
    with ModelServer([Status(500), Say(ROUTED)]) as server:
        reply_of(server, ask(schema=True), book)
        reply_of(server, ask(schema=True), book)
        assert kinds(server) == ["json_schema"] * 3


@pytest.mark.parametrize("feature", ["stream_options", "max_tokens", "temperature", "system", "stream"])
@pytest.mark.parametrize("status", [400, 422, 500])
def test_a_refused_feature_is_left_out_and_that_is_remembered(
    tmp_path: Path, feature: str, status: int
) -> None:
    with ModelServer([Say("12 EUR")], refuses={feature: status}) as server:
        for _ in range(2):
            assert reply_of(server, ask(), CapabilityBook(tmp_path)).text == "12 EUR"
        assert len(server.chats) == 3
        contents = [one["content"] for one in server.chats[-1].body["messages"]]
        assert "Answer." in "".join(contents)
        assert {"max_tokens", "max_completion_tokens"} & server.chats[-1].body.keys()


def test_a_server_that_refuses_everything_at_first_is_found_out_in_one_call(tmp_path: Path) -> None:
    refuses = dict.fromkeys(
        ["json_schema", "json_object", "tools", "stream_options", "max_tokens", "temperature", "system"], 400
    )
    choice = '{"tool": "keyword_search", "arguments": {"query": "badge"}}'
    with ModelServer([Say(choice)], refuses=refuses) as server:
        reply = reply_of(server, ask(tools=True), CapabilityBook(tmp_path))
        assert [(one.name, one.arguments) for one in reply.calls] == [
            ("keyword_search", '{"query": "badge"}')
        ]
        assert all(one.usage == Usage(0, 0) for one in reply.attempts[:-1])
        assert len(reply.attempts) == len(server.chats)
        seen = len(server.chats)
        reply_of(server, ask(tools=True), CapabilityBook(tmp_path))
        assert len(server.chats) == seen + 1


def test_a_server_that_does_not_stream_though_asked_is_read_all_the_same() -> None:
    with ModelServer([Say("12 EUR")], ignores_stream=True) as server:
        assert reply_of(server, ask()).text == "12 EUR"


def test_streams_without_a_finish_reason_are_asked_for_no_more(tmp_path: Path) -> None:
    def answer(body: Any) -> Reply:
        return Say("12 EUR", finish=None if body.get("stream") else "stop")

    with ModelServer(answer) as server:
        assert reply_of(server, ask(), CapabilityBook(tmp_path)).text == "12 EUR"
        assert reply_of(server, ask(), CapabilityBook(tmp_path)).text == "12 EUR"
        assert [bool(one.body.get("stream")) for one in server.chats] == [True, False, False]


def test_a_server_that_breaks_off_before_its_first_piece_is_asked_in_one_body() -> None:
    def answer(body: Any) -> Reply:
        too_long = Status(
            400, {"error": {"message": "Requested tokens (3030) exceed context window of 2048"}}
        )
        if len(body["messages"][-1]["content"]) < 100:
            return Say("12 EUR")
        return Cut() if body.get("stream") else too_long

    book = CapabilityBook(None)
    with ModelServer(answer) as server:
        long = ask(messages=({"role": "user", "content": "word " * 100},))
        assert isinstance(error_of(server, long, book=book), ModelContextError)
        assert [bool(one.body.get("stream")) for one in server.chats] == [True, False]
        assert reply_of(server, ask(), book).text == "12 EUR"
        assert server.chats[-1].body["stream"] is True


def test_one_lost_stream_does_not_end_streaming_two_that_broke_at_once_do(tmp_path: Path) -> None:
    def answer(body: Any) -> Reply:
        return Cut() if body.get("stream") else Say("12 EUR")

    async def run() -> None:
        async with open_model(endpoint_at(server.url), CapabilityBook(tmp_path), lambda: 20.0) as model:
            for _ in range(3):
                assert (await model.reply("r1.route.1", ask())).text == "12 EUR"

    with ModelServer(answer) as server:
        asyncio.run(run())
        assert [bool(one.body.get("stream")) for one in server.chats] == [True, False, True, False, False]


@pytest.mark.parametrize("stays", [True, False])
def test_a_reply_is_whole_once_it_says_why_it_ended(stays: bool) -> None:
    end = '{"choices": [{"delta": {"content": "12 EUR"}, "finish_reason": "stop"}]}'
    with ModelServer([Events((end,), stays=stays)]) as server:
        assert reply_of(server, ask(), request_seconds=0.3).text == "12 EUR"
        assert len(server.chats) == 1


def test_requests_side_by_side_meet_a_refusal_once_together(tmp_path: Path) -> None:
    async def run() -> None:
        async with open_model(endpoint_at(server.url), CapabilityBook(tmp_path), lambda: 20.0) as model:
            calls = [model.reply(f"r1.grade.{n}", ask(schema=True, tools=True)) for n in range(4)]
            assert {reply.text for reply in await asyncio.gather(*calls)} == {ROUTED}

    with ModelServer([Say(ROUTED)], refuses={"json_schema": 400, "tools": 400}) as server:
        asyncio.run(run())
        known = CapabilityBook(tmp_path).of(server.url, "m")
        assert (known.structure, known.tools) == ("json_object", False)
        assert "text" not in kinds(server)


def test_streams_may_be_switched_off() -> None:
    book = CapabilityBook(None)
    with ModelServer([Say("12 EUR")]) as server:
        assert reply_of(server, ask(), book, stream=False).text == "12 EUR"
        assert "stream" not in server.chats[0].body
        reply_of(server, ask(), book)
        assert server.chats[1].body["stream"] is True


@pytest.mark.parametrize("streams", [True, False])
def test_missing_usage_is_none_and_the_bytes_are_counted(streams: bool) -> None:
    with ModelServer([Say("zwölf", usage=None)], ignores_stream=not streams) as server:
        reply = reply_of(server, ask())
        assert reply.usage is None
        assert (reply.attempts[0].usage, reply.attempts[0].completion_bytes) == (None, 6)
        assert reply.attempts[0].prompt_bytes == len("Answer.What does a badge cost?")


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": -5, "completion_tokens": 2},
        {"prompt_tokens": "many", "completion_tokens": 2},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": True, "completion_tokens": 1},
        {"completion_tokens": 2},
        {"weird": 1},
    ],
)
def test_impossible_usage_counts_as_missing(usage: dict[str, Any]) -> None:
    with ModelServer([Say("x", usage=usage)]) as server:
        assert reply_of(server, ask()).usage is None


def test_thoughts_counted_apart_are_charged() -> None:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 40,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 25},
    }
    with ModelServer([Say("x", usage=usage)]) as server:
        assert reply_of(server, ask()).usage == Usage(10, 30, 4, 25)


@pytest.mark.parametrize(
    "payload",
    [
        b'{"weird": 1}',
        b'{"choices": []}',
        b'{"choices": null}',
        b'{"choices": [null]}',
        b'{"choices": [{"message": null, "finish_reason": "stop"}]}',
        b'{"choices": [{"message": {"content": null}, "finish_reason": "stop"}]}',
        b'{"choices": [{"message": {"content": "  "}, "finish_reason": "stop"}]}',
        b'{"choices": [{"message": {"content": 7}, "finish_reason": "stop"}]}',
        b"[]",
        b"null",
    ],
)
def test_a_body_without_a_reply_is_an_unusable_reply(payload: bytes) -> None:
    with ModelServer([Body(payload)]) as server:
        error = error_of(server, ask())
        assert isinstance(error, ModelReplyError)
        assert len(error.attempts) == len(server.chats) == 1


def test_content_in_parts_is_put_together() -> None:
    message = {"content": [{"type": "text", "text": "12 "}, {"type": "text", "text": "EUR"}]}
    body = {"choices": [{"message": message, "finish_reason": "stop"}]}
    with ModelServer([Body(json.dumps(body).encode())]) as server:
        assert reply_of(server, ask()).text == "12 EUR"


@pytest.mark.parametrize(
    "reply", [Say("", refusal="I cannot help with that."), Say("par", finish="content_filter")]
)
def test_a_refusal_of_the_model_is_a_reply_without_text(reply: Reply) -> None:
    with ModelServer([reply]) as server:
        got = reply_of(server, ask())
        assert (got.text, got.finish) == ("", "content_filter")


def test_a_reply_cut_at_its_ceiling_says_so() -> None:
    with ModelServer([Say("word " * 100)], rate=1.0) as server:
        got = reply_of(server, ask(max_tokens=20))
        assert got.finish == "length"
        assert len(got.text) == 20


def test_a_stream_that_goes_past_its_ceiling_is_cut() -> None:
    with ModelServer([Say("word " * 100_000, split=50)], honours_ceiling=False) as server:
        got = reply_of(server, ask(max_tokens=20))
        assert got.finish == "length"
        assert got.usage is None
        assert len(got.text) < 1_000
        assert got.attempts[0].completion_bytes == len(got.text)
        assert server.wait_until_idle()


def test_lone_surrogates_do_not_reach_the_run() -> None:
    content = '{"choices": [{"message": {"content": "12\\ud800 EUR"}, "finish_reason": "stop"}]}'
    with ModelServer([Body(content.encode())]) as server:
        assert reply_of(server, ask()).text == "12? EUR"


# Tool calls


@pytest.mark.parametrize("ids", [("call_1", "call_1"), (None, None), ("", ""), ("a", "b")])
@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("streams", [True, False])
def test_parallel_calls_keep_their_arguments_and_get_ids_of_their_own(
    ids: tuple[str | None, str | None], indexed: bool, streams: bool
) -> None:
    calls = (
        ("keyword_search", '{"query": "badge"}', ids[0]),
        ("sql_query", '{"statement": "SELECT 1"}', ids[1]),
    )
    with ModelServer([Say("", calls, indexed=indexed)], ignores_stream=not streams) as server:
        reply = reply_of(server, ask(tools=True))
        assert [(one.name, one.arguments) for one in reply.calls] == [one[:2] for one in calls]
        assert len({one.id for one in reply.calls}) == 2
        assert reply.finish == "tool_calls"


def test_tools_are_sent_by_name_description_and_parameters() -> None:
    with ModelServer([Say("", (("keyword_search", "{}", "x"),))]) as server:
        reply_of(server, ask(tools=True))
        function = server.chats[0].body["tools"][0]["function"]
        assert function == {
            "name": "keyword_search",
            "description": "Find words.",
            "parameters": TOOL["schema"],
        }
        assert server.chats[0].body["tool_choice"] == "auto"


@pytest.mark.parametrize(
    "pattern",
    [
        '{{"name": "NAME", "arguments": ARGUMENTS}}',
        '```json\n{"name": "NAME", "arguments": ARGUMENTS}\n```',
        'I will search.\n<tool_call>\n{"name": "NAME", "arguments": ARGUMENTS}\n</tool_call>',
        '[{"name": "NAME", "parameters": ARGUMENTS}]',
        '{"type": "function", "function": {"name": "NAME", "arguments": ARGUMENTS}}',
        "<function=NAME>ARGUMENTS</function>",
    ],
)
def test_a_call_left_in_the_text_is_a_call_and_the_next_one_is_asked_for_by_schema(
    tmp_path: Path, pattern: str
) -> None:
    book = CapabilityBook(tmp_path)
    said = Say("", (("keyword_search", '{"query": "badge"}', None),))
    with ModelServer([said], calls_as_text=pattern) as server:
        reply = reply_of(server, ask(tools=True), book)
        assert [(one.name, json.loads(one.arguments)) for one in reply.calls] == [
            ("keyword_search", {"query": "badge"})
        ]
        assert (reply.text, reply.finish) == ("", "tool_calls")
        reply_of(server, ask(tools=True), CapabilityBook(tmp_path))
        second = server.chats[1].body
        assert "tools" not in second
        choices = second["response_format"]["json_schema"]["schema"]["anyOf"]
        assert [one["properties"]["tool"]["enum"] for one in choices] == [["keyword_search"], ["none"]]
        assert "Find words." in second["messages"][-1]["content"]


def test_a_model_may_choose_no_tool() -> None:
    book = CapabilityBook(None)
    with ModelServer([Say('{"tool": "none", "arguments": {}}')], refuses={"tools": 400}) as server:
        reply = reply_of(server, ask(tools=True), book)
        assert (reply.calls, reply.text) == ((), "")


def test_a_schema_stays_the_schema_where_calls_are_not_native() -> None:
    with ModelServer([Say(ROUTED)], refuses={"tools": 500}) as server:
        reply = reply_of(server, ask(schema=True, tools=True))
        assert (reply.text, reply.calls) == (ROUTED, ())
        last = server.chats[-1].body
        assert list(last["response_format"]["json_schema"]["schema"]["properties"]) == ["route"]
        assert "Find words." in last["messages"][-1]["content"]


def test_text_of_a_model_that_calls_nothing_stays_text() -> None:
    with ModelServer([Say("I need no tool for that.")]) as server:
        reply = reply_of(server, ask(tools=True))
        assert (reply.text, reply.calls) == ("I need no tool for that.", ())
        assert "tools" in server.chats[0].body
