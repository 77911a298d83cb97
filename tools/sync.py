"""Make the corpus equal to its folders: new, changed, renamed and deleted files, and nothing else.

Texts and keyword index come first, a transaction a document; vectors follow in batches. Whatever stops a
sync, what was committed stays and the next one goes on from there. One sync runs at a time; a second one
waits for it, and readers for neither.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from .attached_location import KIND
from .attached_sync import Bringing, bring_collection
from .chroma import keep_chroma
from .corpus import Corpus, Known, Source
from .disk import network_warning
from .draft import Draft, Failure, File
from .embed import Encoder
from .errors import EncoderError, SourceUnavailableError, UnreadableError, UsageError, WorkspaceError
from .index import IndexSettings, Progress, Shaping, draft, encode_missing, observe, shaping
from .lock import writer_lock
from .parse import parse, parser_mark
from .plan import AwayError, Plan, look, plan
from .relabel import apply_rulebook, renew_document
from .rows import file_of
from .scan import Found, read_file, shown
from .sources import add_source
from .spaces import is_building
from .standing import Stamp
from .sync_report import SyncReport
from .writer import Writer

__all__ = ["IndexSettings", "Progress", "SyncReport", "add_source", "sync_all", "sync_source"]

MERGE_EVERY = 512
"""Files after which the keyword index is merged on the way; a merge reads all of it."""


@dataclass(slots=True)
class _Run:
    corpus: Corpus
    settings: IndexSettings
    encoder: Encoder | None
    shape: Shaping
    progress: Progress
    several: bool
    building: bool
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    encoder_seconds: float = 0.0

    def label(self, source: str, path: str) -> str:
        return f"{source}/{path}" if self.several else path

    def serves(self, known: Known) -> bool:
        """Tell whether nothing has to be made of a file that holds what is known of it."""
        return self.shape.is_fresh(known) or (self.building and self.shape.is_staged(known))


def sync_source(
    corpus: Corpus,
    source_id: str,
    encoder: Encoder | None,
    settings: IndexSettings,
    progress: Progress | None = None,
) -> SyncReport:
    """Bring one source up to date, then encode whatever has no vector yet.

    With another encoder than before all sources are, for its space is built for all of them.
    """
    with writer_lock(corpus.folder):
        sources = [source for source in corpus.sources() if source.id == source_id]
        if not sources:
            raise UsageError(f"there is no source {source_id!r}; `quaere sources` lists them")
        run = _start(corpus, encoder, settings, progress)
        return _sync(run, corpus.sources() if run.building else sources)


def sync_all(
    corpus: Corpus, encoder: Encoder | None, settings: IndexSettings, progress: Progress | None = None
) -> SyncReport:
    """Bring every source up to date, then encode whatever has no vector yet."""
    with writer_lock(corpus.folder):
        return _sync(_start(corpus, encoder, settings, progress), corpus.sources())


def _start(
    corpus: Corpus, encoder: Encoder | None, settings: IndexSettings, progress: Progress | None
) -> _Run:
    several = len(corpus.sources()) > 1
    apply_rulebook(corpus, settings.rulebook)
    shape = shaping(settings, encoder)
    building = encoder is not None and is_building(corpus, encoder)
    if encoder is not None:
        _drop_unfit(corpus, shape.mark if building else None)
    run = _Run(corpus, settings, encoder, shape, progress or _silent, several, building)
    run.warnings += filter(None, [network_warning(corpus.folder)])
    return run


def _drop_unfit(corpus: Corpus, mark: str | None) -> None:
    """Drop what is pending for an encoder or settings that are no longer configured."""
    if corpus.pending_marks - {mark}:
        with corpus.write() as writer:
            writer.drop_unfit(mark)


def _silent(stage: str, done: int, total: int, detail: str) -> None:
    return None


def _sync(run: _Run, sources: Iterable[Source]) -> SyncReport:
    started = time.perf_counter()
    interrupted = False
    try:
        for source in sources:
            _sync_source(run, source)
        if run.encoder is not None:
            for seconds in encode_missing(run.corpus, run.encoder, run.progress):
                run.encoder_seconds += seconds
        _keep_chroma(run)
    except KeyboardInterrupt:
        interrupted = True
        run.warnings.append("stopped early; what was done is kept, `quaere sync` goes on from there")
    return _report(run, interrupted, time.perf_counter() - started)


def _keep_chroma(run: _Run) -> None:
    """Bring the Chroma collection in step where there is to be one; without it searches are exact."""
    space = run.corpus.space
    if not run.settings.chroma or space is None:
        return
    try:
        keep_chroma(run.corpus, space, run.progress)
    except (SourceUnavailableError, WorkspaceError) as error:
        run.warnings.append(f"the Chroma collection could not be kept ({error}); searches are exact")


def _sync_source(run: _Run, source: Source) -> None:
    """Bring a source up to date; one that is away, or goes away meanwhile, keeps what was indexed."""
    if source.kind == KIND:
        _sync_collection(run, source)
        return
    try:
        found = look(run.corpus, source, run.settings)
        todo = plan(run.corpus, source, found, run.settings)
        run.counts["seen"] += len(todo.files)
        run.counts["skipped"] += found.skipped
        run.warnings += [run.label(source.id, warning) for warning in found.warnings]
        _carry_out(run, todo)
    except AwayError as error:
        run.missing.append(source.id)
        root = shown(str(source.root))
        run.warnings.append(f"source {source.id!r}: {root} {error}; what was indexed is kept")


def _sync_collection(run: _Run, source: Source) -> None:
    """Bring an attached collection up to date; one that is away or does not fit keeps what was indexed."""
    bringing = Bringing(run.corpus, source, run.encoder, run.settings, run.shape, run.building, run.progress)
    try:
        bring_collection(bringing)
    except (AwayError, EncoderError, SourceUnavailableError) as error:
        run.missing.append(source.id)
        place = f"{shown(source.location)} " if isinstance(error, AwayError) else ""
        run.warnings.append(f"source {source.id!r}: {place}{error}; what was indexed is kept")
    finally:
        run.counts.update(bringing.counts)
        run.failures += [(run.label(source.id, path), reason) for path, reason in bringing.failures]
        run.warnings += [f"source {source.id!r}: {warning}" for warning in bringing.warnings]


def _carry_out(run: _Run, plan: Plan) -> None:
    try:
        _delete(run, plan)
        for done, file in enumerate(plan.files, 1):
            run.counts[_bring(run, plan, file)] += 1
            run.progress("read", done, len(plan.files), file.path)
            if done % MERGE_EVERY == 0:
                _merge(run)
    except (AwayError, KeyboardInterrupt):
        _settle(run, plan)
        raise
    _settle(run, plan)


def _delete(run: _Run, plan: Plan) -> None:
    for one in plan.gone:
        with run.corpus.write() as writer:
            writer.delete_document(one.document)
        run.counts["deleted"] += 1


def _bring(run: _Run, plan: Plan, file: Found) -> str:
    """Bring one file up to date and return the name of the count it belongs to."""
    known, before = plan.known.get(file.path), plan.failed_before.get(file.path)
    if known and _looks_unchanged(known, file) and run.serves(known) and before is None:
        return "unchanged"
    if before and not run.settings.retry and _would_fail_again(before, file):
        run.failures.append((run.label(plan.source.id, file.path), before.reason))
        return "failed"
    try:
        return _read(run, plan, file)
    except UnreadableError as error:
        if not plan.source.root.exists():
            raise AwayError("went away while it was read") from error
        _fail(run, plan, file, error.reason)
        return "failed"


def _looks_unchanged(known: Known, file: Found) -> bool:
    return file.stamp == known.observed.stamp and file.stamp.is_settled(known.observed.observed_ns)


def _would_fail_again(before: Failure, file: Found) -> bool:
    return before.stamp == file.stamp and before.parser == parser_mark(file.path)


def _read(run: _Run, plan: Plan, found: Found) -> str:
    started_ns = time.time_ns()
    data, stamp = read_file(file_of(os.fsencode(plan.source.root), found.name), run.settings.max_file_bytes)
    observed = observe(data, stamp, started_ns)
    known, moved = plan.known.get(found.path), plan.moved.get(found.path)
    same = known if known and known.observed.content_hash == observed.content_hash else None
    if same and (run.serves(same) or run.building):
        plan.note_same(same, stamp, started_ns)
    if same and run.serves(same):
        plan.recovered.append(found.path)
        return "unchanged"
    file = File(plan.source.id, found.path, found.name)
    if moved and _keeps_its_passages(run, moved, file, data):
        _write(run, lambda writer: _move(run, writer, moved.document, (file, stamp, started_ns)))
        return "renamed"
    new = draft(file, observed, data, run.shape)
    if same and run.building:
        _write(run, lambda writer: _stage(run, writer, same, new))
        plan.recovered.append(found.path)
    else:
        _write(run, lambda writer: writer.put_document(new, moved.document if moved else None))
    run.warnings += [f"{run.label(plan.source.id, found.path)}: {warning}" for warning in new.parsed.warnings]
    return "renamed" if moved else "changed" if known else "new"


def _stage(run: _Run, writer: Writer, known: Known, new: Draft) -> None:
    """Keep a content for the encoder to come, in the version it has where that is cut as it would be."""
    if not (run.shape.may_share(known) and writer.reuse(known.document, new)):
        writer.stage_document(new, known.document)


def _move(run: _Run, writer: Writer, document: int, to: tuple[File, Stamp, int]) -> None:
    """Give a document its new path and the labels that the rules give there."""
    writer.move_document(document, *to)
    renew_document(writer, document, run.settings.rulebook)


def _write(run: _Run, change: Callable[[Writer], object]) -> None:
    with run.corpus.write() as writer:
        change(writer)


def _keeps_its_passages(run: _Run, moved: Known, file: File, data: bytes) -> bool:
    """Tell whether a moved file would be cut as before; a title taken from its name is part of that."""
    if moved.parser != parser_mark(file.path) or not run.serves(moved):
        return False
    same_name = PurePosixPath(moved.file.path).name == PurePosixPath(file.path).name
    return same_name or parse(data, file.path).title == moved.title


def _fail(run: _Run, plan: Plan, file: Found, reason: str) -> None:
    label = run.label(plan.source.id, file.path)
    run.failures.append((label, reason))
    failure = Failure(file.path, reason, file.stamp, parser_mark(file.path))
    if plan.failed_before.get(file.path) != failure:
        _write(run, lambda writer: writer.put_failure(plan.source.id, failure))
    if file.path in plan.known:
        run.warnings.append(f"{label}: its last good version stays searchable")
    moved = plan.moved.get(file.path)
    if moved:
        _write(run, lambda writer: writer.delete_document(moved.document))
        run.counts["deleted"] += 1


def _settle(run: _Run, plan: Plan) -> None:
    """Write down what makes no revision, and merge the keyword index after changes."""
    over = set(plan.recovered) | (plan.failed_before.keys() - {file.path for file in plan.files})
    stale = sorted(over & plan.failed_before.keys())
    if plan.restamps or stale:
        with run.corpus.write() as writer:
            for document, stamp, observed_ns in plan.restamps:
                writer.restamp(document, stamp, observed_ns)
            for path in stale:
                writer.clear_failure(plan.source.id, path)
    _merge(run)


def _merge(run: _Run) -> None:
    if any(run.counts[name] for name in ("new", "changed", "deleted")):
        _write(run, lambda writer: writer.merge())


def _report(run: _Run, interrupted: bool, seconds: float) -> SyncReport:
    counts, encoder = run.counts, run.encoder
    passages = run.corpus.counts().passages
    ready, wanted = run.corpus.vectors_ready(encoder.fingerprint) if encoder else (0, 0)
    if encoder is None and passages:
        run.warnings.append("no encoder weights were found; only keyword search works")
    settled = sum(counts[name] for name in ("new", "changed", "renamed", "unchanged", "failed"))
    return SyncReport(
        seen=counts["seen"],
        new=counts["new"],
        changed=counts["changed"],
        renamed=counts["renamed"],
        deleted=counts["deleted"],
        unchanged=counts["unchanged"],
        pending=counts["seen"] - settled,
        skipped=counts["skipped"],
        failures=tuple(run.failures),
        warnings=tuple(run.warnings),
        missing=tuple(run.missing),
        interrupted=interrupted,
        passages=passages,
        vectors_ready=ready,
        vectors_missing=wanted - ready,
        seconds=seconds,
        encoder_seconds=run.encoder_seconds,
    )
