"""Laws of reciprocal rank fusion, and which texts may stand for one another."""

from __future__ import annotations

from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.tools.rank import RRF_K, Fused, cluster, fuse

ids = st.integers(1, 30)
rankings = st.dictionaries(st.sampled_from("abcd"), st.lists(ids, unique=True, max_size=12), max_size=4)


def test_scores_are_those_of_the_paper() -> None:
    fused = fuse({"keyword": [7, 8], "vector": [8]})
    assert fused == [
        Fused(8, 1 / (RRF_K + 2) + 1 / (RRF_K + 1), {"keyword": 2, "vector": 1}),
        Fused(7, 1 / (RRF_K + 1), {"keyword": 1}),
    ]


@given(rankings, st.randoms())
def test_the_order_of_channels_does_not_matter(given_rankings: dict[str, list[int]], random: object) -> None:
    names = list(given_rankings)
    random.shuffle(names)  # type: ignore[attr-defined]
    assert fuse({name: given_rankings[name] for name in names}) == fuse(given_rankings)


@given(rankings, st.permutations("abcd"))
def test_the_names_of_channels_do_not_matter(given_rankings: dict[str, list[int]], names: list[str]) -> None:
    renamed = {dict(zip("abcd", names, strict=True))[name]: ids for name, ids in given_rankings.items()}
    one, other = fuse(given_rankings), fuse(renamed)
    assert {hit.id for hit in one} == {hit.id for hit in other}
    by_id = {hit.id: hit.score for hit in other}
    assert all(isclose(hit.score, by_id[hit.id]) for hit in one)


@given(rankings)
def test_every_id_stands_once_with_every_rank_it_had(given_rankings: dict[str, list[int]]) -> None:
    fused = fuse(given_rankings)
    found = [hit.id for hit in fused]
    assert sorted(found) == sorted({id for ids in given_rankings.values() for id in ids})
    for hit in fused:
        assert hit.ranks == {
            name: ids.index(hit.id) + 1 for name, ids in given_rankings.items() if hit.id in ids
        }


@given(rankings)
def test_the_best_come_first_and_ties_go_by_id(given_rankings: dict[str, list[int]]) -> None:
    fused = fuse(given_rankings)
    assert fused == sorted(fused, key=lambda hit: (-hit.score, hit.id))


@given(rankings, st.data())
def test_moving_up_in_a_ranking_never_lowers_a_score(
    given_rankings: dict[str, list[int]], data: st.DataObject
) -> None:
    long = [name for name, ids in given_rankings.items() if len(ids) > 1]
    if not long:
        return
    name = data.draw(st.sampled_from(long))
    at = data.draw(st.integers(1, len(given_rankings[name]) - 1))
    raised = list(given_rankings[name])
    raised[at - 1 : at + 1] = raised[at], raised[at - 1]
    before = {hit.id: hit.score for hit in fuse(given_rankings)}
    after = {hit.id: hit.score for hit in fuse({**given_rankings, name: raised})}
    assert after[raised[at - 1]] > before[raised[at - 1]]
    assert after[raised[at]] < before[raised[at]]


@given(st.lists(ids, unique=True, max_size=12))
def test_one_channel_keeps_its_order(ranking: list[int]) -> None:
    assert [hit.id for hit in fuse({"only": ranking})] == ranking


def test_an_id_that_stands_twice_counts_once() -> None:
    assert fuse({"a": [1, 2, 1]}) == fuse({"a": [1, 2]})


def test_weights_weigh_channels() -> None:
    assert [hit.id for hit in fuse({"a": [1], "b": [2]}, weights={"b": 2.0})] == [2, 1]
    assert [hit.id for hit in fuse({"a": [1], "b": [2]}, weights={"b": 0.5})] == [1, 2]


def test_nothing_fuses_to_nothing() -> None:
    assert fuse({}) == fuse({"a": []}) == []


BASE = (
    "The permit holder takes samples of the water each week at the outfall and sends the results to the office "
    "by the end of the month. The discharge limit is 44 mg/L. Records are kept for five years and shown on "
    "request. The holder pays the fee before the permit is renewed, and tells the office of every accident."
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("44 mg/L", "47 mg/L"),
        ("Records are kept", "Records are not kept"),
        ("Records are kept", "Only records are kept"),
        ("The permit holder", "The S-102 holder"),
        ("the fee", "the fine"),
        ("before", "after"),
        ("every accident", "every accident unless it is small"),
        ("are kept", "aren't kept"),
    ],
)
def test_texts_that_differ_in_what_matters_stay_apart(old: str, new: str) -> None:
    assert old in BASE
    assert cluster([BASE, BASE.replace(old, new)]) == [[0], [1]]
    assert cluster([BASE.replace(old, new), BASE]) == [[0], [1]]


def test_texts_that_differ_in_looks_only_are_one() -> None:
    other = BASE.replace("The permit", "**the** permit").replace(" ", "\n", 9).replace("week", "WEEK")
    assert cluster([BASE, "Something else.", other]) == [[0, 2], [1]]


def test_a_text_that_says_more_is_not_hidden_behind_one_that_says_less() -> None:
    longer = BASE + " The office answers within days."
    assert cluster([BASE, longer]) == [[0], [1]]
    assert cluster([longer, BASE]) == [[0, 1]]


def test_numbers_in_another_order_say_something_else() -> None:
    one = BASE + " In 2020 it was 10 and in 2021 it was 20."
    assert cluster([one, BASE + " In 2020 it was 20 and in 2021 it was 10."]) == [[0], [1]]


@given(
    st.lists(st.sampled_from(["a b c d", "a b c", "A b  c d", "", "12 EUR", "not a b c d", BASE]), max_size=8)
)
def test_every_text_is_in_one_group_and_groups_are_in_order(texts: list[str]) -> None:
    groups = cluster(texts)
    assert sorted(i for group in groups for i in group) == list(range(len(texts)))
    assert [group[0] for group in groups] == sorted(group[0] for group in groups)
    assert all(group == sorted(group) for group in groups)


def test_equal_texts_are_one_and_empty_ones_too() -> None:
    assert cluster([BASE, BASE]) == [[0, 1]]
    assert cluster(["", " "]) == [[0, 1]]
    assert cluster([]) == []
