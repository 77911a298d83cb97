"""BM25 over posting lists equals `rank_bm25.BM25Okapi` on the allowed passages, whatever the segments are."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from quaere.tools import postings
from quaere.tools.analyze import terms
from quaere.tools.keyword import K1, B, Keyword
from quaere.tools.postings import merge_segments, write_segment
from rank_bm25 import BM25Okapi

WORDS = ("a", "b", "c", "d", "e", "ab", "§12")


class Oracle(BM25Okapi):
    """The reference with the idf that is never negative."""

    def _calc_idf(self, nd: dict[str, int]) -> None:
        for word, found in nd.items():
            self.idf[word] = math.log(1 + (self.corpus_size - found + 0.5) / (found + 0.5))


@dataclass
class Shelf:
    """An index in memory with what was put into it; ids count from 1, as in the corpus."""

    db: sqlite3.Connection
    passages: dict[int, list[str]] = field(default_factory=dict)
    versions: dict[int, list[int]] = field(default_factory=dict)

    def put(self, document: Sequence[Sequence[str]]) -> None:
        version = len(self.versions) + 1
        ids = [len(self.passages) + 1 + at for at in range(len(document))]
        self.versions[version] = ids
        self.passages |= {id: list(found) for id, found in zip(ids, document, strict=True)}
        self.db.execute("INSERT INTO versions VALUES (?, NULL)", (version,))
        write_segment(self.db, [(id, version, self.passages[id]) for id in ids])

    def end(self, version: int) -> None:
        self.db.execute("UPDATE versions SET died = 1 WHERE id = ?", (version,))

    def mask(self, allowed: set[int]) -> NDArray[np.bool_]:
        return np.array([id in allowed for id in range(len(self.passages) + 1)])


def shelf(documents: Sequence[Sequence[Sequence[str]]] = ()) -> Shelf:
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.executescript(postings.SCHEMA + "CREATE TABLE versions(id INTEGER PRIMARY KEY, died INTEGER);")
    made = Shelf(db)
    for document in documents:
        made.put(document)
    return made


passages = st.lists(st.sampled_from(WORDS), max_size=12)
documents = st.lists(st.lists(passages, min_size=1, max_size=4), max_size=24)
queries = st.lists(st.sampled_from((*WORDS, "unknown")), max_size=6)


def expected(
    index: Shelf, allowed: set[int], query: list[str], shape: tuple[float, float]
) -> dict[int, float]:
    """Return the reference's score of each allowed passage."""
    ids = sorted(allowed)
    corpus = [index.passages[id] for id in ids]
    if not any(corpus):  # the reference divides by zero here
        return dict.fromkeys(ids, 0.0)
    return dict(zip(ids, Oracle(corpus, k1=shape[0], b=shape[1]).get_scores(query), strict=True))


@settings(max_examples=150, deadline=None)
@given(documents=documents, query=queries, data=st.data())
def test_scores_equal_the_reference_over_the_allowed_passages(
    documents: list[list[list[str]]], query: list[str], data: st.DataObject
) -> None:
    index = shelf()
    merging = data.draw(st.integers(1, 12), "merge after")
    for n, document in enumerate(documents, 1):
        index.put(document)
        if data.draw(st.booleans(), "dies"):
            index.end(data.draw(st.integers(1, n), "which"))
        if n % merging == 0:
            merge_segments(index.db)
    dead = {row[0] for row in index.db.execute("SELECT id FROM versions WHERE died IS NOT NULL")}
    living = {id for version, ids in index.versions.items() if version not in dead for id in ids}
    allowed = {id for id in sorted(living) if data.draw(st.integers(0, 3), "allowed")}
    shape = data.draw(st.tuples(st.sampled_from([0.3, 0.9, K1, 2.0]), st.sampled_from([0.0, 0.4, B, 0.9])))
    keyword = Keyword(index.db, index.mask(allowed), *shape)

    scores = expected(index, allowed, query, shape)
    assert keyword.get_scores(query) == pytest.approx(list(scores.values()), abs=1e-9)
    ranking = sorted(
        ((id, score) for id, score in scores.items() if score > 0), key=lambda hit: (-hit[1], hit[0])
    )
    found = keyword.search(query, len(scores) + 1)
    assert [id for id, _ in found] == [id for id, _ in ranking]
    assert [score for _, score in found] == pytest.approx([score for _, score in ranking], abs=1e-9)
    k = data.draw(st.integers(0, 5), "k")
    assert keyword.search(query, k) == found[:k]


@settings(max_examples=60, deadline=None)
@given(documents=documents, query=queries, data=st.data())
def test_hidden_passages_change_nothing(
    documents: list[list[list[str]]], query: list[str], data: st.DataObject
) -> None:
    index = shelf(documents)
    allowed = {id for id in index.passages if data.draw(st.booleans())}
    alone = shelf()
    alone.passages = {id: index.passages[id] for id in index.passages}
    write_segment(alone.db, [(id, 1, index.passages[id]) for id in sorted(allowed)])
    one, other = Keyword(index.db, index.mask(allowed)), Keyword(alone.db, index.mask(allowed))
    assert one.search(query, 10) == other.search(query, 10)
    assert one.document_frequency(query) == other.document_frequency(query)


def test_a_word_in_half_or_all_of_a_small_collection_still_counts() -> None:
    index = shelf([[terms("The vault code is heron")], [terms("The kitchen opens at nine")]])
    both = Keyword(index.db, index.mask({1, 2}))
    assert [id for id, _ in both.search(terms("vault heron"), 10)] == [1]
    alone = Keyword(index.db, index.mask({1}))
    assert [id for id, _ in alone.search(terms("vault"), 10)] == [1]


def test_identifiers_are_found_by_their_words_and_in_any_spelling() -> None:
    api = "Call get_user_by_id(uid), then parseHTMLResponse(body)."
    others = [
        "The user pays.",
        "Parse dates with care.",
        "By the river.",
        "An id is a number.",
        "A response.",
    ]
    index = shelf([[terms(text)] for text in (*others, api)])
    keyword = Keyword(index.db, index.mask(set(index.passages)))
    for query in ("user by id", "parse html response", "getUserById", "get_user_by_id", "parsehtmlresponse"):
        assert keyword.search(terms(query), 10)[0][0] == 6, query


def test_asking_for_more_than_there_is_returns_what_there_is() -> None:
    index = shelf([[terms("A badge costs 12 EUR.")]])
    keyword = Keyword(index.db, index.mask({1}))
    assert [id for id, _ in keyword.search(terms("What does a badge cost?"), 20)] == [1]
    assert keyword.search(terms("badge"), 0) == keyword.search(terms("badge"), -3) == []


@pytest.mark.parametrize("make", [lambda: shelf(), lambda: shelf([[[]], [[]]])])
def test_an_empty_collection_has_no_hits(make: Callable[[], Shelf]) -> None:
    index = make()
    keyword = Keyword(index.db, index.mask(set(index.passages)))
    assert keyword.search(["fee"], 5) == []
    assert keyword.document_frequency(["fee"]) == {"fee": 0}
    assert not keyword.get_scores(["fee"]).any()


def test_equal_scores_are_ordered_by_id() -> None:
    index = shelf([[["x"], ["x"]], [["x"], ["y"]], [["x"]]])
    keyword = Keyword(index.db, index.mask(set(index.passages)))
    assert [id for id, _ in keyword.search(["x"], 3)] == [1, 2, 3]


def test_passages_written_after_the_mask_was_made_are_not_seen() -> None:
    index = shelf([[["x"]]])
    keyword = Keyword(index.db, index.mask({1}))
    index.put([["x", "x"]])
    assert [id for id, _ in keyword.search(["x"], 5)] == [1]


def test_the_methods_of_the_parent_class_work() -> None:
    index = shelf([[["x", "y"]], [["y"]], [["z"]]])
    keyword = Keyword(index.db, index.mask({1, 3}))
    assert isinstance(keyword, BM25Okapi)
    assert keyword.get_batch_scores(["z"], [1])[0] > 0
    assert keyword.get_top_n(["z"], ["first", "third"], n=1) == ["third"]


def skewed(seed: int) -> tuple[Shelf, list[str]]:
    """Return 600 passages in which some words stand nearly everywhere, and the rare words."""
    chance = np.random.default_rng(seed)
    rare = [f"rare{i}" for i in range(60)]
    made = [
        [
            *chance.choice(WORDS[:4], int(chance.integers(1, 12))),
            *chance.choice(rare, int(chance.integers(0, 2))),
        ]
        for _ in range(600)
    ]
    return shelf([made[at : at + 20] for at in range(0, 600, 20)]), rare


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**16), k=st.integers(1, 12), data=st.data())
def test_stopping_early_finds_what_adding_everything_up_finds(seed: int, k: int, data: st.DataObject) -> None:
    index, rare = skewed(seed)
    query = data.draw(st.lists(st.sampled_from([*WORDS[:4], *rare]), min_size=1, max_size=8))
    hidden = data.draw(st.sets(st.integers(1, 600), max_size=200))
    keyword = Keyword(index.db, index.mask(set(index.passages) - hidden))
    scores = np.zeros(len(index.passages) + 1)
    scores[sorted(set(index.passages) - hidden)] = keyword.get_scores(query)
    order = np.lexsort((np.arange(len(scores)), -scores))[:k]
    assert keyword.search(query, k) == [(int(id), float(scores[id])) for id in order if scores[id] > 0]


def test_words_that_stand_everywhere_are_only_looked_up() -> None:
    index, rare = skewed(1)
    keyword = Keyword(index.db, index.mask(set(index.passages)))
    assert keyword.search([*rare[:5], "a", "b"], 3)
    assert not {"a", "b"} & keyword._weights.keys()
