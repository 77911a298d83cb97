"""What a user is told when there is no model to be had: one sentence, the way out, never the key."""

from __future__ import annotations

import asyncio
import logging
import socket
import traceback
from collections.abc import Mapping
from typing import Any

import pytest
from model_calls import KEY, ask, endpoint_at, error_of, reply_of
from model_server import Body, ModelServer, Reply, Say, Status
from quaere.agent.capabilities import CapabilityBook
from quaere.agent.endpoint import WITHOUT, Endpoint, endpoint_of, is_local, is_named
from quaere.agent.model import open_model
from quaere.agent.model_settings import ModelSettings
from quaere.agent.refusals import Asked, Refusal, words_of
from quaere.agent.refusals import error_of as meaning_of
from quaere.tools.errors import (
    ModelContextError,
    ModelReplyError,
    ModelUnavailableError,
    SettingsError,
)

GOOD = Say("12 EUR")


def told(error: Exception) -> str:
    """Return what a user reads, which is one line with a way out that needs no model."""
    message = str(error)
    assert "\n" not in message
    assert message.endswith(WITHOUT)
    return message


def closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_no_key_for_openai_is_told_before_anything_leaves() -> None:
    with pytest.raises(ModelUnavailableError) as caught:
        endpoint_of(ModelSettings(), {})
    assert told(caught.value).startswith(
        "there is no key for https://api.openai.com/v1; set OPENAI_API_KEY, or"
    )


def test_a_server_of_ones_own_needs_no_key() -> None:
    settings = ModelSettings(base_url="http://127.0.0.1:8080/v1", name="m")
    with ModelServer([GOOD]) as server:
        assert reply_of(server, ask()).text == "12 EUR"
    assert endpoint_of(settings, {}).key.get_secret_value()


def test_a_server_that_asks_for_a_key_is_told_apart_from_one_that_refuses_it() -> None:
    asked = Asked("http://h/v1", "m", has_key=False)
    assert "http://h/v1 asks for a key (401); set OPENAI_API_KEY" in told(meaning_of(Refusal(401, ""), asked))


def test_a_refused_key_is_told_without_the_key_the_server_repeats() -> None:
    with ModelServer([GOOD], key="sk-right") as server:
        message = told(error_of(server, ask()))
        assert message.startswith(
            f"the key was refused by {server.url} (401: Incorrect API key provided: [key]"
        )
        assert KEY not in message
        assert len(server.chats) == 1


def test_an_address_without_a_server_is_told_after_one_attempt() -> None:
    url = f"http://127.0.0.1:{closed_port()}/v1"
    error = error_of(url, ask())
    assert isinstance(error, ModelUnavailableError)
    assert told(error).startswith(f"no server answers at {url} (")
    assert "OPENAI_BASE_URL" in told(error)
    assert len(error.attempts) == 1


@pytest.mark.parametrize("url", ["http://nobody.invalid/v1"])
def test_a_name_without_an_address_is_told(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert told(error_of(url, ask())).startswith(f"no server answers at {url} (")


def test_a_server_that_goes_away_during_a_run_is_asked_again() -> None:
    async def run() -> ModelUnavailableError:
        with ModelServer([GOOD]) as server:
            endpoint = endpoint_at(server.url, attempts=2)
            async with open_model(endpoint, CapabilityBook(None), lambda: 20.0) as model:
                await model.reply("r1.route.1", ask())
                await asyncio.to_thread(server.stop)
                with pytest.raises(ModelUnavailableError) as caught:
                    await model.reply("r1.write.1", ask())
                return caught.value

    assert len(asyncio.run(run()).attempts) == 2


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (404, "The model `m` does not exist."),
        (404, 'model "m" not found, try pulling it first'),
        (400, "m is not a valid model ID"),
    ],
)
def test_an_unknown_model_is_named(status: int, words: str) -> None:
    with ModelServer([Status(status, {"error": {"message": words}})]) as server:
        message = told(error_of(server, ask(schema=True, tools=True)))
        assert "has no model 'm'" in message or "bad request" in message
        assert "QUAERE_MODEL" in message or "model 'm'" in message
        assert len(server.chats) == 1


def test_a_model_the_server_does_not_know_is_named_by_role() -> None:
    with ModelServer([GOOD], models=("a",), knows_others=False) as server:
        assert "has no model 'big'" in told(error_of(server, ask(role="writer"), name="a", writer="big"))
        assert reply_of(server, ask(role="judge"), name="a", writer="big").text == "12 EUR"


@pytest.mark.parametrize("path", ["", "/v2", "/v1/chat"])
def test_an_address_without_the_interface_is_told(path: str) -> None:
    with ModelServer([GOOD]) as server:
        url = server.url.removesuffix("/v1") + path
        message = told(error_of(url, ask()))
        assert message.startswith(f"there is no chat completions interface at {url} (404")
        assert "such addresses end with /v1" in message


def test_a_web_page_is_told_as_one() -> None:
    with ModelServer([Body(b"<!doctype html><title>Router</title>", "text/html")]) as server:
        message = told(error_of(server, ask(), attempts=2))
        assert "answers with a web page instead of JSON" in message
        assert "Router" not in message


def test_a_web_page_with_a_status_is_not_repeated() -> None:
    with ModelServer([Status(502, "<html><h1>Bad gateway</h1></html>")]) as server:
        message = told(error_of(server, ask(), attempts=2))
        assert "status 502" in message
        assert "<" not in message


def test_another_address_is_not_followed_but_told() -> None:
    with ModelServer([Status(307, headers={"Location": "https://elsewhere.example/v1"})]) as server:
        message = told(error_of(server, ask()))
        assert "points to another address (307: https://elsewhere.example/v1)" in message
        assert len(server.requests) == 1


def test_a_prompt_larger_than_the_window_is_an_error_of_its_own() -> None:
    with ModelServer([GOOD], window=5) as server:
        error = error_of(server, ask(schema=True))
        assert isinstance(error, ModelContextError)
        assert told(error).startswith("the prompt (")
        assert (
            "does not fit the context window of 'm' (400: This model's maximum context length is 5"
            in told(error)
        )
        assert len(server.chats) == 1


@pytest.mark.parametrize(
    "refusal",
    [
        Refusal(400, "the request exceeds the available context size. try increasing the context size"),
        Refusal(500, "Requested tokens (5000) exceed context window of 4096"),
        Refusal(413, ""),
        Refusal(400, "prompt is too long: 9000 tokens > 8192 maximum"),
    ],
)
def test_servers_say_in_many_words_that_a_prompt_is_too_large(refusal: Refusal) -> None:
    assert isinstance(meaning_of(refusal, Asked("http://h/v1", "m", 9_000)), ModelContextError)


def test_a_used_up_account_is_not_a_rate_limit() -> None:
    words = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    with ModelServer([Status(429, words)]) as server:
        assert "the account at" in told(error_of(server, ask()))
        assert len(server.chats) == 1


@pytest.mark.parametrize("status", [402, 403, 410, 418])
def test_other_refusals_are_final(status: int) -> None:
    with ModelServer([Status(status, {"error": "no"})]) as server:
        error = error_of(server, ask(schema=True))
        assert isinstance(error, ModelUnavailableError)
        assert error.status == status
        assert f"({status}: no)" in told(error)
        assert len(server.chats) == 1


def test_an_error_under_status_200_is_an_error() -> None:
    body = b'{"error": {"message": "no credits", "code": 402}}'
    with ModelServer([Body(body)]) as server:
        assert "(402: no credits)" in told(error_of(server, ask()))


# No model is named


def test_the_only_model_of_a_server_need_not_be_named() -> None:
    with ModelServer([GOOD], models=("qwen",)) as server:
        assert reply_of(server, ask(), name=None).text == "12 EUR"
        assert server.chats[0].body["model"] == "qwen"


@pytest.mark.parametrize(
    ("models", "has"),
    [
        (("a", "b"), "has a, b;"),
        ((), "does not say which models it has"),
        (tuple("abcdefg"), "has a, b, c, d, e and 2 more;"),
    ],
)
def test_which_of_several_models_is_asked_of_the_user(models: tuple[str, ...], has: str) -> None:
    with ModelServer([GOOD], models=models) as server:
        error = error_of(server, ask(), name=None)
        assert has in told(error)
        assert "name one with QUAERE_MODEL" in told(error)
        assert (error.attempts, server.chats) == ((), [])


def test_a_refused_key_is_told_when_the_models_are_asked_for() -> None:
    with ModelServer([GOOD], key="sk-right") as server:
        assert told(error_of(server, ask(), name=None)).startswith("the key was refused by")


# The key stays where it is


@pytest.mark.parametrize(
    "reply",
    [
        Status(400, {"error": {"message": f"bad request by Bearer {KEY}"}}),
        Status(500, f"upstream said {KEY}"),
        Status(403, {"detail": [{"msg": f"no {KEY[:-4]}****"}]}),
        Status(418, {"error": {"message": "teapot", "code": KEY}}),
        Status(307, headers={"Location": f"https://elsewhere.example/?api_key={KEY}"}),
        Body(f'{{"error": {{"message": "{KEY}"}}}}'.encode()),
        Body(f"{KEY} is no JSON".encode()),
    ],
)
def test_no_error_holds_the_key(reply: Reply, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with ModelServer([reply]) as server:
        error = error_of(server, ask(), attempts=1)
        shown = "".join(traceback.format_exception(error)) + repr(error) + repr(error.attempts)
        assert KEY not in shown
        assert KEY[:-4] not in shown
        # What a server puts into headers of its own is in the client's debug log, whatever it is.
        assert KEY not in caplog.text or (isinstance(reply, Status) and reply.headers)


@pytest.mark.parametrize("key", ["plainpassword", "a1b2c3d4e5f6", "x.y.z/w+v="])
def test_keys_that_look_like_none_are_left_out_too(key: str) -> None:
    asked = Asked("http://h/v1", "m", secrets=(key,))
    assert asked.quoted(f"bad {key}, twice {key}") == ": bad [key], twice [key]"


def test_no_log_of_a_good_call_holds_the_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with ModelServer([GOOD]) as server:
        assert reply_of(server, ask()).text == "12 EUR"
    assert caplog.text
    assert KEY not in caplog.text


def test_an_endpoint_shows_neither_key_nor_password() -> None:
    endpoint = endpoint_at("http://me:hunter2@127.0.0.1:1/v1")
    assert KEY not in repr(endpoint) + str(endpoint)
    assert endpoint.shown == "http://127.0.0.1:1/v1"
    assert "hunter2" not in str(error_of(f"http://me:hunter2@127.0.0.1:{closed_port()}/v1", ask()))


@pytest.mark.parametrize("key", ["sk-two\nlines", "sk-ключ", "sk with space", "sk\x00"])
def test_a_key_that_cannot_be_sent_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(SettingsError) as caught:
        endpoint_of(ModelSettings(), {"OPENAI_API_KEY": key})
    assert str(caught.value) == "OPENAI_API_KEY holds a character that no key has; copy it once more"


def test_spaces_around_a_key_are_left_out() -> None:
    assert endpoint_of(ModelSettings(), {"OPENAI_API_KEY": " sk-x\n"}).key.get_secret_value() == "sk-x"


# Where a model is


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:8080/v1", True),
        ("http://localhost/v1", True),
        ("http://LOCALHOST.:1/v1", True),
        ("http://[::1]:8080/v1", True),
        ("http://127.9.9.9/v1", True),
        ("http://0.0.0.0:8000/v1", True),
        ("http://[::ffff:127.0.0.1]/v1", True),
        ("http://localhost.evil.example/v1", False),
        ("http://127.0.0.1.evil.example/v1", False),
        ("http://127.0.0.1@evil.example/v1", False),
        ("http://192.168.1.5/v1", False),
        ("https://api.openai.com/v1", False),
    ],
)
def test_only_addresses_of_this_machine_are_local(url: str, local: bool) -> None:
    assert is_local(url) is local


@pytest.mark.parametrize(
    ("settings", "environ", "named"),
    [
        ({}, {}, False),
        ({}, {"OPENAI_API_KEY": "  "}, False),
        ({}, {"OPENAI_API_KEY": "sk-x"}, True),
        ({"base_url": "http://h/v1"}, {}, True),
        ({"name": "m"}, {}, True),
    ],
)
def test_a_model_is_asked_for_by_key_address_or_name(
    settings: dict[str, Any], environ: Mapping[str, str], named: bool
) -> None:
    assert is_named(ModelSettings(**settings), environ) is named


def test_each_role_may_name_a_model_of_its_own() -> None:
    settings = ModelSettings(base_url="http://h/v1", name="small", writer="big")
    endpoint: Endpoint = endpoint_of(settings, {})
    assert dict(endpoint.names) == {"router": "small", "grader": "small", "writer": "big", "judge": "small"}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('{"error": {"message": "no", "type": "t", "code": "c"}}', "no (c, t)"),
        ('{"detail": [{"loc": ["body", "response_format"], "msg": "bad"}]}', "body.response_format: bad"),
        ('{"message": "no"}', "no"),
        ('{"error": "no"}', "no"),
        ('"no"', "no"),
        ("plain words", "plain words"),
        ("<html><body>no</body></html>", ""),
        ("", ""),
        ("7", ""),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_the_words_of_a_refusal_are_found_wherever_they_stand(body: str, words: str) -> None:
    assert words_of(body) == words


def test_the_words_of_a_server_are_short_and_cannot_steer_a_terminal() -> None:
    refusal = Refusal(400, "\x1b[31mred\x1b[0m \u202e" + "long " * 500)
    message = str(meaning_of(refusal, Asked("http://h/v1", "m")))
    assert len(message) < 500
    assert message.isprintable()


def test_a_reply_without_use_is_told_in_a_few_words() -> None:
    with ModelServer([Say("")]) as server:
        error = error_of(server, ask())
        assert isinstance(error, ModelReplyError)
        assert str(error) == "model 'm' gave nothing to work with: the reply is empty"
