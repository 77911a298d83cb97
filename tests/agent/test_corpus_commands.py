"""remove, remove --purge, sources and doctor as a user runs them: what is printed, and the exit codes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from quaere import Agent
from quaere.agent.cli import app
from quaere.agent.clock import ago
from quaere.tools.errors import UsageError
from typer.testing import CliRunner, Result

BADGE = "# Badge\n\nA badge costs 12 EUR and opens the front door.\n"
SECRET = "# Strongroom\n\nThe combination of the strongroom is Ottokar 4711.\n"

Run = Callable[..., Result]


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "badge.md").write_text(BADGE, "utf-8")
    (folder / "strongroom.md").write_text(SECRET, "utf-8")
    return folder


@pytest.fixture
def quaere(tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in a folder whose documents are indexed."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str | Path) -> Result:
        return CliRunner().invoke(app, [str(one) for one in arguments])

    assert run("add", docs).exit_code == 0
    return run


def found(quaere: Run, query: str) -> list[str]:
    hits = json.loads(quaere("search", "--json", query).stdout)["hits"]
    return [hit["document"] for hit in hits]


def bytes_of(folder: Path) -> bytes:
    return b"\0".join(path.read_bytes() for path in (folder / ".quaere").rglob("*") if path.is_file())


def test_remove_takes_a_source_out_of_every_answer(quaere: Run, tmp_path: Path) -> None:
    result = quaere("remove", "docs")
    assert result.exit_code == 0
    assert result.stdout.startswith("removed the source docs: 2 documents\n")
    assert "quaere remove --purge docs" in result.stdout
    assert found(quaere, "badge") == []
    assert b"Ottokar" in bytes_of(tmp_path)


@pytest.mark.parametrize("moved", [False, True])
def test_a_source_can_be_named_by_where_it_lies_also_when_it_was_moved_away(
    quaere: Run, docs: Path, moved: bool
) -> None:
    if moved:
        docs.rename(docs.with_name("elsewhere"))
    assert json.loads(quaere("remove", docs, "--json").stdout) == {
        "source": "docs",
        "documents": 2,
        "failures": 0,
        "kept": [],
        "is_whole": True,
    }


def test_an_unknown_source_is_usage_and_names_the_nearest(quaere: Run) -> None:
    result = quaere("remove", "dosc")
    assert result.exit_code == 2
    assert result.stderr == "quaere: there is no source 'dosc'; did you mean 'docs'?\n"


def test_by_path_what_would_come_back_is_refused_with_the_way_out(quaere: Run, docs: Path) -> None:
    result = quaere("remove", "docs", "--path", "strong*")
    assert result.exit_code == 2
    assert "corpus.exclude" in result.stderr
    (docs / "strongroom.md").unlink()
    result = quaere("remove", "docs", "--path", "*.md")
    assert result.exit_code == 0
    assert result.stdout.startswith("removed 1 document of docs\nkept: badge.md would come back")
    assert found(quaere, "badge") == ["badge.md"]


def test_purge_prints_a_receipt_and_leaves_nothing(quaere: Run, tmp_path: Path, docs: Path) -> None:
    (docs / "strongroom.md").unlink()
    result = quaere("remove", "--purge", "docs", "--path", "strong*")
    assert result.exit_code == 0
    head, *_ = lines = result.stdout.splitlines()
    assert head.startswith("purged docs: 1 document, 1 version, 1 passage, 1 text, 1 vector, ")
    assert any(line.startswith("looked for ") and line.endswith("found 0") for line in lines)
    assert "beyond quaere's reach" in lines[-1]
    assert b"Ottokar" not in bytes_of(tmp_path)
    assert found(quaere, "badge") == ["badge.md"]


def test_purge_json_and_exit_code_6_when_something_is_left(quaere: Run, tmp_path: Path) -> None:
    (tmp_path / ".quaere" / "old.bak").write_text(SECRET, "utf-8")
    result = quaere("remove", "--purge", "docs", "--json")
    assert result.exit_code == 6
    receipt = json.loads(result.stdout)
    assert receipt["clean"] is False
    assert [leak["file"] for leak in receipt["leaks"]] == ["old.bak"]
    assert receipt["removed"]["documents"] == 2
    shown = quaere("doctor")
    assert shown.exit_code == 6
    assert "old.bak" in shown.stdout
    (tmp_path / ".quaere" / "old.bak").unlink()
    assert quaere("doctor", "--repair").exit_code == 0


def test_what_was_removed_before_can_be_purged_by_its_name(quaere: Run, tmp_path: Path) -> None:
    quaere("remove", "docs")
    assert quaere("remove", "--purge", "docs").exit_code == 0
    assert b"Ottokar" not in bytes_of(tmp_path)
    assert quaere("remove", "--purge", "docs").exit_code == 2


def test_sources_tell_vectors_labels_and_ages(quaere: Run, tmp_path: Path) -> None:
    (tmp_path / "quaere.toml").write_text(
        '[[rules]]\npath = "badge.md"\nlabels = {team = "desk"}\n[people.ann]\nallowed = {team = ["desk"]}\n',
        "utf-8",
    )
    shown = quaere("sources").stdout
    assert "2 documents, 2 passages, all with a vector\n" in shown
    assert "added just now, last indexed just now" in shown
    assert "labels: team=desk" in shown
    [source] = json.loads(quaere("sources", "--json").stdout)["sources"]
    assert (source["kind"], source["vectors"], source["labels"]) == ("files", 2, {"team": ["desk"]})
    assert datetime.fromisoformat(source["added_at"])
    [source] = json.loads(quaere("sources", "--json", "--as", "ann").stdout)["sources"]
    assert (source["documents"], source["passages"], source["vectors"]) == (1, 1, 1)


def test_doctor_is_well_after_an_add_and_says_so(quaere: Run) -> None:
    result = quaere("doctor")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1].endswith(" 0 failed")
    report = json.loads(quaere("doctor", "--json").stdout)
    assert report["sound"] is True
    assert {"weights", "libraries", "keyword index", "vectors"} <= {one["name"] for one in report["checks"]}


def test_doctor_finds_damage_and_mends_it(quaere: Run, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / ".quaere" / "corpus.db")) as db, db:
        db.execute("DELETE FROM postings WHERE term = 'badg'")
    result = quaere("doctor")
    assert result.exit_code == 6
    assert "→ run `quaere doctor --repair`" in result.stdout
    mended = quaere("doctor", "--repair")
    assert mended.exit_code == 0
    assert mended.stdout.startswith("repaired keyword index: made anew from the texts of 2 passages\n")
    assert found(quaere, "badge")[0] == "badge.md"


def test_doctor_examines_an_index_that_cannot_be_opened(quaere: Run, tmp_path: Path) -> None:
    (tmp_path / ".quaere" / "corpus.db").write_bytes(b"no database" * 100)
    result = quaere("doctor", "--json")
    assert result.exit_code == 6
    assert [one["name"] for one in json.loads(result.stdout)["checks"] if one["state"] == "failed"] == [
        "pages"
    ]


def test_doctor_without_an_index_looks_at_what_quaere_stands_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 0
    assert "quaere add FOLDER" in result.stdout
    assert not (tmp_path / ".quaere").exists()


def test_from_python_only_the_owner_removes_purges_and_examines(quaere: Run, tmp_path: Path) -> None:
    (tmp_path / "quaere.toml").write_text('[people.ann]\nallowed = {team = ["desk"]}\n', "utf-8")
    with Agent.open(tmp_path, access="ann") as agent:
        for act in (lambda: agent.remove("docs"), lambda: agent.purge("docs"), agent.doctor):
            with pytest.raises(UsageError, match="that is for the owner"):
                act()
    with Agent.open(tmp_path) as agent:
        assert agent.doctor().is_sound
        assert agent.remove("docs").documents == 2
        assert agent.purge("docs").is_clean


@pytest.mark.parametrize(
    ("moment", "said"),
    [
        ("2026-12-01T12:00:00Z", "just now"),
        ("2026-12-01T11:59:00Z", "1 minute ago"),
        ("2026-12-01T09:01:00Z", "2 hours ago"),
        ("2026-11-28T12:00:00Z", "3 days ago"),
        ("2026-09-01T12:00:00Z", "3 months ago"),
        ("2020-12-01T12:00:00Z", "6 years ago"),
        ("2026-12-02T12:00:00Z", "just now"),
    ],
)
def test_ages_are_told_in_words(moment: str, said: str) -> None:
    assert ago(moment, datetime(2026, 12, 1, 12, tzinfo=UTC)) == said
