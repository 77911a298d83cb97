"""A workspace from a mapping of file names to contents, with the real encoder and the real graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from quaere.agent.assemble import Agent

Files = Mapping[str, str | bytes]


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Callable[[Files], Agent]]:
    """Give a function that writes files, indexes them and returns the agent over them."""
    opened: list[Agent] = []

    def make(files: Files) -> Agent:
        folder = tmp_path / f"docs{len(opened)}"
        home = tmp_path / f"home{len(opened)}"
        home.mkdir()
        write_files(folder, files)
        agent = Agent.open(home)
        opened.append(agent)
        agent.add(folder)
        return agent

    yield make
    for agent in opened:
        agent.close()


def write_files(folder: Path, files: Files) -> None:
    """Write the files below a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
