"""--as, --label and --as-of on the command line: what is shown, what is refused, with which exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from quaere import Agent
from quaere.agent.cli import app
from quaere.tools.errors import UsageError
from typer.testing import CliRunner

USAGE = UsageError.exit_code
PRICE = "What does a badge cost?"
RULES = """
[[rules]]
path = "badge_20*.md"
labels = {team = "desk"}

[[rules]]
path = "pay.md"
labels = {team = "hr"}

[[rules]]
path = "badge_2024.md"
valid_from = 2024-07-01

[[rules]]
path = "badge_2023.md"
valid_from = 2023-01-01
superseded_by = "badge_2024"

[people.alice]
allowed = {team = ["desk"]}
"""
FILES = {
    "badge_2023.md": "# Badges\n\nA badge costs 12 EUR.",
    "badge_2024.md": "# Badges\n\nA badge costs 15 EUR.",
    "pay.md": "# Pay\n\nThe bonus pool is 90,000 EUR.",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("home")
    (folder / "docs").mkdir()
    for name, text in FILES.items():
        (folder / "docs" / name).write_text(text)
    (folder / "quaere.toml").write_text(RULES)
    with Agent.open(folder) as agent:
        agent.add(folder / "docs")
    return folder


def run(home: Path, *words: str, stdin: str | None = None) -> Any:
    return CliRunner().invoke(app, [words[0], "-C", str(home), *words[1:]], input=stdin)


def hits(home: Path, *words: str) -> set[str]:
    done = run(home, "search", "--json", *words, "badge bonus")
    assert done.exit_code == 0, done.output
    return {hit["document"] for hit in json.loads(done.stdout)["hits"]}


def test_search_shows_what_the_person_may_read(home: Path) -> None:
    assert hits(home) == set(FILES)
    assert hits(home, "--as", "owner") == set(FILES)
    assert hits(home, "--as", "alice") == {"badge_2023.md", "badge_2024.md"}


def test_labels_narrow_and_never_widen(home: Path) -> None:
    assert hits(home, "--label", "team=hr") == {"pay.md"}
    assert hits(home, "--label", "team=hr", "--label", "team=desk") == set(FILES)
    assert hits(home, "--label", "team=hr", "--label", "class=open") == set()
    assert hits(home, "--label", "team=hr", "--as", "alice") == set()


@pytest.mark.parametrize(
    ("day", "found"),
    [
        ("2022-12-31", {"pay.md"}),
        ("2023-01-01", {"pay.md", "badge_2023.md"}),
        ("2024-06-30", {"pay.md", "badge_2023.md"}),
        ("2024-07-01", {"pay.md", "badge_2024.md"}),
    ],
)
def test_as_of_a_day_only_what_held_is_searched(home: Path, day: str, found: set[str]) -> None:
    assert hits(home, "--as-of", day) == found


def test_ask_as_of_a_day_answers_from_the_version_that_held(home: Path) -> None:
    for day, price in (("2023-05-01", "12 EUR"), ("2024-08-01", "15 EUR")):
        done = run(home, "ask", "--as", "alice", "--as-of", day, PRICE)
        assert (done.exit_code, price in done.stdout) == (0, True), done.output


def test_ask_says_nothing_of_what_the_person_may_not_read(home: Path) -> None:
    done = run(home, "ask", "--json", "--as", "alice", "How much is the bonus pool?")
    assert done.exit_code == 3
    assert "90,000" not in done.output
    assert "pay.md" not in done.output


def test_a_chat_is_held_as_somebody(home: Path) -> None:
    done = run(home, "chat", "--as", "alice", stdin=f"How much is the bonus pool?\n{PRICE}\n/sources\n")
    assert done.exit_code == 0
    assert "90,000" not in done.output
    assert "15 EUR" in done.output
    assert "2 documents" in done.output


def test_sources_count_what_the_person_may_read(home: Path) -> None:
    told = json.loads(run(home, "sources", "--json", "--as", "alice").stdout)["sources"]
    assert [(one["id"], one["documents"], one["passages"]) for one in told] == [("docs", 2, 2)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ask", "--as", "alcie", "x"), "nobody is named 'alcie' in quaere.toml; did you mean 'alice'?"),
        (("sources", "--as", "bob"), "nobody is named 'bob' in quaere.toml; known are alice"),
        (("ask", "--as", "", "x"), "nobody is named '' in quaere.toml; known are alice"),
        (("ask", "--as-of", "2023-02-29", "x"), "--as-of '2023-02-29' is no day; write it as 2024-01-31"),
        (("search", "--as-of", "July", "x"), "--as-of 'July' is no day; write it as 2024-01-31"),
        (("search", "--label", "team", "x"), "--label 'team' is no label; write it as KEY=VALUE"),
        (("ask", "--as", "alice", "--sync", "x"), "alice may ask but not sync; that is for the owner"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(home: Path, words: tuple[str, ...], message: str) -> None:
    done = run(home, *words)
    assert done.exit_code == USAGE
    assert message in done.stderr
    assert done.stdout == ""
