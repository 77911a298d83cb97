"""Check locations, and register folders and files: each place on disk belongs to one source at most."""

from __future__ import annotations

import os
from pathlib import Path

from .attached_location import STORE, is_attached, read_location
from .corpus import Corpus, Source
from .errors import UsageError
from .lock import writer_lock
from .scan import shown


def add_source(corpus: Corpus, location: str) -> Source:
    """Register a folder or a file by its path (`~` is the home folder); the same one again is returned.

    UsageError when it is not there or lies inside, or around, a source that was added before.
    """
    root = Path(os.path.abspath(os.path.expanduser(location)))
    if not root.exists():
        raise UsageError(f"{shown(str(root))} is not there; give a folder or a file that exists")
    with writer_lock(corpus.folder):
        return _same(corpus, root) or _register(corpus, root)


def check_location(location: str) -> None:
    """Raise UsageError where a location cannot be: no such file, folder or database, or badly written."""
    if is_attached(location):
        folder = read_location(location).folder
        if folder is not None and not (folder / STORE).is_file():
            raise UsageError(f"there is no Chroma database in {shown(str(folder))}; give its folder")
    elif not Path(location).expanduser().exists():
        raise UsageError(f"there is no file or folder {shown(location)}; give one that exists")


def _same(corpus: Corpus, root: Path) -> Source | None:
    """Return the source that a place already is; UsageError where it lies in one or around one."""
    for source in [one for one in corpus.sources() if one.kind == "files"]:
        if os.path.realpath(source.root) == os.path.realpath(root):
            return source
        _refuse_overlap(root, source)
    if corpus.folder.resolve() in (root.resolve(), *root.resolve().parents):
        raise UsageError(f"{shown(str(root))} is quaere's own folder; add the folder that holds your files")
    return None


def _register(corpus: Corpus, root: Path) -> Source:
    name = free_name(shown(root.name) or "root", {source.id for source in corpus.sources()})
    with corpus.write() as writer:
        writer.put_source(name, os.fsencode(root), root.stat().st_ino)
    return next(source for source in corpus.sources() if source.id == name)


def _refuse_overlap(root: Path, source: Source) -> None:
    inner, outer = root.resolve(), source.root.resolve()
    name, here, there = source.id, shown(str(root)), shown(str(source.root))
    if outer in inner.parents:
        raise UsageError(f"{here} lies in source {name!r} ({there}); run `quaere sync` to index it")
    if inner in outer.parents:
        raise UsageError(f"{here} holds source {name!r} ({there}); add the other folders in it one by one")


def free_name(name: str, taken: set[str]) -> str:
    """Return a name for a source that no other has: the one wished for, or it with a number."""
    names = [name, *(f"{name}-{n}" for n in range(2, len(taken) + 3))]
    return next(one for one in names if one not in taken)
