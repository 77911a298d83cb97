"""The demo: its own folder, its own index, and a next command that runs."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from quaere.agent.assemble import Agent
from quaere.agent.demo import demo_data, lay_out, next_command, own_command, read_questions
from quaere.tools.errors import UsageError


def test_demo_data_has_documents_in_five_formats_and_three_questions() -> None:
    with demo_data() as data:
        kinds = {file.suffix for file in (data / "docs").iterdir()}
        assert {".md", ".txt", ".html", ".pdf", ".docx"} <= kinds
        assert len(read_questions(data)) == 3


def test_demo_has_an_index_of_its_own_below_another_workspace(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.md").write_text("# A\n\nA pump.\n", "utf-8")
    with Agent.open(tmp_path) as agent:
        agent.add(str(tmp_path / "mine"))
        with demo_data() as data:
            documents = lay_out(tmp_path / "demo", data)
        with Agent.open(tmp_path / "demo") as demo:
            demo.add(str(documents))
        assert [source.id for source in agent.sources()] == ["mine"]


def test_demo_again_keeps_what_was_edited(tmp_path: Path) -> None:
    with demo_data() as data:
        lay_out(tmp_path / "demo", data)
        edited = tmp_path / "demo" / "docs" / "tariffs.md"
        edited.write_text("# Tariffs\n\nAll rides are free.\n", "utf-8")
        lay_out(tmp_path / "demo", data)
    assert "free" in edited.read_text("utf-8")


def test_demo_refuses_a_file_and_a_folder_in_use(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", "utf-8")
    with demo_data() as data:
        with pytest.raises(UsageError, match="is a file"):
            lay_out(tmp_path / "file", data)
        with pytest.raises(UsageError, match="something else"):
            lay_out(tmp_path, data)


def test_next_command_is_relative_below_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin dir" / "quaere"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n", "utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(program), "demo"])
    assert next_command() == f"{shlex.quote(str(program))} add ~/docs"
    monkeypatch.chdir(tmp_path)
    assert next_command() == "'bin dir/quaere' add ~/docs"


def test_own_command_runs_when_started_as_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [str(Path(__file__).with_name("cli.py")), "demo"])
    monkeypatch.chdir(tmp_path)
    done = subprocess.run(
        [*shlex.split(own_command()), "--version"], cwd=tmp_path, capture_output=True, check=True
    )
    assert done.stdout.startswith(b"quaere ")


def test_demo_json_holds_report_answers_and_next_command(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "quaere.agent.cli", "demo", "--json"],
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    told = json.loads(done.stdout)
    assert told["report"]["new"] == told["report"]["seen"] == 9
    assert [answer["status"] for answer in told["answers"]] == ["answered", "answered", "abstained"]
    assert told["next"].endswith(" add ~/docs")
