"""The command line: results on stdout, all else on stderr, one exit code for each way to end."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..tools.errors import UsageError
from .corpus_commands import keeping
from .edge import run_at_edge, stay_offline
from .flags import read_words
from .loading import load_agent, opened
from .narrowing import narrowing
from .options import (
    AskOptions,
    DemoOptions,
    GraphOptions,
    Limited,
    SearchOptions,
    takes,
)
from .progress import run_sync
from .report import tell_report
from .terminal import emit, emit_json, paper_of, tell

if TYPE_CHECKING:
    from ..tools.answer import Answer
    from .assemble import Agent

EXIT_CODES = {
    "answered": 0,
    "partial": 0,
    "conflicting": 0,
    "abstained": 3,
    "asks": 3,
    "stopped": 4,
    "failed": 1,
}

EPILOG = """\b
Exit codes:
  0    answered, also in part or with conflicting sources; done
  1    failed: nothing could be indexed, or something went wrong
  2    usage, or an input that cannot be read
  3    the sources do not say, or one question comes back
  4    a limit stopped the run; what was found is printed
  6    a check failed: of the doctor, or of a purge that left something
  130  Ctrl-C

\b
Results go to stdout, all else to stderr. Settings: flags, then QUAERE_SECTION_KEY
in the environment, then quaere.toml beside .quaere, then defaults. NO_COLOR is
respected; QUAERE_DEBUG=1 shows tracebacks.

\b
Start here:
  quaere add ~/docs
  quaere ask "How long is the notice period?"
"""

app = typer.Typer(
    name="quaere",
    help="Answer questions from your own files; every claim cites the exact place it stands.",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        emit(f"quaere {version('quaere')}\n")
        raise typer.Exit


@app.callback()
def root(
    ctx: typer.Context,
    workspace: Annotated[
        Path | None, typer.Option("--workspace", "-C", metavar="DIR", help="As in every command.")
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Keep the workspace given before the command for the command."""
    ctx.obj = workspace


app.registered_commands += keeping.registered_commands


@app.command(short_help="Show what is found for a query, and why.")
@takes(SearchOptions)
def search(given: SearchOptions) -> int:
    """Show what is found for a query: the fused ranking, and both rankings behind it.

    Each hit tells its fused score (reciprocal ranks), its rank and score in keyword search (BM25), its rank
    and cosine in vector search, where it stands, and its first lines. A dash: not found by that search.

    \b
    Examples:
      quaere search notice period
      quaere search -k 3 --path '**/*.md' get_user_by_id
    """
    query = _question(given.words)
    with opened(given) as agent:
        found = agent.search(query, filter=narrowing(given, agent), k=given.k)
    if given.as_json:
        emit_json(found.to_json())
    else:
        from .show import show_search

        emit(show_search(found, paper_of(sys.stdout)))
    return 0


@app.command(short_help="Answer a question from the sources.")
@takes(AskOptions)
def ask(given: AskOptions) -> int:
    """Answer a question, or say that the sources do not.

    Prints the answer with marks such as [1], the cited places with the quoted text, what is missing, and
    notes. A question has at most 8,000 characters. Exit codes: 0 answered, in part or conflicting, 3 the
    sources do not say or one question comes back, 4 stopped by a limit, 1 failed.

    \b
    Examples:
      quaere ask "How long is the notice period?"
      quaere ask --budget steps=8,seconds=30 "Does S-101 or S-102 allow more docks?"
      quaere ask --policy model --degrade --budget tokens=8000,usd=0.05 "Who may sign?"
      cat question.txt | quaere ask -
      cat error.log | quaere ask "What should be done about this?" -
    """
    question = _question(given.words)
    with opened(given, preload=True) as agent:
        if given.sync:
            tell_report(run_sync(agent))
        answer = _answer(agent, question, given)
    if given.as_json:
        emit_json(answer.to_json())
    else:
        _print_answer(answer, given.verbose)
    return EXIT_CODES[answer.status]


@app.command(short_help="Ask question after question.")
@takes(Limited)
def chat(given: Limited) -> int:
    """Ask question after question; later ones may refer to earlier ones.

    From a pipe: one question a line, answered in order; --json prints one object a line. /help lists the
    commands. The conversation is forgotten at the end.
    """
    from .chat import Chat

    with opened(given, preload=True, resident=True) as agent:
        talk = Chat(agent, narrowing(given, agent), None, given.as_json, given.verbose)
        return talk.run()


@app.command(short_help="Print the graph of a run.")
@takes(GraphOptions)
def graph(given: GraphOptions) -> int:
    """Print the graph of a run as a Mermaid drawing."""
    drawing = load_agent(preload=True).drawing()
    if given.as_json:
        emit_json({"mermaid": drawing})
    else:
        emit(drawing.rstrip("\n") + "\n")
    return 0


@app.command(short_help="Try it on nine short texts.")
@takes(DemoOptions)
def demo(given: DemoOptions) -> int:
    """Index nine short texts in five formats in a folder of their own and ask three questions.

    Nothing outside that folder is written, but for the cache of the encoder. The last line is the command
    to go on with.
    """
    from .demo import run_demo

    return run_demo(given.folder, given.as_json)


def _question(words: Sequence[str]) -> str:
    """Return the words as one question; UsageError when it is longer than a question may be."""
    from .assemble import LONGEST_QUESTION

    question = read_words(words)
    if len(question) > LONGEST_QUESTION:
        raise UsageError(
            f"the question has {len(question):,} characters; ask in at most {LONGEST_QUESTION:,}, "
            "and add longer texts as a source"
        )
    return question


def _answer(agent: Agent, question: str, given: AskOptions) -> Answer:
    from .asking import Question

    told = tell if given.verbose else None
    return agent.answer(Question(question, filter=narrowing(given, agent), tell=told))


def _print_answer(answer: Answer, verbose: bool) -> None:
    from .show import show_answer, status_line

    emit(show_answer(answer, paper_of(sys.stdout)))
    if verbose or sys.stderr.isatty():
        tell(status_line(answer))


def main() -> None:
    """Run the command line."""
    stay_offline()
    sys.exit(run_at_edge(lambda: app(prog_name="quaere")))


if __name__ == "__main__":
    main()
