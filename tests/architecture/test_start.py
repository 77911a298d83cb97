"""What starts quickly imports little: the package, the vocabulary, the help texts."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

HEAVY = [
    "asyncio",
    "chromadb",
    "docx",
    "langchain_core",
    "langgraph",
    "langsmith",
    "lxml",
    "markdown_it",
    "numpy",
    "onnx",
    "onnxruntime",
    "openai",
    "pypdfium2",
    "selectolax",
    "sentence_transformers",
    "tenacity",
    "tokenizers",
    "torch",
    "transformers",
]


def loaded_by(code: str) -> set[str]:
    """Return which heavy modules a fresh interpreter holds after the code ran."""
    report = f"import sys; print(*[name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"],
        env=os.environ | {"NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.split())


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_by("import quaere") == set()


@pytest.mark.parametrize("module", ["quaere.tools.evidence", "quaere.tools.errors"])
def test_importing_the_vocabulary_loads_nothing_heavy(module: str) -> None:
    assert loaded_by(f"import {module}") == set()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["ask", "--help"], ["add", "--help"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code = f"""
import sys
sys.argv = ["quaere", *{arguments!r}]
from quaere.agent.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""
    assert loaded_by(code) == set()


def test_the_agent_is_offered_by_the_package_itself() -> None:
    loaded = loaded_by("from quaere import Agent; assert Agent.__name__ == 'Agent'")
    assert not loaded & {"torch", "transformers", "sentence_transformers", "chromadb", "onnxruntime"}
