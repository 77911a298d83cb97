"""Compare a source with what is known of it: what is there, what is gone, and what only moved."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from .corpus import Corpus, Known, Source
from .draft import Failure
from .errors import UnreadableError
from .index import IndexSettings
from .rows import file_of
from .scan import Found, Scan, read_file, scan
from .standing import Stamp, content_hash


@dataclass(slots=True)
class Plan:
    """What a sync of one source has to do, and what it notes on the way for its end.

    `moved` holds, by new path, the documents whose file went elsewhere; `gone` those to delete. `restamps`
    and `recovered` are files that turned out to hold what is known.
    """

    source: Source
    files: Sequence[Found]
    known: dict[str, Known]
    gone: list[Known]
    moved: dict[str, Known]
    failed_before: dict[str, Failure]
    restamps: list[tuple[int, Stamp, int]] = field(default_factory=list)
    recovered: list[str] = field(default_factory=list)

    def note_same(self, known: Known, stamp: Stamp, observed_ns: int) -> None:
        """Note that a file was looked at again and holds what is known."""
        if stamp != known.observed.stamp:
            self.restamps.append((known.document, stamp, observed_ns))


class AwayError(Exception):
    """Report that a source seems to be away, so that nothing of it may be deleted; the message says why."""


def look(corpus: Corpus, source: Source, settings: IndexSettings) -> Scan:
    """Return what lies in a source; AwayError when it is not there, as it was added or at all.

    An empty folder that is another one than before is where a disk used to be mounted. The root is looked at
    again after the walk: what went away in the middle of it is not gone.
    """
    try:
        before = source.root.stat()
        found = scan(source.root, settings.include, settings.exclude)
        after = source.root.stat()
    except OSError as error:
        raise AwayError("is not there") from error
    if "" in found.unreadable:
        raise AwayError("cannot be read")
    if (before.st_dev, before.st_ino) != (after.st_dev, after.st_ino):
        raise AwayError("went away while it was read")
    if found.empty and after.st_ino != source.inode and corpus.known(source.id):
        raise AwayError("is empty and not the folder that was added")
    if after.st_ino != source.inode:
        with corpus.write() as writer:
            writer.put_source(source.id, os.fsencode(source.root), after.st_ino)
    return found


def plan(corpus: Corpus, source: Source, found: Scan, settings: IndexSettings) -> Plan:
    """Return what has to be done so that the corpus holds what was found in a source."""
    known = corpus.known(source.id)
    there = {file.path for file in found.files}
    hidden = tuple(f"{folder}/" for folder in found.unreadable)
    gone = [one for path, one in known.items() if path not in there and not path.startswith(hidden)]
    new = [file for file in found.files if file.path not in known]
    moved = _find_moves(source, gone, new, settings.max_file_bytes)
    moved_ids = {one.document for one in moved.values()}
    return Plan(
        source=source,
        files=found.files,
        known=known,
        gone=[one for one in gone if one.document not in moved_ids],
        moved=moved,
        failed_before=corpus.failures(source.id),
    )


def _find_moves(
    source: Source, gone: Sequence[Known], new: Sequence[Found], max_bytes: int
) -> dict[str, Known]:
    """Pair each new file with the vanished one of the same content, where exactly one fits on either side."""
    sizes = {one.observed.stamp.size for one in gone}
    by_hash: dict[str, list[str]] = {}
    for file in new:
        if file.stamp.size in sizes and file.stamp.size <= max_bytes:
            by_hash.setdefault(_hash_of(source, file, max_bytes), []).append(file.path)
    vanished = Counter(one.observed.content_hash for one in gone)
    single = {one.observed.content_hash: one for one in gone if vanished[one.observed.content_hash] == 1}
    return {paths[0]: single[hash] for hash, paths in by_hash.items() if len(paths) == 1 and hash in single}


def _hash_of(source: Source, file: Found, max_bytes: int) -> str:
    try:
        data, _ = read_file(file_of(os.fsencode(source.root), file.name), max_bytes)
    except UnreadableError:
        return ""
    return content_hash(data)
