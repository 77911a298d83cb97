"""The progress bar: who sees one, what stands on it, and that it goes away."""

from __future__ import annotations

import io

import pytest
from quaere.agent.progress import showing_progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def drawing_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("NO_COLOR", raising=False)


def drawn(*steps: tuple[str, int, int, str]) -> str:
    terminal = Terminal()
    with showing_progress(terminal) as progress:
        assert progress is not None
        for step in steps:
            progress(*step)
    return terminal.getvalue()


def test_a_pipe_gets_no_bar() -> None:
    pipe = io.StringIO()
    with showing_progress(pipe) as progress:
        assert progress is None
    assert pipe.getvalue() == ""


def test_a_dumb_terminal_gets_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    with showing_progress(Terminal()) as progress:
        assert progress is None


def test_both_stages_are_named_with_their_counts() -> None:
    shown = drawn(("read", 1, 2, "a.md"), ("encode", 2, 7, ""))
    assert "reading" in shown
    assert "1/2" in shown
    assert "encoding" in shown
    assert "2/7" in shown
    assert "a.md" in shown


def test_names_of_files_cannot_steer_the_terminal_or_the_bar() -> None:
    shown = drawn(("read", 1, 2, "[red]a\x1b]0;x\x07\n.md"))
    assert "\x07" not in shown
    assert "[red]a<U+001B>]0;x<U+0007><U+000A>.md" in shown


def test_a_long_name_keeps_its_end() -> None:
    shown = drawn(("read", 1, 2, "x" * 300 + ".md"))
    assert "…" + "x" * 36 + ".md" in shown
    assert "x" * 37 not in shown


def test_no_color_takes_the_colours_away(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[38" in drawn(("read", 1, 2, "")) or "\x1b[3" in drawn(("read", 1, 2, ""))
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in drawn(("read", 1, 2, ""))
