import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.graphs.budget import CLOSING_STEPS, FEWEST_STEPS, ROUND_STEPS, Budget, Ledger
from quaere.tools.errors import UsageError


class Hands:
    """A clock that moves when it is told to."""

    def __init__(self):
        self.at = 100.0

    def __call__(self):
        return self.at


@pytest.mark.parametrize(
    "limits", [{"steps": 6}, {"tool_calls": -1}, {"seconds": 0}, {"seconds": float("nan")}]
)
def test_impossible_limits_are_refused_by_name(limits):
    with pytest.raises(UsageError, match=next(iter(limits))):
        Budget(**limits)


budgets = st.builds(
    Budget,
    steps=st.integers(FEWEST_STEPS, 60),
    tool_calls=st.integers(0, 30),
    seconds=st.floats(0.1, 100),
)


@given(budgets, budgets)
def test_a_caller_only_lowers_limits(own, other):
    low = own.narrowed(other)
    assert low.steps == min(own.steps, other.steps)
    assert (low.tool_calls, low.seconds) <= (own.tool_calls, own.seconds) or low.seconds <= own.seconds
    assert low == other.narrowed(own)


@given(budgets, st.lists(st.integers(0, 8), max_size=12))
def test_admitted_calls_never_pass_the_limit(budget, batches):
    ledger = Ledger(budget, Hands())
    admitted = 0
    for number, size in enumerate(batches):
        verdicts = ledger.admit_tools([f"r{number}.search.{i}" for i in range(size)])
        assert list(verdicts) == sorted(verdicts, reverse=True), "plan order decides who is left out"
        admitted += sum(verdicts)
    assert admitted == ledger.tool_calls <= budget.tool_calls
    assert (ledger.stopped_by == "tool_calls") == (sum(batches) > budget.tool_calls)


@given(st.integers(FEWEST_STEPS, 60))
def test_rounds_end_while_the_closing_steps_still_fit(steps):
    budget = Budget(steps=steps)
    ledger = Ledger(budget, Hands())
    ledger.charge_step("route", "r0.route")
    while ledger.may_do(ROUND_STEPS + CLOSING_STEPS):
        for node in ("rewrite", "search", "grade"):
            ledger.charge_step(node, f"r1.{node}")
    assert ledger.stopped_by == "steps"
    assert ledger.steps + CLOSING_STEPS <= budget.steps


def test_no_call_starts_after_the_deadline():
    clock = Hands()
    ledger = Ledger(Budget(seconds=5), clock)
    clock.at += 5
    assert ledger.admit_tools(["a"]) == (False,)
    assert ledger.stopped_by == "seconds"
    assert ledger.seconds_left == 0


def test_the_first_limit_reached_is_the_one_that_is_named():
    ledger = Ledger(Budget(steps=7, tool_calls=0), Hands())
    ledger.admit_tools(["a"])
    ledger.may_do(100)
    assert ledger.stopped_by == "tool_calls"
