"""What the ledger promises of model calls: no admission past a limit, whatever servers report."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.graphs.budget import Ask, Budget, Hold, Ledger, Price, Tariff
from quaere.graphs.estimate import Size, TokenRate, content_size, prompt_size, size_of
from quaere.graphs.ports import Attempt, Request, Usage
from quaere.tools.errors import UsageError

ROLES = ("router", "grader", "writer", "judge")
PRICED = Tariff(dict.fromkeys(ROLES, "m"), {"m": Price(2.0, 10.0)})

roles = st.sampled_from(ROLES)
sizes = st.builds(Size, st.integers(0, 6000), st.integers(0, 6000))
asks = st.builds(Ask, roles, sizes, st.integers(32, 2000), st.integers(1, 32))
budgets = st.builds(
    Budget, model_calls=st.integers(0, 6), tokens=st.integers(0, 20_000), seconds=st.just(60.0)
)
texts = st.text(st.sampled_from("abc 12.,€日本語🙂é"), max_size=400)


def ledger(budget, tariff=None):
    return Ledger(budget, lambda: 0.0, tariff or Tariff())


@given(budgets, st.lists(asks, max_size=8))
def test_calls_in_flight_never_hold_more_than_the_limit(budget, wanted):
    book = ledger(budget)
    holds = [book.admit_model(f"c{i}", ask) for i, ask in enumerate(wanted)]
    admitted = [hold for hold in holds if isinstance(hold, Hold)]
    assert sum(hold.tokens for hold in admitted) <= budget.tokens
    assert len(admitted) == book.model_calls <= budget.model_calls
    assert all(
        hold.ceiling <= ask.most for hold, ask in zip(holds, wanted, strict=True) if isinstance(hold, Hold)
    )
    assert (book.stopped_by is None) == (len(admitted) == len(wanted))


@given(budgets, st.lists(st.tuples(asks, st.floats(0, 1), st.floats(0, 1)), max_size=8))
def test_a_server_that_keeps_to_the_ceiling_never_passes_the_limit(budget, calls):
    book = ledger(budget)
    for i, (ask, share, used) in enumerate(calls):
        hold = book.admit_model(f"c{i}", ask)
        if isinstance(hold, str):
            continue
        usage = Usage(math.floor(share * hold.prompt), math.floor(used * hold.ceiling))
        book.charge(hold, Attempt(0.1, "ok", usage, 0, 1))
        book.settle(hold)
    assert book.tokens <= budget.tokens
    assert book.tokens_left == budget.tokens - book.tokens


@given(budgets, st.lists(st.tuples(asks, st.integers(0, 10_000), st.integers(0, 100_000)), max_size=8))
def test_after_an_overshoot_no_later_call_starts_and_the_answer_names_it(budget, calls):
    book = ledger(budget)
    for i, (ask, prompt, completion) in enumerate(calls):
        over = book.tokens > budget.tokens
        hold = book.admit_model(f"c{i}", ask)
        assert not (over and isinstance(hold, Hold))
        if isinstance(hold, Hold):
            book.charge(hold, Attempt(0.1, "ok", Usage(prompt + 1, completion + 1)))
            book.settle(hold)
    assert any("past the limit" in note for note in book.notes) == (book.tokens > budget.tokens)


@given(asks, st.sampled_from(["ok", "cut", "500", "429, waited 2.0 s"]), st.integers(0, 5000))
def test_missing_usage_is_charged_by_the_estimate_and_never_as_zero(ask, outcome, written):
    book = ledger(Budget(tokens=1_000_000))
    hold = book.admit_model("c", Ask(ask.role, Size(ask.size.ascii + 1, ask.size.other), ask.most, 1))
    assert isinstance(hold, Hold)
    book.charge(hold, Attempt(0.1, outcome, None, 0, written))
    assert book.tokens >= hold.prompt > 0
    assert book.tokens >= hold.prompt + min(written, hold.ceiling)


def test_a_request_no_model_has_read_costs_nothing():
    book = ledger(Budget())
    hold = book.admit_model("c", Ask("writer", Size(100), 10, 1))
    book.charge(hold, Attempt(0.1, "400", Usage(0, 0)))
    assert book.tokens == 0


def test_reasoning_and_cached_tokens_are_counted():
    book = ledger(Budget())
    hold = book.admit_model("c", Ask("writer", Size(100), 10, 1))
    book.charge(hold, Attempt(0.1, "ok", Usage(50, 5, cached=80, reasoning=40)))
    assert book.tokens == 120


def test_room_for_one_small_writer_call_is_kept():
    book = ledger(Budget(tokens=1000, model_calls=2))
    book.reserve(Ask("writer", Size(500), 900, 100))
    assert book.admit_model("a", Ask("router", Size(350), 300, 60)) == "tokens"
    hold = book.admit_model("b", Ask("router", Size(300), 300, 60))
    assert hold.ceiling == 100
    book.charge(hold, Attempt(0.1, "ok", Usage(300, 100)))
    book.settle(hold)
    assert book.admit_model("c", Ask("grader", Size(1), 10, 1)) == "model_calls"
    assert isinstance(book.admit_model("d", Ask("writer", Size(500), 900, 100)), Hold)


@given(st.floats(0, 0.02), st.lists(asks, max_size=8))
def test_money_holds_as_tokens_do(usd, wanted):
    book = ledger(Budget(usd=usd, tokens=1_000_000, model_calls=99), PRICED)
    for i, ask in enumerate(wanted):
        hold = book.admit_model(f"c{i}", ask)
        if isinstance(hold, Hold):
            book.charge(hold, Attempt(0.1, "ok", Usage(max(1, hold.prompt), max(1, hold.ceiling))))
            book.settle(hold)
    assert book.usd <= usd + 1e-4
    assert book.spent()["usd"] == round(book.usd, 6)


def test_a_limit_on_money_without_a_price_is_refused_by_name():
    book = ledger(Budget(usd=1.0), Tariff(dict.fromkeys(ROLES, "gpt-x"), {}))
    with pytest.raises(UsageError, match="gpt-x"):
        book.require_prices()
    ledger(Budget(usd=1.0), PRICED).require_prices()
    ledger(Budget()).require_prices()


@pytest.mark.parametrize(
    "limits", [{"tokens": -1}, {"model_calls": -1}, {"usd": -0.1}, {"usd": float("nan")}]
)
def test_impossible_amounts_are_refused_by_name(limits):
    with pytest.raises(UsageError, match=next(iter(limits))):
        Budget(**limits)


@given(budgets, budgets)
def test_narrowing_lowers_every_limit_and_raises_none(own, other):
    low = own.narrowed(other)
    for name in ("steps", "model_calls", "tool_calls", "tokens", "seconds", "usd"):
        assert getattr(low, name) == min(getattr(own, name), getattr(other, name))


@given(st.lists(texts, min_size=1, max_size=4), texts, st.sampled_from([0.25, 0.5, 1.0]))
def test_an_estimate_lies_above_what_a_tokenizer_of_one_rate_counts(seen, text, rate):
    learned = TokenRate()
    for one in seen:
        learned.learn(size_of(one), math.ceil(rate * size_of(one).total))
    assert learned.estimate(size_of(text)) >= math.floor(rate * size_of(text).total)


@given(st.lists(texts, min_size=1, max_size=4), texts, st.floats(0.1, 1), st.floats(0.1, 1))
def test_an_estimate_lies_above_a_tokenizer_with_a_rate_for_each_class(seen, text, plain, other):
    def count(size):
        return math.ceil(plain * size.ascii + other * size.other)

    learned = TokenRate()
    for one in seen:
        learned.learn(size_of(one), count(size_of(one)))
    assert learned.estimate(size_of(text)) >= count(size_of(text))


def test_the_first_report_replaces_the_byte_for_a_token():
    rate = TokenRate()
    assert rate.estimate(Size(1000)) == 1000
    rate.learn(Size(1000), 250)
    assert 250 <= rate.estimate(Size(1000)) <= 280
    assert rate.estimate(Size(0, 1000)) == 1000, "nothing is known of other characters yet"


def test_schema_tools_and_frames_count_as_prompt():
    bare = Request("writer", ({"role": "user", "content": "é" * 10},))
    full = Request("writer", bare.messages, {"type": "object"}, "x", ({"name": "t"},))
    assert content_size(full) == content_size(bare) == Size(0, 20)
    assert prompt_size(bare).total > 20
    assert prompt_size(full).total > prompt_size(bare).total + 20


@given(budgets, asks)
def test_room_is_what_a_prompt_may_grow_by(budget, ask):
    book = ledger(budget)
    more = book.room(ask)
    if more:
        grown = Ask(ask.role, ask.size + Size(more), ask.most, ask.fewest)
        assert isinstance(book.admit_model("c", grown), Hold) or budget.model_calls == 0
