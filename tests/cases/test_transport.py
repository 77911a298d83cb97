"""Cases PR-42 to PR-48: silence, cut streams, tool call ids, ordered delays, retries, schema echo, thoughts.

They are played at the Model port, over real HTTP; what a run makes of them is shown where the policy is.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise

import pytest
from model_calls import KEY, SCHEMA, SOON, ask, endpoint_at, error_of, reply_of
from model_server import Body, Cut, Events, ModelServer, Reply, Say, Silence, Status, Trickle
from quaere.agent.capabilities import CapabilityBook
from quaere.agent.model import open_model
from quaere.agent.strict_schema import fits
from quaere.tools.errors import BudgetSpentError, ModelReplyError, ModelUnavailableError

GOOD = Say("The fee is 12 EUR [1].")


def countdown(seconds: float) -> Callable[[], float]:
    """Return the seconds left of a run that begins now."""
    end = time.monotonic() + seconds
    return lambda: end - time.monotonic()


def gaps(server: ModelServer) -> list[float]:
    """Return the seconds between the requests that came."""
    times = [one.at for one in server.chats]
    return [later - earlier for earlier, later in pairwise(times)]


# PR-42 no deadline on silence


@pytest.mark.parametrize("silence", [Silence(), Silence(("12 ",)), Silence(("12 ", "E"))])
def test_pr_42_a_silent_server_is_cut_and_asked_again(silence: Reply) -> None:
    with ModelServer([silence, GOOD]) as server:
        reply = reply_of(server, ask(), request_seconds=SOON)
        assert reply.text == GOOD.text
        assert [one.outcome.split(",")[0] for one in reply.attempts] == ["silent", "ok"]
        assert len(server.chats) == 2
        assert server.wait_until_idle()


def test_pr_42_a_server_that_stays_silent_is_named_after_the_last_attempt() -> None:
    with ModelServer([Silence()]) as server:
        error = error_of(server, ask(), request_seconds=SOON, attempts=2)
        assert isinstance(error, ModelUnavailableError)
        assert f"was silent for {SOON} s, 2 times" in str(error)
        assert len(error.attempts) == len(server.chats) == 2
        assert server.wait_until_idle()


@pytest.mark.parametrize("every", [0.01, 0.05])
def test_pr_42_a_trickle_without_end_stops_at_the_deadline_of_the_run(every: float) -> None:
    with ModelServer([Trickle("a", every)]) as server:
        error = error_of(server, ask(max_tokens=10_000), seconds=countdown(0.8), request_seconds=5.0)
        assert isinstance(error, BudgetSpentError)
        assert error.limit == "seconds"
        (attempt,) = error.attempts
        assert attempt.outcome == "cut at the deadline"
        assert attempt.completion_bytes > 0
        assert len(server.chats) == 1
        assert server.wait_until_idle()


@pytest.mark.parametrize("reply", [Silence(), Silence(("12 ",)), Trickle("a", 0.05)])
def test_pr_42_no_request_stays_open_when_the_run_is_cancelled(reply: Reply) -> None:
    async def run(url: str) -> None:
        async with open_model(endpoint_at(url), CapabilityBook(None), lambda: 60.0) as model:
            task = asyncio.create_task(model.reply("r1.write.1", ask()))
            while not server.chats:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            # Before the client is closed: it is the cancelling that ends the request.
            assert await asyncio.to_thread(server.wait_until_idle)

    with ModelServer([reply]) as server:
        asyncio.run(run(server.url))


def test_pr_42_nothing_leaves_when_no_time_is_left() -> None:
    with ModelServer([GOOD]) as server:
        error = error_of(server, ask(), seconds=lambda: 0.0)
        assert isinstance(error, BudgetSpentError)
        assert error.attempts == ()
        assert server.chats == []


# PR-43 partial stream accepted


def test_pr_43_a_cut_stream_is_no_reply_and_is_asked_for_again() -> None:
    with ModelServer([Cut(("The fee ", "is 1")), GOOD]) as server:
        reply = reply_of(server, ask())
        assert reply.text == GOOD.text
        assert [one.outcome.split(",")[0] for one in reply.attempts] == ["lost", "ok"]
        assert reply.attempts[0].completion_bytes == len("The fee is 1")
        assert reply.attempts[0].usage is None


@pytest.mark.parametrize(
    "cut",
    [
        Cut(("The fee is 1",)),
        Cut(("The fee is 1",), cleanly=True),
        Cut(()),
        Events(('{"choices": [{"delta": {"content": "The fee is 1',)),
        Body(b'{"choices": [{"message": {"content": "The fee is 1'),
        Body(b'{"choices": [{"message": {"content": "The fee is 1"}', length=500),
        Body(b""),
    ],
)
def test_pr_43_after_the_last_attempt_the_connection_is_lost(cut: Reply) -> None:
    with ModelServer([cut]) as server:
        error = error_of(server, ask(), attempts=2, request_seconds=SOON)
        assert isinstance(error, ModelUnavailableError)
        assert "connection lost" in str(error) or "was silent" in str(error)
        assert "The fee" not in str(error)
        assert len(error.attempts) == len(server.chats) == 2


def test_pr_43_an_error_inside_a_stream_is_a_failure_not_an_end() -> None:
    broken = Events(
        ('{"choices": [{"delta": {"content": "The fee is 1"}}]}', '{"error": {"message": "boom"}}')
    )
    with ModelServer([broken, GOOD]) as server:
        assert reply_of(server, ask()).text == GOOD.text


# PR-44 tool call ids trusted


@pytest.mark.parametrize("identity", ["call_1", None, ""])
@pytest.mark.parametrize("streams", [True, False])
def test_pr_44_every_call_has_an_id_of_its_own_in_the_order_of_the_reply(
    identity: str | None, streams: bool
) -> None:
    said = (
        ("keyword_search", '{"query":"badge"}', identity),
        ("sql_query", '{"source":"shop","statement":"SELECT COUNT(*) FROM parts","why":"count"}', identity),
    )
    with ModelServer([Say("", said)], ignores_stream=not streams) as server:
        calls = reply_of(server, ask(tools=True)).calls
    assert [(one.name, one.arguments) for one in calls] == [one[:2] for one in said]
    assert len({one.id for one in calls}) == 2
    assert all(one.id.startswith("r1.route.1.") for one in calls)


def test_pr_44_thirty_calls_are_thirty_calls() -> None:
    said = tuple(("keyword_search", json.dumps({"query": f"badge {n}"}), "call_1") for n in range(30))
    with ModelServer([Say("", said)]) as server:
        calls = reply_of(server, ask(tools=True, max_tokens=2_000)).calls
    assert [json.loads(one.arguments)["query"] for one in calls] == [f"badge {n}" for n in range(30)]
    assert len({one.id for one in calls}) == 30


# PR-45 server-ordered delay outside the run deadline


@pytest.mark.parametrize("headers", [{"Retry-After": "1"}, {"retry-after-ms": "600"}])
@pytest.mark.parametrize("status", [429, 503])
def test_pr_45_an_ordered_delay_is_waited_for(headers: dict[str, str], status: int) -> None:
    ordered = 1.0 if "Retry-After" in headers else 0.6
    with ModelServer([Status(status, headers=headers), GOOD]) as server:
        reply = reply_of(server, ask())
        assert reply.text == GOOD.text
        assert gaps(server)[0] >= ordered
        assert reply.attempts[0].outcome == f"{status}, waited {ordered:.1f} s"


def test_pr_45_a_delay_may_be_ordered_as_a_date() -> None:
    def limited(_: object) -> Reply:
        if len(server.chats) > 0:
            return GOOD
        until.append(datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=2))
        return Status(429, headers={"Retry-After": format_datetime(until[0], usegmt=True)})

    until: list[datetime] = []
    with ModelServer(limited) as server:
        assert reply_of(server, ask()).text == GOOD.text
        assert datetime.now(UTC) >= until[0]


@pytest.mark.parametrize(
    ("ordered", "told"), [("90", "90 s"), ("99999999999", "99,999,999,999 s"), ("1e300", " s")]
)
def test_pr_45_a_delay_past_the_deadline_ends_the_call_at_once(ordered: str, told: str) -> None:
    with ModelServer([Status(429, headers={"Retry-After": ordered})]) as server:
        error = error_of(server, ask(), seconds=countdown(30.0))
        assert isinstance(error, ModelUnavailableError)
        assert str(error).startswith("rate limited, asked to wait ")
        assert told in str(error)
        assert [one.outcome for one in error.attempts] == ["429"]
        assert len(server.chats) == 1


@pytest.mark.parametrize(
    "nonsense", ["-5", "soon", "nan", "inf", "-inf", "", "Mon, 01 Jan 1990 00:00:00 GMT", "1e999"]
)
def test_pr_45_a_delay_that_makes_no_sense_is_a_short_one(nonsense: str) -> None:
    with ModelServer([Status(429, headers={"Retry-After": nonsense}), GOOD]) as server:
        assert reply_of(server, ask(), seconds=countdown(5.0)).text == GOOD.text
        assert len(server.chats) == 2


# PR-46 nested retries


def test_pr_46_a_server_that_always_fails_gets_as_many_requests_as_are_set() -> None:
    with ModelServer([Status(500, {"error": {"message": f"boom for {KEY}"}})]) as server:
        error = error_of(server, ask(schema=True), attempts=3)
        assert len(server.chats) == 3
        assert isinstance(error, ModelUnavailableError)
        assert (error.status, len(error.attempts)) == (500, 3)
        assert "status 500" in str(error)
        assert KEY not in str(error)


@pytest.mark.parametrize(("attempts", "status"), [(1, 502), (2, 503), (5, 504), (2, 408), (2, 409), (2, 429)])
def test_pr_46_the_number_of_attempts_is_a_setting(attempts: int, status: int) -> None:
    with ModelServer([Status(status, headers={"retry-after-ms": "1"})]) as server:
        error = error_of(server, ask(), attempts=attempts)
        assert len(server.chats) == attempts
        assert isinstance(error, ModelUnavailableError)
        assert str(status) in str(error)


def test_pr_46_a_refused_key_is_refused_once() -> None:
    with ModelServer([GOOD], key="sk-another-key-0000") as server:
        error = error_of(server, ask(schema=True))
        assert len(server.chats) == 1
        assert isinstance(error, ModelUnavailableError)
        assert error.status == 401
        assert str(error).startswith("the key was refused by http://127.0.0.1:")
        assert KEY not in repr(error) + str(error)


def test_pr_46_a_bad_request_is_sent_once() -> None:
    with ModelServer([Status(400, {"error": {"message": "bad schema"}})]) as server:
        error = error_of(server, ask(schema=True, tools=True))
        assert len(server.chats) == 1
        assert isinstance(error, ModelUnavailableError)
        assert "refused a bad request (400: bad schema)" in str(error)


def test_pr_46_the_budget_may_forbid_another_attempt() -> None:
    charged: list[object] = []

    def again(attempt: object) -> bool:
        charged.append(attempt)
        return len(charged) < 2

    with ModelServer([Status(500)]) as server:
        error = error_of(server, ask(again=again), attempts=5)
        assert isinstance(error, BudgetSpentError)
        assert len(server.chats) == len(charged) == 2
        assert list(error.attempts) == charged


# PR-47 schema echo


def test_pr_47_an_echoed_schema_does_not_fit_the_schema() -> None:
    with ModelServer([Say(json.dumps(SCHEMA))]) as server:
        book = CapabilityBook(None)
        assert not fits(reply_of(server, ask(schema=True), book).text, SCHEMA)
        reply_of(server, ask(schema=True), book)
        assert "JSON Schema" in server.chats[1].body["messages"][-1]["content"]


# PR-48 reasoning confused with the reply


@pytest.mark.parametrize(
    "thoughts",
    [
        Say("", reasoning="Maybe it is 15 EUR. " * 450, finish="length"),
        Say("<think>maybe 15 EUR"),
        Say("<think>maybe 15 EUR", finish="length"),
        Say(" \n<thinking>\nmaybe 15 EUR</thinking>\n"),
    ],
)
@pytest.mark.parametrize("streams", [True, False])
def test_pr_48_thoughts_alone_are_no_reply(thoughts: Reply, streams: bool) -> None:
    with ModelServer([thoughts], ignores_stream=not streams) as server:
        error = error_of(server, ask(max_tokens=5_000))
        assert isinstance(error, ModelReplyError)
        assert error.starved
        assert "15" not in str(error)


def test_pr_48_a_larger_limit_lets_the_model_come_to_its_reply() -> None:
    thinking = Say("12 EUR [1]", reasoning="Maybe it is 15 EUR. " * 450)
    with ModelServer([thinking]) as server:
        error = error_of(server, ask(max_tokens=500))
        assert isinstance(error, ModelReplyError)
        assert error.starved
        assert reply_of(server, ask(max_tokens=5_000)).text == "12 EUR [1]"


@pytest.mark.parametrize(
    "said",
    [
        "<think>maybe 15 EUR [4]</think>12 EUR [1]",
        "<think>maybe</think>\n<think>15 EUR [4]</think>\n12 EUR [1]",
        "maybe 15 EUR [4]</think>\n\n12 EUR [1]",
        "<THINKING>maybe 15 EUR [4]</THINKING> 12 EUR [1]",
    ],
)
@pytest.mark.parametrize("split", [1, 7, 1_000])
def test_pr_48_thoughts_before_the_reply_are_left_out(said: str, split: int) -> None:
    with ModelServer([Say(said, split=split)]) as server:
        assert reply_of(server, ask()).text == "12 EUR [1]"


def test_pr_48_thoughts_beside_the_reply_are_counted_but_not_shown() -> None:
    with ModelServer([Say("12 EUR [1]", reasoning="maybe 15 EUR [4]", usage=None)]) as server:
        reply = reply_of(server, ask())
        assert reply.text == "12 EUR [1]"
        assert reply.attempts[0].completion_bytes == len("12 EUR [1]" + "maybe 15 EUR [4]")
