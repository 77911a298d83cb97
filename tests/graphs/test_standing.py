import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.graphs.standing import are_series, holds, outranks, replaced_by, state_at
from quaere.graphs.times import Period
from quaere.tools.evidence import Document, Locator, Passage, Reading, Span, Validity

NOW = Period("2024-06-01", "2024-06-01", "", "2024-06-01")
IN_2023 = Period("2023-01-01", "2023-12-31", "in 2023", "2024-06-01")


def reading(number, path, validity=None):
    span = Span(number, 0, 4)
    return Reading(
        passage=Passage(number, span, 0, (), (0, 1), span, number),
        document=Document(number, "docs", path, "Title"),
        text="Text",
        sentences=(),
        texts=(),
        governing=(),
        locator=Locator(),
        validity=validity or Validity(),
    )


@pytest.mark.parametrize(
    ("validity", "now", "then"),
    [
        (Validity(), "holds", "holds"),
        (Validity("2024-01-01"), "holds", "not_yet"),
        (Validity("2023-01-01", "2023-12-31"), "ended", "holds"),
        (Validity(None, "2023-12-31", "b.md"), "superseded", "holds"),
        (Validity(superseded_by="b.md"), "superseded", "holds"),
        (Validity("2023-07-01"), "holds", "holds"),
        (Validity("2025-01-01"), "not_yet", "not_yet"),
    ],
)
def test_a_version_stands_by_its_marks_at_the_time_asked_about(validity, now, then):
    assert state_at(validity, NOW) == now
    assert state_at(validity, IN_2023) == then
    assert state_at(validity, None) == "holds"


def test_what_holds_decides_then_what_replaces_then_what_begins_later():
    old = reading(1, "old.md", Validity("2022-01-01", None, "new.md"))
    new = reading(2, "new.md")
    assert outranks(new, old, NOW)
    assert outranks(old, new, IN_2023)
    first, second = reading(3, "a.md", Validity("2022-01-01")), reading(4, "b.md", Validity("2023-01-01"))
    assert outranks(second, first, NOW)
    assert not outranks(reading(5, "a.md", Validity("2022-01-01")), reading(6, "b.md"), NOW)
    assert not outranks(reading(5, "b.md"), reading(6, "a.md", Validity("2022-01-01")), NOW)
    assert outranks(reading(7, "x_v10.md"), reading(8, "x_v9.md"), NOW)


marks = st.builds(
    Validity,
    st.none() | st.sampled_from(["2022-01-01", "2023-06-01", "2024-01-01", "2025-01-01"]),
    st.none() | st.sampled_from(["2022-12-31", "2023-12-31", "2024-12-31"]),
    st.none() | st.sampled_from(["a.md", "b.md", "c_2023.md"]),
)
readings = st.builds(
    reading, st.integers(1, 3), st.sampled_from(["a.md", "b.md", "c_2023.md", "c_2024.md"]), marks
)


@given(readings, readings, st.sampled_from([NOW, IN_2023, None]))
def test_two_versions_never_decide_against_each_other(one, other, when):
    both = outranks(one, other, when), outranks(other, one, when)
    mutual = (
        one.validity.superseded_by == other.document.path
        and other.validity.superseded_by == one.document.path
    )
    assert both != (True, True) or mutual
    if holds(one, when) != holds(other, when) and one.document.id != other.document.id:
        assert both == (holds(one, when), holds(other, when))


def test_a_chain_of_versions_is_followed_and_a_circle_ends():
    first = reading(1, "a.md", Validity(superseded_by="b.md"))
    second = reading(2, "b.md", Validity(superseded_by="c.md"))
    third = reading(3, "c.md", Validity(superseded_by="a.md"))
    assert [one.document.path for one in replaced_by(third, [first, second, third])] == ["b.md", "a.md"]


def test_documents_are_a_series_when_only_date_or_version_differ():
    assert are_series(reading(1, "x/travel_2023.md"), reading(2, "x/travel_2024.md"))
    assert are_series(reading(1, "p_v1.pdf"), reading(2, "p_v2.pdf"))
    assert not are_series(reading(1, "x/travel_2023.md"), reading(2, "y/travel_2024.md"))
    assert not are_series(reading(1, "S-101.md"), reading(2, "S-102.md"))
    assert not are_series(reading(1, "travel_2023.md"), reading(1, "travel_2023.md"))
