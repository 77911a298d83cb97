"""Write docs/cli.md from the help texts: `python -m quaere.agent.cli_page > docs/cli.md`."""

from __future__ import annotations

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
    root = _context(group, "quaere")
    sections = [INTRODUCTION, _section(group, root)]
    for name, command in group.commands.items():
        sections.append(_section(command, _context(command, name, root)))
    return "\n".join(sections)


def _context(command: Any, name: str, parent: Any = None) -> Any:  # noqa: ANN401  (typer keeps these classes private)
    context = command.make_context(name, [], parent=parent, resilient_parsing=True)
    context.terminal_width = WIDTH
    return context


def _section(command: Any, context: Any) -> str:  # noqa: ANN401
    return f"## {context.command_path}\n\n```text\n{command.get_help(context).rstrip()}\n```\n"


if __name__ == "__main__":
    emit(page())
