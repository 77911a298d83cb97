"""Remove and purge: which source is meant, and what was done for a person, a pipe and a program."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from ..tools.errors import UsageError
from .flags import nearest
from .show import count
from .terminal import Paper, clean_name

if TYPE_CHECKING:
    from ..tools.answer import Json
    from ..tools.corpus import Corpus
    from ..tools.purge import Receipt
    from ..tools.removal import Removal
    from ..tools.scour import Leak

OUTSIDE = "What the disk keeps of deleted blocks, snapshots and backups is beyond quaere's reach."

SHOWN = 10
"""Paths that are named one by one."""


def named_source(corpus: Corpus, given: str, removed_too: bool) -> str:
    """Return the name of the source of a name or a place; UsageError names the nearest.

    `removed_too` also knows sources that were removed before but have left texts.
    """
    sources = corpus.sources()
    names = [source.id for source in sources]
    if removed_too:
        with corpus.reading() as db:
            names += [row[0] for row in db.execute("SELECT DISTINCT source FROM documents")]
    if given in names:
        return given
    place = os.path.realpath(os.path.expanduser(given))
    for source in sources:
        if str(source.root) == given or os.path.realpath(source.root) == place:
            return source.id
    raise UsageError(f"there is no source {given!r}{nearest(given, dict.fromkeys(names))}")


def show_removal(removal: Removal, paper: Paper) -> str:
    """Return what was removed and what was kept."""
    source, documents = clean_name(removal.source), count(removal.documents, "document")
    failures = f" and {count(removal.failures, 'unread file')}" if removal.failures else ""
    lines = [
        f"removed the source {source}: {documents}{failures}"
        if removal.is_whole
        else f"removed {documents}{failures} of {source}",
        *_kept(removal.kept, "would come back with the next sync, unless corpus.exclude keeps it out"),
        "Nothing finds the texts any more, but they are still on the disk; "
        f"`quaere remove --purge {source}` takes them off it.",
    ]
    return _wrapped(lines, paper)


def show_receipt(receipt: Receipt, paper: Paper) -> str:
    """Return what was purged, where was looked for it, and whether anything is left."""
    removed = ", ".join(_counted(receipt.removed)) or "nothing was left of it"
    lines = [
        f"purged {clean_name(receipt.source)}: {removed}",
        *_kept(receipt.kept, "is still in the folder: what it holds now stays, what it held before is gone"),
        *([f"deleted: {', '.join(map(clean_name, receipt.deleted))}"] if receipt.deleted else []),
        f"looked for {_samples(receipt.samples)} in {count(receipt.files, 'file')} of .quaere "
        f"({receipt.bytes:,} bytes): {_found(receipt.leaks)}",
        *(_leak(leak) for leak in receipt.leaks),
    ]
    if receipt.shared:
        lines.append(
            f"not looked for: {count(receipt.shared, 'sample')} of what also stands in documents that stay"
        )
    return _wrapped([*lines, OUTSIDE], paper)


def removal_json(removal: Removal) -> Json:
    """Return the fields of a removal."""
    return asdict(removal)


def receipt_json(receipt: Receipt) -> Json:
    """Return the fields of a receipt, and whether it is clean."""
    return {"clean": receipt.is_clean} | asdict(receipt)


def _counted(numbers: Mapping[str, int]) -> list[str]:
    return [count(number, name.removesuffix("s")) for name, number in numbers.items() if number]


def _samples(samples: Mapping[str, int]) -> str:
    kinds = ", ".join(_counted(samples))
    return f"{count(sum(samples.values()), 'sample')} ({kinds})" if kinds else "0 samples"


def _kept(paths: Sequence[str], why: str) -> list[str]:
    more = [f"kept: {len(paths) - SHOWN:,} more for the same reason"] if len(paths) > SHOWN else []
    return [*(f"kept: {clean_name(path)} {why}" for path in paths[:SHOWN]), *more]


def _found(leaks: Sequence[Leak]) -> str:
    return f"FOUND in {count(len(leaks), 'file')}" if leaks else "found 0"


def _leak(leak: Leak) -> str:
    what = f"cannot be read ({leak.unread})" if leak.unread else f"holds {', '.join(_counted(leak.samples))}"
    return f"left: {clean_name(leak.file)} {what}; delete it, then run `quaere doctor --repair`"


def _wrapped(lines: Sequence[str], paper: Paper) -> str:
    return "\n".join(paper.wrap(line, "", "    ") for line in lines) + "\n"
