"""Which visible document replaces which, and until when the old one holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.tools.evidence import ALWAYS_VALID, Validity
from quaere.tools.succession import Dated, resolve


def old(
    words: str, path: str = "travel_2023.md", until: str | None = None, begins: str | None = None
) -> Dated:
    return Dated(1, "docs", path, Validity(begins, until, words))


def new(
    path: str = "travel_2024.md", source: str = "docs", begins: str | None = "2024-03-01", id: int = 2
) -> Dated:
    return Dated(id, source, path, Validity(begins))


@pytest.mark.parametrize(
    "words", ["travel_2024.md", "travel_2024", "./travel_2024.md", "Travel_2024.MD", "docs/travel_2024.md"]
)
def test_a_successor_is_known_by_path_name_or_stem(words: str) -> None:
    found = resolve([old(words), new()])
    assert found == {1: Validity(None, "2024-02-29", "travel_2024.md"), 2: Validity("2024-03-01")}


@pytest.mark.parametrize(
    ("marked", "until"), [("2023-12-31", "2023-12-31"), ("2024-06-30", "2024-02-29"), (None, "2024-02-29")]
)
def test_the_old_one_ends_the_day_before_the_new_one_begins_at_the_latest(
    marked: str | None, until: str
) -> None:
    assert resolve([old("travel_2024", until=marked), new()])[1].valid_until == until


def test_a_successor_without_a_first_day_is_named_and_ends_nothing() -> None:
    assert resolve([old("travel_2024"), new(begins=None)])[1] == Validity(None, None, "travel_2024.md")


def test_one_that_begins_before_the_old_one_leaves_it_no_day() -> None:
    found = resolve([old("travel_2024", begins="2024-05-01"), new()])[1]
    assert not any(found.holds(day) for day in ("2023-01-01", "2024-02-29", "2024-05-01", "2030-01-01"))


def test_words_that_fit_nothing_visible_stay_as_they_are() -> None:
    assert resolve([old("the new handbook"), new()])[1] == Validity(None, None, "the new handbook")
    assert resolve([old("travel_2024.md")])[1] == Validity(None, None, "travel_2024.md")


def test_words_that_fit_two_documents_stay_as_they_are() -> None:
    twins = [new("travel.md"), new("travel.pdf", id=3)]
    assert resolve([old("travel"), *twins])[1] == Validity(None, None, "travel")


def test_the_same_source_goes_before_another_and_the_same_folder_before_the_rest() -> None:
    here, far = new("hr/travel.md"), new("it/travel.md", id=3)
    there = new("travel.md", source="wiki", id=4)
    assert resolve([old("travel.md", "hr/old.md"), far, there, here])[1].superseded_by == "hr/travel.md"
    assert resolve([old("travel.md", "old.md"), there, here])[1].superseded_by == "hr/travel.md"
    assert resolve([old("../it/travel.md", "hr/old.md"), here, far])[1].superseded_by == "it/travel.md"
    assert resolve([old("travel", "old.md"), there])[1].superseded_by == "travel.md"


def test_nothing_replaces_itself() -> None:
    assert resolve([old("travel_2023")])[1].superseded_by == "travel_2023"


validities = st.builds(
    Validity,
    st.none() | st.sampled_from(["2024-01-01", "2025-06-01", "0001-01-01"]),
    st.none() | st.sampled_from(["2024-12-31", "2025-12-31"]),
    st.none() | st.sampled_from(["a", "b.md", "hr/c.md", "c", "", "..", "/"]),
)
documents = st.lists(
    st.tuples(
        st.sampled_from(["docs", "wiki"]), st.sampled_from(["a.md", "b.md", "hr/c.md", "c.txt"]), validities
    ),
    max_size=6,
    unique_by=lambda one: one[:2],
).map(lambda rows: [Dated(id, *row) for id, row in enumerate(rows)])


@given(documents)
def test_resolving_only_ever_shortens_and_never_hangs_on_the_order(found: list[Dated]) -> None:
    resolved = resolve(found)
    assert resolve(found[::-1]) == resolved
    for one in found:
        after = resolved[one.document]
        assert after.valid_from == one.validity.valid_from
        assert (after.valid_until or "9999") <= (one.validity.valid_until or "9999")
        assert bool(after.superseded_by) == bool(one.validity.superseded_by)


@given(documents)
def test_what_is_said_of_nothing_else_changes_nothing(found: list[Dated]) -> None:
    kept = [Dated(one.document, one.source, one.path, ALWAYS_VALID) for one in found]
    assert set(resolve(kept).values()) <= {ALWAYS_VALID}
