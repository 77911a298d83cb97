"""What a sync did, for a person, a pipe and a program, and the exit code it ends with."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from .edge import FAILED, INTERRUPTED
from .show import count, failure
from .terminal import Paper, clean_name, emit, emit_json, paper_of, tell

if TYPE_CHECKING:
    from ..tools.answer import Json
    from ..tools.sync import SyncReport

COUNTS = ("new", "changed", "renamed", "unchanged", "failed", "pending")
"""The counts that add up to the files seen."""


def emit_reports(reports: Sequence[tuple[str, SyncReport]], as_json: bool) -> int:
    """Print the reports of locations (a sync of everything has the location ""), and return the exit code."""
    if as_json:
        emit_json({"reports": [_named(where) | report_json(report) for where, report in reports]})
    else:
        for where, report in reports:
            head = f"{clean_name(where)}\n" if len(reports) > 1 else ""
            emit(head + show_report(report, paper_of(sys.stdout)))
    for _, report in reports:
        for warning in report.warnings:
            tell(f"warning: {warning}")
    return max(report_code(report) for _, report in reports)


def tell_report(report: SyncReport) -> None:
    """Tell on stderr what a sync before a question did, if anything; KeyboardInterrupt when it was cut."""
    if any((report.new, report.changed, report.renamed, report.deleted, report.failed)):
        tell(show_report(report, paper_of(sys.stderr)).rstrip("\n"))
    for warning in report.warnings:
        tell(f"warning: {warning}")
    if report.interrupted:
        raise KeyboardInterrupt


def show_report(report: SyncReport, paper: Paper) -> str:
    """Return counts that add up, the state of the index, then one line a failed file."""
    lines = [_counts(report), _state_of_index(report)]
    lines += [failure(path, reason) for path, reason in report.failures]
    return "\n".join(paper.wrap(line, "", "    ") for line in lines) + "\n"


def report_json(report: SyncReport) -> Json:
    """Return the fields of a report with its failures as objects."""
    return asdict(report) | {"failed": report.failed, "failures": failures_json(report.failures)}


def failures_json(failures: Sequence[tuple[str, str]]) -> list[Json]:
    """Return failed files with their reasons."""
    return [{"path": path, "reason": reason} for path, reason in failures]


def report_code(report: SyncReport) -> int:
    """Return 130 after Ctrl-C, 1 when nothing could be indexed, else 0, also when some files failed."""
    if report.interrupted:
        return INTERRUPTED
    indexed = report.new + report.changed + report.renamed + report.unchanged
    return 0 if indexed or report.deleted else FAILED


def _named(location: str) -> Json:
    return {"location": location} if location else {}


def _counts(report: SyncReport) -> str:
    told = [f"{getattr(report, name):,} {name}" for name in COUNTS if getattr(report, name)]
    line = f"{count(report.seen, 'file')}: {', '.join(told)}" if told else "no files to index"
    return f"{line}; {report.deleted:,} deleted" if report.deleted else line


def _state_of_index(report: SyncReport) -> str:
    spent = f"{report.seconds:.1f} s, {report.encoder_seconds:.1f} s of it encoding"
    if report.vectors_missing:
        vectors = f"{report.vectors_ready:,} of {report.passages:,} vectors ready"
    else:
        vectors = count(report.vectors_ready, "vector")
    return f"index: {count(report.passages, 'passage')}, {vectors} ({spent})"
