"""Who may read what, as quaere.toml says now: the file is looked at before every reading.

A chat or a server may run for days; what its owner forbids in between holds from the next question on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from ..tools.corpus import Corpus, SourceSummary
from ..tools.errors import BusyError, WorkspaceError
from ..tools.evidence import NO_FILTER, OWNER, Access
from ..tools.globs import matcher
from ..tools.reader import Holding
from ..tools.relabel import apply_rulebook
from ..tools.rulebook import Rulebook
from .flags import nearest
from .settings import FILE, Settings, load_settings


class Permissions:
    """Keep the tables of one quaere.toml, read again when its bytes change."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._read: tuple[bytes | None, Settings] | None = None

    @property
    def rulebook(self) -> Rulebook:
        """Return the rules as the file gives them now; SettingsError when it cannot be read."""
        return self._current().rulebook

    def access_of(self, name: str) -> Access:
        """Return what somebody may read now; UsageError when nobody is named so."""
        return self._current().access_of(name)

    def apply(self, corpus: Corpus, access: Access) -> None:
        """Make the stored labels follow the rules before they are read.

        Where they have to be written and cannot be, the owner goes on and anybody else is refused.
        """
        try:
            apply_rulebook(corpus, self.rulebook)
        except (WorkspaceError, BusyError) as error:
            if not access.is_owner:
                raise WorkspaceError(
                    f"the rules in {FILE} changed and cannot be applied, so nothing is shown ({error}); "
                    "let somebody who may write the index run `quaere sync`"
                ) from error

    def _current(self) -> Settings:
        with self._lock:
            seen = self._bytes()
            if self._read is None or self._read[0] != seen:
                self._read = seen, load_settings(self._folder, {}, {})
            return self._read[1]

    def _bytes(self) -> bytes | None:
        try:
            return (self._folder / FILE).read_bytes()
        except OSError:
            return None


def visible_sources(
    summaries: Iterable[SourceSummary], holdings: Mapping[str, Holding], may_read: Callable[[str, str], bool]
) -> list[SourceSummary]:
    """Return the sources with a visible document, and of each what may be told.

    A file that failed is told where `may_read`, asked with source and path, says that its labels are allowed.
    """
    return [
        SourceSummary(  # every field by name: one that is added later must be thought about here
            id=one.id,
            root=one.root,
            documents=holdings[one.id].documents,
            passages=holdings[one.id].passages,
            added_at=one.added_at,
            updated_at=holdings[one.id].updated_at,
            failures=tuple(failure for failure in one.failures if may_read(one.id, failure[0])),
            is_there=one.is_there,
            kind=one.kind,
            vectors=holdings[one.id].vectors,
            labels=holdings[one.id].labels,
        )
        for one in summaries
        if one.id in holdings
    ]


def idle_rules(rulebook: Rulebook, corpus: Corpus) -> Iterator[str]:
    """Yield a warning for each rule that fits no source, or no document of those it fits."""
    if not rulebook.rules:
        return
    sources = [source.id for source in corpus.sources()]
    documents = corpus.reader(OWNER, NO_FILTER).documents()
    for number, rule in enumerate(rulebook.rules, 1):
        fits = matcher((rule.source,))
        if not any(fits(source) for source in sources):
            yield f"{FILE}: rule {number} fits no source: {rule.source!r}{nearest(rule.source, sources)}"
        elif not any(rule.holds(document.source, document.path) for document in documents):
            yield f"{FILE}: rule {number} fits no document: source {rule.source!r}, path {rule.path!r}"
