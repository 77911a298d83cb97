"""Take documents out of the corpus for good: a source with all it holds, or those whose file is gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .attached_location import KIND
from .corpus import Corpus
from .errors import UsageError
from .globs import matcher
from .index import IndexSettings
from .lock import writer_lock
from .scan import scan
from .writer import Writer


@dataclass(frozen=True, slots=True)
class Choice:
    """What is to go: a source by its name, or of it only the documents whose path fits a pattern."""

    source: str
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Removal:
    """What was removed of a source.

    `documents` could be found before, `failures` are files that could not be read. `kept` are the paths that
    fit but would come back with the next sync, because their files are still there. `is_whole` says that the
    source itself is gone.
    """

    source: str
    documents: int
    failures: int
    kept: tuple[str, ...]
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Selection:
    """Documents by id: the `living` that go, the `dead` ones that fit, and the paths of those `kept`."""

    choice: Choice
    living: Sequence[int]
    dead: Sequence[int]
    kept: Sequence[tuple[int, str]]
    failures: Sequence[str]


def remove(corpus: Corpus, choice: Choice, settings: IndexSettings) -> Removal:
    """Take documents out of every search at once, in one transaction, and return what was done.

    UsageError when there is nothing to remove, or everything that fits would come back with the next sync.
    """
    with writer_lock(corpus.folder):
        selection = select(corpus, choice, settings)
        if choice.paths and not selection.living and not selection.failures:
            raise refusal(selection)
        with corpus.write() as writer:
            return carry_out(writer, selection)


def select(corpus: Corpus, choice: Choice, settings: IndexSettings) -> Selection:
    """Return which documents a choice means; UsageError when there was never such a source."""
    with corpus.reading() as db:
        rows = db.execute(
            "SELECT id, path, current IS NOT NULL FROM documents WHERE source = ? ORDER BY path, id",
            (choice.source,),
        ).fetchall()
    if not rows and choice.source not in {source.id for source in corpus.sources()}:
        raise UsageError(f"there is no source {choice.source!r}; `quaere sources` lists them")
    fits = matcher(choice.paths) if choice.paths else _anything
    coming_back = _coming_back(corpus, choice, settings) if choice.paths else _nothing
    fitting = [(id, path, lives) for id, path, lives in rows if fits(path)]
    living = [(id, path) for id, path, lives in fitting if lives]
    return Selection(
        choice,
        [id for id, path in living if not coming_back(path)],
        [id for id, _, lives in fitting if not lives],
        [(id, path) for id, path in living if coming_back(path)],
        [path for path in corpus.failures(choice.source) if fits(path) and not coming_back(path)],
    )


def carry_out(writer: Writer, selection: Selection) -> Removal:
    """Put tombstones on what was selected, and forget the source when all of it was."""
    choice = selection.choice
    for document in selection.living:
        writer.delete_document(document)
    for path in selection.failures:
        writer.clear_failure(choice.source, path)
    if not choice.paths:
        writer.drop_source(choice.source)
    kept = tuple(path for _, path in selection.kept)
    return Removal(choice.source, len(selection.living), len(selection.failures), kept, not choice.paths)


def refusal(selection: Selection) -> UsageError:
    """Return why nothing can be removed by these paths, and the way out."""
    source, patterns = selection.choice.source, ", ".join(map(repr, selection.choice.paths))
    if not selection.kept:
        return UsageError(
            f"no document of {source!r} fits {patterns}; give paths as `quaere search` shows them"
        )
    more = f" and {len(selection.kept) - 1:,} more" if len(selection.kept) > 1 else ""
    return UsageError(
        f"{selection.kept[0][1]}{more} of {source!r} would come back with the next sync; delete the file, "
        "or put its path into corpus.exclude in quaere.toml first"
    )


def _anything(path: str) -> bool:
    return True


def _nothing(path: str) -> bool:
    return False


def _coming_back(corpus: Corpus, choice: Choice, settings: IndexSettings) -> Callable[[str], bool]:
    """Return a test of whether a path would be indexed again by the next sync.

    Of a folder that is away nobody can tell what is gone: all that the settings admit may come back.
    """
    source = next((source for source in corpus.sources() if source.id == choice.source), None)
    if source is None:
        return _nothing
    if source.kind == KIND:
        raise UsageError(
            f"{choice.source!r} is an attached collection, which comes back as it is; delete records there, "
            "or remove it whole"
        )
    admitted = matcher(settings.include) if settings.include else _anything
    excluded = matcher(settings.exclude)
    found = scan(source.root, settings.include, settings.exclude)
    there = {file.path for file in found.files}
    hidden = tuple(f"{folder}/" if folder else "" for folder in found.unreadable)
    return lambda path: path in there or (path.startswith(hidden) and admitted(path) and not excluded(path))
