"""Every block of commands in the README and the tour runs, and prints what is written below it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from quaere.agent.settings import load_settings

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
PAGES = ("README.md", "docs/tour.md")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
GOOD = {0, 3}
"""Exit codes of a command that did its work: done, or the sources do not say."""


@dataclass(frozen=True)
class Home:
    """A user's machine: a home with `docs` in it, a working folder, and the program on the path."""

    folder: Path

    def run(self, command: str) -> str:
        """Run a command as a user would and return its stdout; it must end well and without a traceback."""
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=self.folder / "work",
            env=os.environ | {"HOME": str(self.folder), "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in GOOD, f"{command}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        return done.stdout


@pytest.fixture
def home(tmp_path: Path) -> Home:
    shutil.copytree(ROOT / "evals" / "demo" / "docs", tmp_path / "docs")
    (tmp_path / "work").mkdir()
    return Home(tmp_path)


def blocks(page: str) -> list[tuple[str, str]]:
    """Return kind and content of the fenced blocks of a page."""
    return BLOCK.findall((ROOT / page).read_text("utf-8"))


@pytest.mark.parametrize("page", PAGES)
def test_every_block_does_what_the_page_says(page: str, home: Home) -> None:
    for kind, content in blocks(page):
        _RUN[kind](home, content)


def test_make_demo_ends_with_a_command_that_is_there(home: Home) -> None:
    demo = home.folder / "work" / "shown"
    shown = home.run(f"make -s -C {ROOT} -o .venv/.installed demo BIN={BIN} DEMO={demo}")
    assert shown.count("\n> ") == 3
    last = shown.split("\n")[-2]
    program, *words = last.split()
    assert words == ["add", "~/docs"]
    assert os.access(ROOT / program, os.X_OK)


@pytest.mark.parametrize("page", [*sorted(path.name for path in (ROOT / "docs").glob("*.md")), "README.md"])
def test_links_between_pages_lead_somewhere(page: str) -> None:
    path = ROOT / page if page == "README.md" else ROOT / "docs" / page
    targets = re.findall(r"\]\(([^)#:]+)(?:#[\w-]+)?\)", path.read_text("utf-8"))
    assert [target for target in targets if not (path.parent / target).exists()] == []


def test_the_readme_names_every_command() -> None:
    from quaere.agent.cli import app

    names = {
        str(command.name or getattr(command.callback, "__name__", "")) for command in app.registered_commands
    }
    readme = (ROOT / "README.md").read_text("utf-8")
    assert {name for name in names if f"`quaere {name}" not in readme} == set()


def _run_commands(home: Home, content: str) -> None:
    for command in content.splitlines():
        if command.startswith("make "):
            _check_target(command)
        else:
            home.run(command)


def _check_target(command: str) -> None:
    """Let make say what it would run; the suite itself is not run from inside."""
    line = [*command.split(), "-n", "-C", str(ROOT)]
    said = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert f"{BIN.parent.name}/bin/" in said


def _compare_output(home: Home, content: str) -> None:
    for part in re.split(r"^\$ ", content, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        assert home.run(command).strip() == expected.strip()


def _run_python(home: Home, content: str) -> None:
    (home.folder / "work" / "example.py").write_text(content, "utf-8")
    assert home.run("python example.py")


def _read_settings(home: Home, content: str) -> None:
    """Write a file of settings where its first line says, else into the working folder, and read it."""
    named = re.match(r"# (\S*quaere\.toml)\n", content)
    path = home.folder / "work" / (named[1] if named else "quaere.toml")
    path.write_text(content, "utf-8")
    load_settings(path.parent, {}, {})


_RUN = {
    "sh": _run_commands,
    "console": _compare_output,
    "python": _run_python,
    "toml": _read_settings,
}
