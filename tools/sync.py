"""Make the corpus equal to its folders: new, changed, renamed and deleted files, and nothing else.

Texts and keyword index come first, a transaction a document; vectors follow in batches. Whatever stops a
sync, what was committed stays and the next one goes on from there.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from .corpus import Corpus, Known, Source
from .embed import Encoder
from .errors import UnreadableError, UsageError
from .index import IndexSettings, Progress, Shaping, draft, encode_missing, observe, shaping
from .parse import parse, parser_mark
from .relabel import apply_rulebook, renew_document
from .rows import file_of
from .scan import Found, Scan, read_file, scan, shown
from .standing import Stamp, content_hash
from .writer import Failure, File, Writer

__all__ = ["IndexSettings", "Progress", "SyncReport", "add_source", "sync_all", "sync_source"]


MERGE_EVERY = 512
"""Files after which the keyword index is merged on the way; a merge reads all of it."""


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did: seen = new + changed + renamed + unchanged + failed + pending.

    `pending` files were not reached before ctrl-C (`interrupted`). `missing` names the sources that are not
    there: nothing of them was touched. `skipped` counts links and special files. `passages`, `vectors_ready`
    and `vectors_missing` describe the corpus afterwards; times are in seconds.
    """

    seen: int = 0
    new: int = 0
    changed: int = 0
    renamed: int = 0
    deleted: int = 0
    unchanged: int = 0
    pending: int = 0
    failures: tuple[tuple[str, str], ...] = ()
    skipped: int = 0
    warnings: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    interrupted: bool = False
    passages: int = 0
    vectors_ready: int = 0
    vectors_missing: int = 0
    seconds: float = 0.0
    encoder_seconds: float = 0.0

    @property
    def failed(self) -> int:
        """Return how many files could not be read."""
        return len(self.failures)


@dataclass(slots=True)
class _Run:
    corpus: Corpus
    settings: IndexSettings
    encoder: Encoder | None
    shape: Shaping
    progress: Progress
    several: bool
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    encoder_seconds: float = 0.0

    def label(self, source: str, path: str) -> str:
        return f"{source}/{path}" if self.several else path


@dataclass(slots=True)
class _Plan:
    source: Source
    files: Sequence[Found]
    known: dict[str, Known]
    gone: list[Known]
    moved: dict[str, Known]
    failed_before: dict[str, Failure]
    restamps: list[tuple[int, Stamp, int]] = field(default_factory=list)
    recovered: list[str] = field(default_factory=list)


def add_source(corpus: Corpus, location: str) -> Source:
    """Register a folder or a file by its path (`~` is the home folder); the same one again is returned.

    UsageError when it is not there or lies inside, or around, a source that was added before.
    """
    root = Path(os.path.abspath(os.path.expanduser(location)))
    if not root.exists():
        raise UsageError(f"{shown(str(root))} is not there; give a folder or a file that exists")
    for source in corpus.sources():
        if os.path.realpath(source.root) == os.path.realpath(root):
            return source
        _refuse_overlap(root, source)
    if corpus.folder.resolve() in (root.resolve(), *root.resolve().parents):
        raise UsageError(f"{shown(str(root))} is quaere's own folder; add the folder that holds your files")
    name = _free_name(root, {source.id for source in corpus.sources()})
    with corpus.write() as writer:
        writer.put_source(name, os.fsencode(root), root.stat().st_ino)
    return next(source for source in corpus.sources() if source.id == name)


def sync_source(
    corpus: Corpus,
    source_id: str,
    encoder: Encoder | None,
    settings: IndexSettings,
    progress: Progress | None = None,
) -> SyncReport:
    """Bring one source up to date, then encode whatever has no vector yet."""
    sources = [source for source in corpus.sources() if source.id == source_id]
    if not sources:
        raise UsageError(f"there is no source {source_id!r}; `quaere sources` lists them")
    return _sync(_start(corpus, encoder, settings, progress), sources)


def sync_all(
    corpus: Corpus, encoder: Encoder | None, settings: IndexSettings, progress: Progress | None = None
) -> SyncReport:
    """Bring every source up to date, then encode whatever has no vector yet."""
    return _sync(_start(corpus, encoder, settings, progress), corpus.sources())


def _start(
    corpus: Corpus, encoder: Encoder | None, settings: IndexSettings, progress: Progress | None
) -> _Run:
    several = len(corpus.sources()) > 1
    apply_rulebook(corpus, settings.rulebook)
    return _Run(corpus, settings, encoder, shaping(settings, encoder), progress or _silent, several)


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
    except KeyboardInterrupt:
        interrupted = True
        run.warnings.append("stopped early; what was done is kept, `quaere sync` goes on from there")
    return _report(run, interrupted, time.perf_counter() - started)


def _sync_source(run: _Run, source: Source) -> None:
    found = _look(run, source)
    if found is None:
        return
    plan = _plan(run, source, found)
    run.counts["seen"] += len(plan.files)
    run.counts["skipped"] += found.skipped
    run.warnings += [run.label(source.id, warning) for warning in found.warnings]
    try:
        _delete(run, plan)
        for done, file in enumerate(plan.files, 1):
            run.counts[_bring(run, plan, file)] += 1
            run.progress("read", done, len(plan.files), file.path)
            if done % MERGE_EVERY == 0:
                _merge(run)
    except KeyboardInterrupt:
        _settle(run, plan)
        raise
    _settle(run, plan)


def _look(run: _Run, source: Source) -> Scan | None:
    """Return what lies in a source, or None when it seems to be away: then nothing of it may be deleted."""
    try:
        inode = source.root.stat().st_ino
        found = scan(source.root, run.settings.include, run.settings.exclude)
    except OSError:
        _note_missing(run, source, "is not there")
        return None
    if "" in found.unreadable:
        _note_missing(run, source, "cannot be read")
        return None
    # An empty folder that is another one than before is where a disk used to be mounted.
    if found.empty and inode != source.inode and run.corpus.known(source.id):
        _note_missing(run, source, "is empty and not the folder that was added")
        return None
    if inode != source.inode:
        with run.corpus.write() as writer:
            writer.put_source(source.id, os.fsencode(source.root), inode)
    return found


def _note_missing(run: _Run, source: Source, why: str) -> None:
    run.missing.append(source.id)
    run.warnings.append(f"source {source.id!r}: {shown(str(source.root))} {why}; what was indexed is kept")


def _plan(run: _Run, source: Source, found: Scan) -> _Plan:
    known = run.corpus.known(source.id)
    there = {file.path for file in found.files}
    hidden = tuple(f"{folder}/" for folder in found.unreadable)
    gone = [one for path, one in known.items() if path not in there and not path.startswith(hidden)]
    moved = _find_moves(run, source, gone, [file for file in found.files if file.path not in known])
    moved_ids = {one.document for one in moved.values()}
    return _Plan(
        source=source,
        files=found.files,
        known=known,
        gone=[one for one in gone if one.document not in moved_ids],
        moved=moved,
        failed_before=run.corpus.failures(source.id),
    )


def _find_moves(run: _Run, source: Source, gone: Sequence[Known], new: Sequence[Found]) -> dict[str, Known]:
    """Pair each new file with the vanished one of the same content, where exactly one fits on either side."""
    sizes = {one.observed.stamp.size for one in gone}
    by_hash: dict[str, list[str]] = {}
    for file in new:
        if file.stamp.size in sizes and file.stamp.size <= run.settings.max_file_bytes:
            hash = _hash_of(run, source, file)
            by_hash.setdefault(hash, []).append(file.path)
    vanished = Counter(one.observed.content_hash for one in gone)
    single = {one.observed.content_hash: one for one in gone if vanished[one.observed.content_hash] == 1}
    return {paths[0]: single[hash] for hash, paths in by_hash.items() if len(paths) == 1 and hash in single}


def _hash_of(run: _Run, source: Source, file: Found) -> str:
    try:
        data, _ = read_file(file_of(os.fsencode(source.root), file.name), run.settings.max_file_bytes)
    except UnreadableError:
        return ""
    return content_hash(data)


def _delete(run: _Run, plan: _Plan) -> None:
    for one in plan.gone:
        with run.corpus.write() as writer:
            writer.delete_document(one.document)
        run.counts["deleted"] += 1


def _bring(run: _Run, plan: _Plan, file: Found) -> str:
    """Bring one file up to date and return the name of the count it belongs to."""
    known, before = plan.known.get(file.path), plan.failed_before.get(file.path)
    if known and _looks_unchanged(known, file) and run.shape.is_fresh(known) and before is None:
        return "unchanged"
    if before and not run.settings.retry and _would_fail_again(before, file):
        run.failures.append((run.label(plan.source.id, file.path), before.reason))
        return "failed"
    try:
        return _read(run, plan, file)
    except UnreadableError as error:
        _fail(run, plan, file, error.reason)
        return "failed"


def _looks_unchanged(known: Known, file: Found) -> bool:
    return file.stamp == known.observed.stamp and file.stamp.is_settled(known.observed.observed_ns)


def _would_fail_again(before: Failure, file: Found) -> bool:
    return before.stamp == file.stamp and before.parser == parser_mark(file.path)


def _read(run: _Run, plan: _Plan, found: Found) -> str:
    started_ns = time.time_ns()
    data, stamp = read_file(file_of(os.fsencode(plan.source.root), found.name), run.settings.max_file_bytes)
    observed = observe(data, stamp, started_ns)
    known, moved = plan.known.get(found.path), plan.moved.get(found.path)
    if known and known.observed.content_hash == observed.content_hash and run.shape.is_fresh(known):
        plan.recovered.append(found.path)
        if stamp != known.observed.stamp:
            plan.restamps.append((known.document, stamp, started_ns))
        return "unchanged"
    file = File(plan.source.id, found.path, found.name)
    if moved and _keeps_its_passages(run, moved, file, data):
        _write(run, lambda writer: _move(run, writer, moved.document, (file, stamp, started_ns)))
        return "renamed"
    new = draft(file, observed, data, run.shape)
    _write(run, lambda writer: writer.put_document(new, moved.document if moved else None))
    run.warnings += [f"{run.label(plan.source.id, found.path)}: {warning}" for warning in new.parsed.warnings]
    return "renamed" if moved else "changed" if known else "new"


def _move(run: _Run, writer: Writer, document: int, to: tuple[File, Stamp, int]) -> None:
    """Give a document its new path and the labels that the rules give there."""
    writer.move_document(document, *to)
    renew_document(writer, document, run.settings.rulebook)


def _write(run: _Run, change: Callable[[Writer], object]) -> None:
    with run.corpus.write() as writer:
        change(writer)


def _keeps_its_passages(run: _Run, moved: Known, file: File, data: bytes) -> bool:
    """Tell whether a moved file would be cut as before; a title taken from its name is part of that."""
    if moved.parser != parser_mark(file.path) or not run.shape.is_fresh(moved):
        return False
    same_name = PurePosixPath(moved.file.path).name == PurePosixPath(file.path).name
    return same_name or parse(data, file.path).title == moved.title


def _fail(run: _Run, plan: _Plan, file: Found, reason: str) -> None:
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


def _settle(run: _Run, plan: _Plan) -> None:
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
    ready = run.corpus.vectors_ready(encoder.fingerprint)[0] if encoder else 0
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
        vectors_missing=passages - ready if encoder else 0,
        seconds=seconds,
        encoder_seconds=run.encoder_seconds,
    )


def _refuse_overlap(root: Path, source: Source) -> None:
    inner, outer = root.resolve(), source.root.resolve()
    name, here, there = source.id, shown(str(root)), shown(str(source.root))
    if outer in inner.parents:
        raise UsageError(f"{here} lies in source {name!r} ({there}); run `quaere sync` to index it")
    if inner in outer.parents:
        raise UsageError(f"{here} holds source {name!r} ({there}); add the other folders in it one by one")


def _free_name(root: Path, taken: set[str]) -> str:
    name = shown(root.name) or "root"
    names = [name, *(f"{name}-{n}" for n in range(2, len(taken) + 3))]
    return next(one for one in names if one not in taken)
