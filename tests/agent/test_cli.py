"""The command line, run for real on small folders: what stands on stdout, on stderr, and the exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from quaere.agent.cli import app
from typer.testing import CliRunner, Result

TIMEOUTS = """# Timeouts

HTTPX is careful to enforce timeouts everywhere by default.

The default behavior is to raise a TimeoutException after 5 seconds of network inactivity.
"""
RETRIES = """# Retries

The transport retries a failed connection three times before it gives up.
"""
QUESTION = "After how many seconds of network inactivity is a TimeoutException raised?"
UNKNOWN = "What does the error code ERR-7781 mean?"

Run = Callable[..., Result]


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "timeouts.md").write_text(TIMEOUTS, "utf-8")
    (folder / "retries.md").write_text(RETRIES, "utf-8")
    return folder


@pytest.fixture
def quaere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in the temporary folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str | Path, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(app, [str(one) for one in arguments], input=stdin)

    return run


@pytest.fixture
def indexed(quaere: Run, docs: Path) -> Run:
    assert quaere("add", docs).exit_code == 0
    return quaere


def started(cwd: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command line as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "quaere.agent.cli", *arguments],
        cwd=cwd,
        env=os.environ | environ,
        capture_output=True,
        timeout=120,
        check=False,
    )


def test_add_prints_counts_that_add_up(quaere: Run, docs: Path) -> None:
    (docs / "picture.md").write_bytes(b"\x00\x01\x02\xff" * 400)
    result = quaere("add", docs)
    assert result.exit_code == 0
    assert result.stdout.startswith("3 files: 2 new, 1 failed")
    assert "failed: picture.md: " in result.stdout


def test_add_json_counts_add_up(quaere: Run, docs: Path) -> None:
    (docs / "empty.txt").write_text("", "utf-8")
    [report] = json.loads(quaere("add", docs, "--json").stdout)["reports"]
    parts = ("new", "changed", "renamed", "unchanged", "failed", "pending")
    assert report["seen"] == 3 == sum(report[part] for part in parts)
    assert [failure["path"] for failure in report["failures"]] == ["empty.txt"]


def test_add_of_nothing_readable_fails(quaere: Run, tmp_path: Path) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "empty.md").write_text("", "utf-8")
    result = quaere("add", tmp_path / "bad")
    assert result.exit_code == 1
    assert "failed: empty.md: " in result.stdout


def test_add_of_an_empty_folder_fails(quaere: Run, tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    assert quaere("add", tmp_path / "bare").exit_code == 1


def test_add_of_a_missing_folder_is_usage_and_indexes_nothing(
    quaere: Run, docs: Path, tmp_path: Path
) -> None:
    result = quaere("add", docs, "nowhere")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "nowhere" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / ".quaere").exists()


def test_sync_reports_new_changed_and_deleted(indexed: Run, docs: Path) -> None:
    (docs / "retries.md").unlink()
    (docs / "timeouts.md").write_text(TIMEOUTS + "\nPool timeouts are separate.\n", "utf-8")
    (docs / "pools.md").write_text("# Pools\n\nA pool holds 100 connections.\n", "utf-8")
    [report] = json.loads(indexed("sync", "--json").stdout)["reports"]
    assert (report["new"], report["changed"], report["deleted"]) == (1, 1, 1)


def test_sync_without_change_does_nothing(indexed: Run) -> None:
    result = indexed("sync")
    assert result.exit_code == 0
    assert result.stdout.startswith("2 files: 2 unchanged")


def test_sync_before_add_is_refused_with_the_way_out(quaere: Run) -> None:
    result = quaere("sync")
    assert result.exit_code == 2
    assert "quaere add" in result.stderr


def test_ask_prints_answer_blank_line_footnote_and_quote(indexed: Run) -> None:
    result = indexed("ask", QUESTION)
    assert result.exit_code == 0
    text, notes = result.stdout.split("\n\n")
    assert "5 seconds" in text
    assert text.endswith("[1]")
    head, quote = notes.splitlines()
    start = TIMEOUTS.index("The default behavior")
    end = TIMEOUTS.rindex(".") + 1
    assert head == f"[1] timeouts.md › Timeouts, characters {start}–{end}"
    assert quote == f"    {TIMEOUTS[start:end]}"
    assert result.stderr == ""


def test_ask_abstains_with_the_reason_and_exit_code_3(indexed: Run) -> None:
    result = indexed("ask", UNKNOWN)
    assert result.exit_code == 3
    assert result.stdout.startswith("The sources do not say")
    assert "ERR-7781" in result.stdout


def test_ask_before_add_abstains(quaere: Run, tmp_path: Path) -> None:
    assert quaere("ask", QUESTION).exit_code == 3
    assert not (tmp_path / ".quaere").exists()


def test_ask_nothing_asks_back(indexed: Run) -> None:
    assert indexed("ask", "").exit_code == 3


def test_ask_reads_the_question_from_stdin(indexed: Run) -> None:
    assert "5 seconds" in indexed("ask", "-", stdin=QUESTION + "\n").stdout


def test_ask_survives_stdin_that_is_no_utf8(indexed: Run) -> None:
    result = indexed("ask", "-", stdin=b"\xff\xfe " + QUESTION.encode())
    assert result.exit_code in (0, 3)
    assert "Traceback" not in result.stderr


def test_ask_refuses_a_question_of_100_000_characters(indexed: Run) -> None:
    result = indexed("ask", "-", stdin="word " * 20_000)
    assert result.exit_code == 2
    assert "100,000" in result.stderr or "99,999" in result.stderr


def test_ask_json_is_the_answer_object(indexed: Run) -> None:
    answer = json.loads(indexed("ask", "--json", QUESTION).stdout)
    assert answer["status"] == "answered"
    [citation] = answer["claims"][0]["citations"]
    assert citation["quote"] == TIMEOUTS[citation["start"] : citation["end"]]


def test_ask_sync_sees_a_new_file_and_keeps_stdout_to_the_answer(indexed: Run, docs: Path) -> None:
    (docs / "codes.md").write_text(
        "# Codes\n\nThe error code ERR-7781 means that the pump is dry.\n", "utf-8"
    )
    result = indexed("ask", "--sync", UNKNOWN)
    assert result.exit_code == 0
    assert "pump is dry" in result.stdout
    assert "files" not in result.stdout


def test_ask_verbose_tells_what_was_spent_on_stderr(indexed: Run) -> None:
    result = indexed("ask", "--verbose", QUESTION)
    assert "tool calls" in result.stderr
    assert "tool calls" not in result.stdout


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        ("stepz=8", "'steps'"),
        ("tool-calls=4", "'tool_calls'"),
        ("steps=3", "steps"),
        ("steps=x", "steps=x"),
        ("steps=-8", "steps=-8"),
        ("seconds=0", "seconds"),
        ("seconds=nan", "seconds=nan"),
        ("steps", "'steps'"),
        ("steps=8,steps=9", "steps"),
        ("", "steps=8"),
    ],
)
def test_ask_refuses_a_wrong_budget_and_names_it(indexed: Run, budget: str, said: str) -> None:
    result = indexed("ask", "--budget", budget, QUESTION)
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_ask_under_a_budget_without_tool_calls_is_stopped(indexed: Run) -> None:
    assert indexed("ask", "--budget", "tool_calls=0", QUESTION).exit_code == 4


def test_ask_path_keeps_the_answer_to_those_documents(indexed: Run) -> None:
    assert indexed("ask", "--path", "retries.md", QUESTION).exit_code != 0
    assert indexed("ask", "--path", "time*.md", QUESTION).exit_code == 0


def test_ask_unknown_source_names_the_nearest(indexed: Run) -> None:
    result = indexed("ask", "--source", "dosc", QUESTION)
    assert result.exit_code == 2
    assert "'docs'" in result.stderr


def test_search_shows_both_rankings_and_the_fusion(indexed: Run) -> None:
    result = indexed("search", "-k", "2", "network inactivity")
    assert result.exit_code == 0
    first = result.stdout.split("\n\n")[0].splitlines()
    assert first[0].startswith("1. timeouts.md › Timeouts, characters ")
    assert "fused 0." in first[1]
    assert "keyword 1 (score " in first[1]
    assert "vector 1 (cosine " in first[1]


def test_search_k_limits_the_hits(indexed: Run) -> None:
    assert len(json.loads(indexed("search", "-k", "1", "--json", "seconds").stdout)["hits"]) == 1


def test_sources_lists_what_each_holds(indexed: Run) -> None:
    result = indexed("sources")
    assert result.exit_code == 0
    assert "docs" in result.stdout
    assert "2 documents" in result.stdout
    [source] = json.loads(indexed("sources", "--json").stdout)["sources"]
    assert source["documents"] == 2


def test_graph_prints_mermaid(quaere: Run) -> None:
    drawing = quaere("graph").stdout
    assert "graph TD" in drawing
    assert "route" in drawing
    assert json.loads(quaere("graph", "--json").stdout)["mermaid"].strip() == drawing.strip()


def test_workspace_option_works_before_and_after_the_command(
    indexed: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path.parent
    monkeypatch.chdir(elsewhere)
    assert indexed("ask", "-C", tmp_path, QUESTION).exit_code == 0
    assert indexed("-C", tmp_path, "ask", QUESTION).exit_code == 0


def test_workspace_that_is_not_there_is_usage(quaere: Run) -> None:
    result = quaere("ask", "-C", "nowhere", QUESTION)
    assert result.exit_code == 2
    assert "nowhere" in result.stderr


def test_misspelt_setting_names_the_nearest(quaere: Run, tmp_path: Path) -> None:
    (tmp_path / "quaere.toml").write_text("[budget]\nstepz = 8\n", "utf-8")
    result = quaere("sources")
    assert result.exit_code == 2
    assert "budget.steps" in result.stderr


def test_foreign_workspace_is_refused(quaere: Run, tmp_path: Path) -> None:
    (tmp_path / ".quaere").mkdir()
    (tmp_path / ".quaere" / "corpus.db").write_bytes(b"no database at all" * 100)
    result = quaere("ask", QUESTION)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1


def test_escape_sequences_in_evidence_never_reach_stdout(quaere: Run, docs: Path) -> None:
    evil = "The secret\x1b[31m lamp\u202e is number 42 in the\x9b2J hall.\n"
    (docs / "evil\x1b[2J.md").write_text(f"# La\x1b]0;x\x07mp\n\n{evil}", "utf-8")
    assert quaere("add", docs).exit_code == 0
    for command in (
        ("ask", "What number is the secret lamp in the hall?"),
        ("search", "secret lamp"),
        ("sources",),
    ):
        shown = quaere(*command)
        assert not set(shown.stdout + shown.stderr) & set("\x1b\x9b\u202e\x07")


def test_version_is_printed(quaere: Run) -> None:
    result = quaere("--version")
    assert result.exit_code == 0
    assert result.stdout.startswith("quaere 0.")


def test_demo_answers_and_ends_with_the_next_command(quaere: Run, tmp_path: Path) -> None:
    result = quaere("demo")
    assert result.exit_code == 0
    assert (tmp_path / "quaere-demo" / "docs").is_dir()
    assert not (tmp_path / ".quaere").exists()
    assert result.stdout.count("\n[1] ") >= 2
    last = result.stdout.rstrip("\n").splitlines()[-1]
    assert last.endswith("add ~/docs")


def test_demo_twice_is_the_same(quaere: Run) -> None:
    assert quaere("demo", "shown").exit_code == 0
    assert quaere("demo", "shown").exit_code == 0


def test_demo_leaves_a_folder_with_other_files_alone(quaere: Run, docs: Path) -> None:
    before = sorted(docs.iterdir())
    assert quaere("demo", docs).exit_code == 2
    assert sorted(docs.iterdir()) == before


def test_output_that_holds_few_characters_is_never_fatal(indexed: Run, tmp_path: Path) -> None:
    done = started(tmp_path, "ask", QUESTION, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert b"timeouts.md ? Timeouts" in done.stdout
    assert done.stderr == b""


def test_closed_pipe_leaves_no_traceback(indexed: Run, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "quaere.agent.cli", "search", "seconds"],
        cwd=tmp_path,
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=120,
        check=False,
    )
    os.close(writing)
    assert done.stderr == b""


def test_help_loads_neither_numpy_nor_langgraph(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['quaere', '--help']\n"
        "from quaere.agent.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'pydantic', 'langgraph', 'langchain_core', 'onnxruntime', 'asyncio'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, timeout=60, check=True
    )
    assert done.stderr.strip() == b"[]"


def test_unexpected_error_is_one_sentence(
    indexed: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from quaere.agent.assemble import Agent

    def fail(self: Agent) -> None:
        raise RuntimeError("the sky fell")

    monkeypatch.setattr(Agent, "sources", fail)
    result = indexed("sources")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "the sky fell" in result.stderr
    monkeypatch.setenv("QUAERE_DEBUG", "1")
    assert "Traceback" in indexed("sources").stderr


def test_full_disk_is_one_sentence_even_for_help(tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "quaere.agent.cli", "--help"],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1
    assert b"No space left" in done.stderr


def test_program_keeps_libraries_offline_whatever_the_shell_says(tmp_path: Path) -> None:
    code = (
        "import os, sys; sys.argv = ['quaere', 'graph']\n"
        "from quaere.agent.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "print(os.environ['LANGSMITH_TRACING_V2'], os.environ['HF_HUB_OFFLINE'], file=sys.stderr)"
    )
    environ = os.environ | {"LANGSMITH_TRACING_V2": "true", "HF_HUB_OFFLINE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environ, capture_output=True, check=True
    )
    assert done.stderr.strip() == b"false 1"
