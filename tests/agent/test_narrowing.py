"""What --source, --path, --label and --as-of ask for, and what of it is refused."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from quaere import Agent
from quaere.agent.narrowing import narrowing, read_as_of, read_labels
from quaere.agent.options import AskOptions
from quaere.tools.errors import UsageError
from quaere.tools.evidence import Filter


def test_all_options_become_one_filter(tmp_path: Path) -> None:
    given = AskOptions(
        words=["x"], paths=["*.md"], labels=["team=hr", "team = it", "lang=en=us"], as_of=" 2024-02-29 "
    )
    with Agent.open(tmp_path) as agent:
        assert narrowing(given, agent) == Filter(
            paths=("*.md",),
            labels={"team": ("hr", "it"), "lang": ("en=us",)},
            valid_at=date(2024, 2, 29),
        )


def test_without_options_nothing_is_narrowed(tmp_path: Path) -> None:
    with Agent.open(tmp_path) as agent:
        assert narrowing(AskOptions(words=["x"]), agent) == Filter()


@pytest.mark.parametrize("text", ["team", "team=", "=hr", "=", "", " = "])
def test_a_label_without_key_or_value_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"is no label; write it as KEY=VALUE, such as team=hr$"):
        read_labels([text])


@pytest.mark.parametrize(
    "text",
    ["2023-02-29", "2024-13-01", "20240101", "1.2.2024", "today", "", "2024-01-01T00:00", "２０２４-01-01"],
)
def test_a_day_that_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"is no day; write it as 2024-01-31$"):
        read_as_of(text)
