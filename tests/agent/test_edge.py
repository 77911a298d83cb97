"""The edge of the process: every failure is one sentence with its exit code."""

from __future__ import annotations

import errno
import sqlite3

import pytest
from quaere.agent.edge import run_at_edge, sentence
from quaere.tools.errors import BudgetSpentError, EmptyFileError, QuaereError, UsageError, WorkspaceError


def failing(error: BaseException) -> int:
    raise error


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (QuaereError("it is so"), 1),
        (UsageError("it is so"), 2),
        (WorkspaceError("it is so"), 2),
        (EmptyFileError("it is so"), 2),
        (BudgetSpentError("steps", "it is so"), 4),
        (OSError(errno.ENOSPC, "No space left on device", "/a/b"), 1),
        (sqlite3.OperationalError("database or disk is full"), 1),
        (RuntimeError("several\nlines"), 1),
        (KeyError(), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_failure_is_one_sentence_with_its_code(
    error: BaseException, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_at_edge(lambda: failing(error)) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("quaere: ")
    assert shown.err.count("\n") == 1


def test_success_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_at_edge(lambda: 3) == 3
    assert capsys.readouterr() == ("", "")


def test_sentence_names_the_file_and_the_way_out() -> None:
    assert sentence(OSError(errno.EACCES, "Permission denied", b"/a/b\xff")) == (
        "/a/b\udcff: Permission denied; choose a place you may read and write"
    )
    assert "free space" in sentence(sqlite3.OperationalError("disk I/O error"))
    assert "QUAERE_DEBUG=1" in sentence(ZeroDivisionError())


def test_names_in_errors_cannot_steer_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    run_at_edge(lambda: failing(UsageError("no folder \x1b[2J\u202e")))
    assert capsys.readouterr().err == "quaere: no folder <U+001B>[2J<U+202E>\n"
