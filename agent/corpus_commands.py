"""The commands that keep the corpus: add, sync, sources."""

from __future__ import annotations

import sys
from dataclasses import asdict

import typer

from .loading import opened
from .options import AddOptions, Common, SourcesOptions, takes
from .progress import run_sync
from .report import emit_reports, failures_json
from .show import show_sources
from .terminal import emit, emit_json, paper_of

keeping = typer.Typer()


@keeping.command(short_help="Index folders or files.")
@takes(AddOptions)
def add(given: AddOptions) -> int:
    """Add folders or files as sources and index them at once.

    A Chroma collection that exists is attached, for reading only, as chroma:FOLDER#NAME or
    chroma+http://HOST:PORT#NAME; its vectors must be those of the configured encoder.

    Reads Markdown, text, HTML, PDF and DOCX. What cannot be read is listed and tried again by the next
    sync. Ctrl-C keeps what is done; `quaere sync` goes on from there. Exit code 1 when nothing could be
    indexed, 0 when some files failed.

    \b
    Examples:
      quaere add ~/docs
      quaere add chroma:./store#notes
      quaere add manual.pdf notes/ --set 'corpus.exclude=["drafts/**"]'
    """
    from ..tools.sources import check_location

    for location in given.locations:
        check_location(location)
    with opened(given) as agent:
        reports = []
        for location in given.locations:
            reports.append((location, run_sync(agent, location)))
            if reports[-1][1].interrupted:
                break
    return emit_reports(reports, given.as_json)


@keeping.command(short_help="Bring the index up to date.")
@takes(Common)
def sync(given: Common) -> int:
    """Make the index equal to the sources as they are now.

    Only what is new, changed or gone is touched. Prints counts that add up and one line for each file that
    could not be read. Exit code 1 when nothing could be indexed, 0 when some files failed.
    """
    with opened(given) as agent:
        report = run_sync(agent)
    return emit_reports([("", report)], given.as_json)


@keeping.command(short_help="List the sources.")
@takes(SourcesOptions)
def sources(given: SourcesOptions) -> int:
    """List the sources: what they hold and which files could not be read."""
    with opened(given) as agent:
        found = agent.sources()
    if given.as_json:
        emit_json({"sources": [{**asdict(one), "failures": failures_json(one.failures)} for one in found]})
    else:
        emit(show_sources(found, paper_of(sys.stdout)))
    return 0
