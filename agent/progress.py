"""A progress bar on stderr while files are indexed; only a person at a terminal gets one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from .terminal import clean_name

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from ..tools.index import Progress
    from ..tools.sync import SyncReport
    from .assemble import Agent

STAGES = {"read": "reading", "encode": "encoding", "index": "indexing"}
LONGEST_DETAIL = 40


def run_sync(agent: Agent, location: str | None = None) -> SyncReport:
    """Add a location, or sync everything, under a progress bar."""
    with showing_progress() as progress:
        return agent.sync(progress) if location is None else agent.add(location, progress)


@contextmanager
def showing_progress(stream: TextIO | None = None) -> Iterator[Progress | None]:
    """Give the progress callback of a bar on stderr, or None where nobody would see it."""
    target = stream or sys.stderr
    if not draws_on(target):
        yield None
        return
    with _bar(target) as bar:
        yield _Stages(bar)


def draws_on(stream: TextIO) -> bool:
    """Tell whether a bar can be drawn: on a terminal that moves its cursor."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _bar(stream: TextIO) -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[detail]}", markup=False),
        console=Console(file=stream),
        transient=True,
    )


class _Stages:
    """One task of the bar a stage, made when the stage begins."""

    def __init__(self, bar: Bar) -> None:
        self._bar = bar
        self._opening: TaskID | None = bar.add_task("preparing", total=None, detail="the encoder")
        self._tasks: dict[str, TaskID] = {}

    def __call__(self, stage: str, done: int, total: int, detail: str) -> None:
        if self._opening is not None:
            self._bar.remove_task(self._opening)
            self._opening = None
        if stage not in self._tasks:
            self._tasks[stage] = self._bar.add_task(STAGES.get(stage, stage), total=total, detail="")
        name = clean_name(detail)
        short = name if len(name) <= LONGEST_DETAIL else "…" + name[1 - LONGEST_DETAIL :]
        self._bar.update(self._tasks[stage], completed=done, total=total, detail=short)
