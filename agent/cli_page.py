"""Write docs/cli.md from the help texts: `python -m quaere.agent.cli_page > docs/cli.md`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer.main

from .cli import app
from .terminal import emit

WIDTH = 80

INTRODUCTION = """\
# The command line

This page is made of the help texts by `python -m quaere.agent.cli_page > docs/cli.md`;
a test keeps it current.
"""


def page() -> str:
    """Return the page: the help of the program, then that of each command."""
    group: Any = typer.main.get_command(app)
    parts = [INTRODUCTION, *_section(group, "quaere")]
    for name in group.commands:
        parts += _section(group.commands[name], f"quaere {name}")
    return "\n".join(parts)


def _section(command: Any, title: str) -> Iterator[str]:  # noqa: ANN401  (typer's own command class is private)
    with command.make_context(title, [], resilient_parsing=True, max_content_width=WIDTH) as context:
        context.terminal_width = WIDTH
        text = command.get_help(context)
    yield f"## {title}\n"
    yield f"```text\n{text.rstrip()}\n```\n"


if __name__ == "__main__":
    emit(page())
