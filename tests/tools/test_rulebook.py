"""Rules: which documents they speak of, which one wins, and when their mark changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from quaere.tools.evidence import Validity
from quaere.tools.rulebook import NO_RULES, NOTHING_GIVEN, Given, Rule, Rulebook

OPEN = Rule(labels={"class": "open"})
HR = Rule("handbook", "hr/**", {"class": "closed", "team": "hr"}, True, Validity("2024-01-01"))
texts = st.sampled_from(["a", "b", "hr"])
rules = st.builds(
    Rule,
    source=st.sampled_from(["*", "docs", "handbook"]),
    path=st.sampled_from(["**", "hr/**", "*.md", "a.md"]),
    labels=st.dictionaries(texts, texts, max_size=2),
    front_matter=st.none() | st.booleans(),
    validity=st.builds(Validity, st.none() | st.just("2024-01-01"), st.none() | st.just("2024-12-31")),
)


def test_without_rules_nothing_is_given() -> None:
    assert NO_RULES.given("docs", "a.md") == NOTHING_GIVEN == Given({}, False, Validity())


def test_a_later_rule_wins_key_by_key() -> None:
    book = Rulebook((OPEN, HR))
    assert book.given("handbook", "hr/pay.md") == Given(
        {"class": "closed", "team": "hr"}, True, Validity("2024-01-01")
    )
    assert book.given("handbook", "travel.md").labels == {"class": "open"}
    assert book.given("wiki", "hr/pay.md").labels == {"class": "open"}


def test_what_a_later_rule_leaves_open_stays() -> None:
    book = Rulebook((HR, Rule(validity=Validity(None, "2024-12-31", "new.md"), front_matter=None)))
    found = book.given("handbook", "hr/pay.md")
    assert found.validity == Validity("2024-01-01", "2024-12-31", "new.md")
    assert found.front_matter


def test_a_later_rule_may_withdraw_belief_in_front_matter() -> None:
    assert not Rulebook((HR, Rule(front_matter=False))).given("handbook", "hr/pay.md").front_matter


@given(st.lists(rules, max_size=3), rules, st.sampled_from(["docs", "handbook"]))
def test_a_rule_that_does_not_fit_changes_nothing(before: list[Rule], rule: Rule, source: str) -> None:
    for path in ("a.md", "hr/b.md", "hr/c.txt"):
        without, with_ = Rulebook(tuple(before)), Rulebook((*before, rule))
        if not rule.holds(source, path):
            assert with_.given(source, path) == without.given(source, path)
        else:
            assert with_.given(source, path).labels == {**without.given(source, path).labels, **rule.labels}


@given(st.lists(rules, max_size=3), st.lists(rules, max_size=3))
def test_the_mark_tells_different_rules_apart(one: list[Rule], other: list[Rule]) -> None:
    marks = Rulebook(tuple(one)).mark, Rulebook(tuple(other)).mark
    assert (marks[0] == marks[1]) == (one == other)


def test_the_mark_does_not_hang_on_the_order_of_labels() -> None:
    one, other = Rule(labels={"a": "1", "b": "2"}), Rule(labels={"b": "2", "a": "1"})
    assert Rulebook((one,)).mark == Rulebook((other,)).mark
