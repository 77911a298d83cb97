"""The page of the command line is what the help texts say now."""

from __future__ import annotations

from pathlib import Path

import pytest
from quaere.agent.cli_page import page

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def test_page_is_current() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `python -m quaere.agent.cli_page > docs/cli.md`"


def test_page_does_not_depend_on_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = page()
    monkeypatch.setenv("COLUMNS", "40")
    assert page() == whole


@pytest.mark.parametrize("command", ["add", "sync", "search", "ask", "chat", "graph", "sources", "demo"])
def test_every_command_has_its_section(command: str) -> None:
    assert f"\n## quaere {command}\n" in page()
