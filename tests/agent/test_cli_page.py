"""The page of the command line is what the help texts say."""

from __future__ import annotations

from pathlib import Path

from quaere.agent.cli_page import page

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def test_page_is_what_help_says() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `python -m quaere.agent.cli_page > docs/cli.md`"


def test_page_has_every_command() -> None:
    commands = ("add", "sync", "search", "ask", "chat", "graph", "sources", "demo")
    assert [name for name in commands if f"\n## quaere {name}\n" not in page()] == []
