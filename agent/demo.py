"""The demo: index our own short texts in a folder of its own, ask three questions, name the next step."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from ..tools.errors import UsageError
from .loading import load_agent
from .progress import showing_progress
from .report import emit_reports, report_code, report_json, show_report
from .show import show_answer
from .terminal import clean_name, emit, emit_json, paper_of

if TYPE_CHECKING:
    from ..tools.answer import Answer
    from ..tools.sync import SyncReport

DOCUMENTS = "docs"
QUESTIONS = "ask.txt"
MARK = ".quaere"


@contextmanager
def demo_data() -> Iterator[Path]:
    """Give the folder of the bundled demo: its documents and the questions to ask of them."""
    with as_file(files("quaere").joinpath("evals", "demo")) as folder:
        if not (folder / DOCUMENTS).is_dir():
            raise UsageError("the demo texts are not installed; install quaere again, from its wheel")
        yield folder


def lay_out(folder: Path, data: Path) -> Path:
    """Copy the documents into a folder of the demo's own and return where they lie.

    UsageError when the folder holds anything but an earlier demo; files of an earlier demo stay as they are.
    """
    from ..tools.corpus import Corpus

    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; give the demo a folder of its own")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).is_dir():
        raise UsageError(
            f"{folder} holds something else; give the demo a folder of its own, as in `quaere demo DIR`"
        )
    folder.mkdir(parents=True, exist_ok=True)
    # Its own index comes first, or the workspace of a folder above would be found and added to.
    Corpus.create(folder / MARK).close()
    for file in sorted((data / DOCUMENTS).iterdir()):
        target = folder / DOCUMENTS / file.name
        if file.is_file() and not target.exists():
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(file, target)
    return folder / DOCUMENTS


def read_questions(data: Path) -> list[str]:
    """Return the questions the demo asks."""
    lines = (data / QUESTIONS).read_text("utf-8").splitlines()
    return [line.strip() for line in lines if line.strip()]


def run_demo(folder: Path, as_json: bool) -> int:
    """Lay out the demo, index it, ask its questions, print the next command, and return the exit code."""
    with demo_data() as data:
        documents, questions = lay_out(folder, data), read_questions(data)
    with load_agent(preload=True).open(folder) as agent:
        with showing_progress() as progress:
            report = agent.add(str(documents), progress)
        if report_code(report):
            return emit_reports([("", report)], as_json)
        answers = ((question, agent.ask(question)) for question in questions)
        if as_json:
            told = [answer.to_json() for _, answer in answers]
            emit_json({"report": report_json(report), "answers": told, "next": next_command()})
        else:
            _print(folder, report, answers)
    return 0


def _print(folder: Path, report: SyncReport, answers: Iterable[tuple[str, Answer]]) -> None:
    paper = paper_of(sys.stdout)
    emit(f"The demo is in {clean_name(str(folder))}\n{show_report(report, paper)}")
    for question, answer in answers:
        emit(f"\n{paper.bold(paper.wrap(f'> {question}'))}\n\n{show_answer(answer, paper)}")
    emit(f"\nNow your own files:\n{next_command()}\n")


def next_command() -> str:
    """Return the command to go on with, by the real path of this program."""
    return f"{own_command()} add ~/docs"


def own_command() -> str:
    """Return how this very program is started, quoted for a shell, relative where it lies below here."""
    program = Path(sys.argv[0])
    if program.suffix == ".py" or not os.access(program, os.X_OK):
        found = shutil.which(program.name)
        if found is None or program.suffix == ".py":
            return f"{shlex.quote(_near(Path(sys.executable)))} -m quaere.agent.cli"
        program = Path(found)
    return shlex.quote(_near(program))


def _near(program: Path) -> str:
    """Return a path below the working folder without it, any other in full."""
    whole = Path(os.path.abspath(program))
    return str(whole.relative_to(Path.cwd())) if whole.is_relative_to(Path.cwd()) else str(whole)
