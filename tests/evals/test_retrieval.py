"""The retrieval bench on a small collection of our own, with the real encoder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from quaere.evals.datasets import data_folder, read_lines, read_scifact
from quaere.evals.retrieval import MEASURES, Shape, build, encode, judge, main, measure, passages, pool, whole
from quaere.tools.embed import open_encoder
from quaere.tools.errors import UsageError

DOCUMENTS = [
    ("d1", "Tides", "The moon pulls the sea. Spring tides follow the full moon."),
    ("d2", "Bread", "Yeast makes dough rise. Salt slows the yeast down."),
    ("d3", "Bees", "A bee finds nectar and dances to tell the hive where it is."),
    ("d4", "Glass", "Sand, soda and lime melt into glass at 1500 degrees."),
]
QUERIES = [("q1", "Salt slows yeast.", "d2"), ("q2", "Insects lead others towards food.", "d3")]


def write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "data" / "scifact"
    home.mkdir(parents=True)
    write_lines(home / "corpus.jsonl", [{"_id": id, "title": t, "text": text} for id, t, text in DOCUMENTS])
    write_lines(home / "queries.test.jsonl", [{"_id": id, "text": text} for id, text, _ in QUERIES])
    write_lines(
        home / "qrels.test.jsonl", [{"query_id": id, "doc_id": found, "score": 1} for id, _, found in QUERIES]
    )
    write_lines(
        home / "claims.train.jsonl",
        [{"id": "t1", "claim": "Glass is molten sand.", "cited_doc_ids": ["d4", "d1"]}],
    )
    return home.parent


def test_a_set_is_read_with_its_queries_and_judgements(folder: Path) -> None:
    data = read_scifact(folder)
    assert [document.id for document in data.documents] == ["d1", "d2", "d3", "d4"]
    assert data.queries == {id: text for id, text, _ in QUERIES}
    assert data.judgements == {"q1": {"d2": 1}, "q2": {"d3": 1}}
    assert read_scifact(folder / "scifact", "train").judgements == {"t1": {"d4": 1, "d1": 1}}


def test_the_data_folder_is_the_one_given_or_the_one_of_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert data_folder(str(folder)) == folder
    monkeypatch.setenv("QUAERE_DATA", str(folder))
    assert data_folder() == folder
    monkeypatch.delenv("QUAERE_DATA")
    with pytest.raises(UsageError, match="QUAERE_DATA"):
        data_folder()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda home: (home / "corpus.jsonl").unlink(), "corpus.jsonl is not there"),
        (lambda home: (home / "corpus.jsonl").write_text('{"_id": '), "corpus.jsonl:1 is no JSON"),
        (lambda home: (home / "corpus.jsonl").write_text("3"), "corpus.jsonl:1 is no JSON object"),
    ],
)
def test_a_spoilt_set_is_refused_with_the_place(
    folder: Path, spoil: Callable[[Path], object], said: str
) -> None:
    spoil(folder / "scifact")
    with pytest.raises(UsageError, match=said):
        read_scifact(folder)


def test_lines_without_anything_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n\n{"a": 2}\n')
    assert list(read_lines(tmp_path / "a.jsonl")) == [{"a": 1}, {"a": 2}]


def test_every_channel_is_measured_and_meaning_finds_what_words_do_not(folder: Path, tmp_path: Path) -> None:
    data, encoder = read_scifact(folder), open_encoder()
    assert encoder is not None
    pieces = list(passages(data.documents, encoder))
    index = build(pieces, encode(pieces, encoder, tmp_path), Shape())
    figures = measure(data, index, encoder, Shape())
    assert list(figures) == ["keyword", "vector", "hybrid"]
    assert figures["vector"] == [1.0] * len(MEASURES)
    assert figures["hybrid"][2] == 1.0
    assert figures["keyword"][0] < 1.0  # no word of q2 is in d3


def test_without_an_encoder_only_keywords_are_measured(folder: Path) -> None:
    data = read_scifact(folder)
    pieces = list(whole(data.documents))
    assert [piece.document for piece in pieces] == ["d1", "d2", "d3", "d4"]
    assert list(measure(data, build(pieces, None, Shape()), None, Shape())) == ["keyword"]


def test_vectors_are_kept_by_what_they_encode(folder: Path, tmp_path: Path) -> None:
    encoder = open_encoder()
    assert encoder is not None
    pieces = list(whole(read_scifact(folder).documents))
    first = encode(pieces, encoder, tmp_path)
    again = encode([pieces[2], pieces[0]], encoder, tmp_path)
    assert (again == first[[2, 0]]).all()


def test_a_document_stands_where_its_best_passage_stands(folder: Path) -> None:
    pieces = [*whole(read_scifact(folder).documents)] * 2
    assert pool([6, 1, 2, 5, 8], pieces) == ["d2", "d1", "d4"]


def test_figures_are_those_of_the_definitions(folder: Path) -> None:
    data = read_scifact(folder)
    assert judge({"q1": ["d1", "d2"], "q2": ["d1"]}, data) == pytest.approx([0.63093 / 2, 0.5, 0.5], abs=1e-4)
    assert judge({"q1": ["d2"]}, data) == pytest.approx([0.5, 0.5, 0.5])  # a query without a ranking scores 0


def test_the_command_prints_a_table(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(folder), "--cache", str(tmp_path / "cache")]) == 0
    printed = capsys.readouterr().out
    assert "scifact test: 2 queries, 4 documents, 4 passages" in printed
    assert "| hybrid | " in printed


def test_a_missing_folder_is_one_sentence_and_exit_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "nowhere")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
