"""The commands that keep the corpus: add, sync, remove, sources, doctor."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from .doctor import checkup_json, examine, show_checkup
from .edge import CHECK_FAILED
from .loading import opened, placed
from .options import AddOptions, Common, DoctorOptions, RemoveOptions, SourcesOptions, takes
from .progress import run_sync
from .removing import receipt_json, removal_json, show_receipt, show_removal
from .report import emit_reports, failures_json
from .show import show_sources
from .terminal import emit, emit_json, paper_of

if TYPE_CHECKING:
    from ..tools.answer import Json

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


@keeping.command(short_help="Remove a source, or purge it from the disk.")
@takes(RemoveOptions)
def remove(given: RemoveOptions) -> int:
    """Remove a source with all its documents: no answer cites them from now on.

    With --path only documents go whose file is gone from the folder, or is excluded in quaere.toml; any other
    would come back with the next sync. It works when the folder of the source has been moved away, too.

    --purge leaves nothing of the texts on the disk: they are overwritten in the index together with what was
    made of them (terms, vectors, paths, earlier versions of files that changed or were deleted), caches are
    deleted, and so are traces and threads that quote them. Then every byte of .quaere is searched for samples
    of the texts; exit code 6 when any is found. A purge that was killed is finished by the next one, or by
    `quaere doctor --repair`. What lies outside: snapshots and backups of the disk, what an SSD keeps of
    deleted blocks, and the files themselves.

    \b
    Examples:
      quaere remove docs
      quaere remove docs --path 'drafts/**'
      quaere remove --purge docs
    """
    paper = paper_of(sys.stdout)
    with opened(given) as agent:
        if given.purge:
            receipt = agent.purge(given.source, given.paths)
            _print(given, receipt_json(receipt), show_receipt(receipt, paper))
            return 0 if receipt.is_clean else CHECK_FAILED
        removal = agent.remove(given.source, given.paths)
        _print(given, removal_json(removal), show_removal(removal, paper))
    return 0


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


@keeping.command(short_help="Check the index and what it stands on.")
@takes(DoctorOptions)
def doctor(given: DoctorOptions) -> int:
    """Check the encoder's weights, the libraries, and every store of the index against the others.

    Each check is ok, a warning (no answer is wrong for it) or failed, with the way out. --repair makes again
    what follows from the stored texts: keyword index, matrix, Chroma collection, permissions; it finishes a
    purge that was killed and has what is damaged read again by the next sync. It deletes no document. Exit
    code 6 when a check failed, or still fails after the repair.
    """
    checkup = examine(*placed(given), repair=given.repair)
    _print(given, checkup_json(checkup), show_checkup(checkup, paper_of(sys.stdout)))
    return 0 if checkup.is_sound else CHECK_FAILED


def _print(given: Common, as_json: Json, as_text: str) -> None:
    if given.as_json:
        emit_json(as_json)
    else:
        emit(as_text)
