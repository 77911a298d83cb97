"""Stored labels follow the rules: at sync, at once when rules change, after a move, and never the wrong ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from quaere.tools.corpus import Corpus
from quaere.tools.evidence import NO_FILTER, OWNER, Access, Validity
from quaere.tools.index import IndexSettings
from quaere.tools.relabel import apply_rulebook, rules_mark
from quaere.tools.rulebook import NO_RULES, Rule, Rulebook
from quaere.tools.sync import add_source, sync_all

RED = Access("ana", allowed={"team": frozenset({"red"})})
RULES = Rulebook((Rule("docs", "red/**", {"team": "red"}), Rule(path="blue/**", labels={"team": "blue"})))
FILES = {"red/a.md": "# A\n\nRed words.", "blue/b.md": "# B\n\nBlue words.", "c.md": "# C\n\nBare words."}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "docs"


@pytest.fixture
def corpus(tmp_path: Path, docs: Path) -> Iterator[Corpus]:
    opened = Corpus.create(tmp_path / ".quaere")
    add_source(opened, str(docs))
    sync_all(opened, None, IndexSettings(rulebook=RULES))
    yield opened
    opened.close()


def labels(corpus: Corpus) -> dict[str, dict[str, str]]:
    return {one.path: dict(one.labels) for one in corpus.reader(OWNER, NO_FILTER).documents()}


def seen(corpus: Corpus, access: Access = RED) -> list[str]:
    return [one.path for one in corpus.reader(access, NO_FILTER).documents()]


def test_sync_labels_documents_by_source_and_path(corpus: Corpus) -> None:
    assert labels(corpus) == {"red/a.md": {"team": "red"}, "blue/b.md": {"team": "blue"}, "c.md": {}}
    assert seen(corpus) == ["red/a.md"]


def test_the_same_rules_are_applied_once_and_make_no_revision(corpus: Corpus) -> None:
    before = corpus.revision
    assert not apply_rulebook(corpus, RULES)
    assert corpus.revision == before


def test_changed_rules_hold_at_once_in_one_revision_without_the_files(corpus: Corpus, docs: Path) -> None:
    for name in FILES:
        (docs / name).unlink()
    before = corpus.revision
    assert apply_rulebook(corpus, Rulebook((Rule(path="c.md", labels={"team": "red"}),)))
    assert labels(corpus) == {"red/a.md": {}, "blue/b.md": {}, "c.md": {"team": "red"}}
    assert corpus.revision == before + 1


def test_rules_that_change_no_label_make_no_revision(corpus: Corpus) -> None:
    before = corpus.revision
    assert apply_rulebook(corpus, Rulebook((*RULES.rules, Rule("wiki", labels={"team": "red"}))))
    assert corpus.revision == before


def test_a_reader_made_before_sees_the_new_labels(corpus: Corpus) -> None:
    reader = corpus.reader(RED, NO_FILTER)
    found = reader.keyword(["red"], 5)
    apply_rulebook(corpus, NO_RULES)
    assert reader.keyword(["red"], 5) == []
    assert reader.readings([id for id, _ in found]) == {}
    assert found


def test_validity_is_made_anew_with_the_rules(corpus: Corpus) -> None:
    apply_rulebook(corpus, Rulebook((Rule(path="c.md", validity=Validity("2024-01-01", None, "a.md")),)))
    reader = corpus.reader(OWNER, NO_FILTER)
    by_path = {one.document.path: one.validity for one in reader.readings(range(1, 10)).values()}
    assert by_path["c.md"] == Validity("2024-01-01", None, "red/a.md")
    apply_rulebook(corpus, NO_RULES)
    reader = corpus.reader(OWNER, NO_FILTER)
    assert {one.validity for one in reader.readings(range(1, 10)).values()} == {Validity()}


@pytest.mark.parametrize(("target", "team"), [("blue/a.md", "blue"), ("a.md", None), ("red/other.md", "red")])
def test_a_moved_file_has_the_labels_of_its_new_place(
    corpus: Corpus, docs: Path, target: str, team: str | None
) -> None:
    (docs / "red/a.md").rename(docs / target)
    report = sync_all(corpus, None, IndexSettings(rulebook=RULES))
    assert (report.renamed, report.new) == (1, 0)
    assert labels(corpus)[target] == ({"team": team} if team else {})


def test_a_file_that_comes_back_has_the_labels_the_rules_give_now(corpus: Corpus, docs: Path) -> None:
    text = (docs / "red/a.md").read_text()
    (docs / "red/a.md").unlink()
    sync_all(corpus, None, IndexSettings(rulebook=RULES))
    (docs / "red/a.md").write_text(text)
    sync_all(corpus, None, IndexSettings(rulebook=NO_RULES))
    assert labels(corpus)["red/a.md"] == {}


def test_what_a_text_says_about_labels_gives_none(corpus: Corpus, docs: Path) -> None:
    (docs / "c.md").write_text("---\nlabels: {team: red}\nteam: red\n---\n\n# C\n\nteam: red\n")
    sync_all(corpus, None, IndexSettings(rulebook=Rulebook((*RULES.rules, Rule(front_matter=True)))))
    assert labels(corpus)["c.md"] == {}


@pytest.mark.parametrize("change", ["new", "changed", "moved"])
def test_a_sync_that_began_under_older_rules_shows_nothing_by_them(
    corpus: Corpus, docs: Path, change: str
) -> None:
    if change == "moved":
        (docs / "c.md").rename(docs / "red" / "c.md")
    else:
        (docs / ("red/d.md" if change == "new" else "red/a.md")).write_text("# D\n\nNew words.")

    def forbid(stage: str, done: int, total: int, detail: str) -> None:
        apply_rulebook(corpus, NO_RULES)

    (docs / "0.md").write_text("# First\n\nThe rules change after this one is read.")
    sync_all(corpus, None, IndexSettings(rulebook=RULES), forbid)
    assert seen(corpus) == []
    assert corpus.rules in (None, rules_mark(NO_RULES))
    apply_rulebook(corpus, NO_RULES)
    assert set(map(str, labels(corpus).values())) == {"{}"}
