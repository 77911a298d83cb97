"""The only composition root: a workspace, its encoder, the graph and the ports, behind one `Agent`."""

from __future__ import annotations

import asyncio
import contextvars
import math
import os
import threading
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from ..graphs.budget import Budget
from ..tools.chroma_search import ChromaSearch
from ..tools.corpus import DATABASE, Corpus, SourceSummary
from ..tools.errors import UsageError
from ..tools.evidence import NO_FILTER, OWNER, Access, Filter
from ..tools.gate import check_gate
from ..tools.index import IndexSettings, Progress
from ..tools.reader import Ranking, Reader
from .asking import Given, Question, Seat
from .doctor import examine
from .permissions import Permissions, idle_rules, visible_sources
from .remembered import readable_turns
from .removing import named_source
from .settings import Settings, load_settings

if TYPE_CHECKING:
    from ..tools.answer import Answer, Search
    from ..tools.checkup import Checkup
    from ..tools.embed import Encoder
    from ..tools.purge import Receipt
    from ..tools.removal import Removal
    from ..tools.sync import SyncReport
    from .capabilities import CapabilityBook
    from .deciding import ModelChoice

WORKSPACE = ".quaere"
LONGEST_QUESTION = 8000
"""Characters of a question at most; more is a document, to be added rather than asked."""

T = TypeVar("T")


class Agent:
    """Answer questions from the sources of one workspace, as one principal."""

    def __init__(self, folder: Path, access: Access | str, settings: Settings) -> None:
        self.folder = folder
        self.settings = settings
        self.resident = True
        """Whether this process stays for more than one question, so that loading Chroma is worth a second."""
        self._permissions = Permissions(folder)
        self._principal = access
        check_gate(self.access, NO_FILTER)
        self._corpus: Corpus | None = None
        self._loop = _LoopThread()
        self._opening = threading.Lock()
        self._opened: tuple[Encoder | None, ...] = ()
        if (folder / WORKSPACE / DATABASE).exists():
            self._corpus = Corpus.open(folder / WORKSPACE)

    @classmethod
    def open(
        cls,
        path: str | Path = ".",
        *,
        access: Access | str = OWNER,
        overrides: Mapping[str, object] | None = None,
    ) -> Self:
        """Open the workspace at a folder or above it; UsageError when the folder is not there.

        `access` may be the name of somebody in quaere.toml, whose rights then are those the file gives at
        each question. A folder without an index opens as an empty collection; `add` makes the index.
        """
        start = Path(path).expanduser().absolute()
        if not start.is_dir():
            raise UsageError(f"there is no folder {start}; give one that exists")
        folder = find_workspace(start)
        return cls(folder, access, load_settings(folder, os.environ, overrides or {}))

    @property
    def access(self) -> Access:
        """Return who asks and what that principal may read now."""
        if isinstance(self._principal, str):
            return self.access_of(self._principal)
        return self._principal

    def access_of(self, name: str) -> Access:
        """Return what somebody in quaere.toml may read now; UsageError when nobody is named so."""
        return self._permissions.access_of(name)

    def add(self, location: str | Path, progress: Progress | None = None) -> SyncReport:
        """Add a folder, a file or a Chroma collection (chroma:FOLDER#NAME) and index it at once."""
        from ..tools.attached_location import is_attached
        from ..tools.attached_sync import attach_source
        from ..tools.sources import add_source, check_location
        from ..tools.sync import sync_source

        self._refuse_guests("add sources")
        check_location(str(location))
        corpus = self._corpus = self._corpus or Corpus.create(self.folder / WORKSPACE)
        encoder, settings = self.encoder, self._index_settings
        source = (
            attach_source(corpus, str(location), encoder, settings)
            if is_attached(str(location))
            else add_source(corpus, str(location))
        )
        return self._warned(sync_source(corpus, source.id, encoder, settings, progress))

    def sync(self, progress: Progress | None = None) -> SyncReport:
        """Make the index equal to the sources as they are now."""
        from ..tools.sync import sync_all

        self._refuse_guests("sync")
        return self._warned(sync_all(self.corpus, self.encoder, self._index_settings, progress))

    def remove(self, source: str, paths: Sequence[str] = ()) -> Removal:
        """Remove a source (by its name or place), or of it what is gone from its folder or excluded."""
        from ..tools.removal import Choice, remove

        self._refuse_guests("remove sources")
        choice = Choice(named_source(self.corpus, source, removed_too=False), tuple(paths))
        return remove(self.corpus, choice, self._index_settings)

    def purge(self, source: str, paths: Sequence[str] = ()) -> Receipt:
        """Remove as `remove` does and leave nothing on the disk, also of what was removed before."""
        from ..tools.purge import purge
        from ..tools.removal import Choice

        self._refuse_guests("purge sources")
        choice = Choice(named_source(self.corpus, source, removed_too=True), tuple(paths))
        return purge(self.corpus, choice, self._index_settings)

    def doctor(self, repair: bool = False) -> Checkup:
        """Check what quaere stands on and every store of the index, after a repair if one is asked for."""
        self._refuse_guests("examine the index")
        return examine(self.folder / WORKSPACE, self.settings, repair)

    def _refuse_guests(self, act: str) -> None:
        """Raise UsageError for everybody but the owner: reports of writing name every file."""
        principal = self.access
        if not principal.is_owner:
            raise UsageError(f"{principal.principal} may ask but not {act}; that is for the owner")

    def _warned(self, report: SyncReport) -> SyncReport:
        """Return the report with a warning for each rule that fits nothing."""
        idle = tuple(idle_rules(self._permissions.rulebook, self.corpus))
        return replace(report, warnings=(*report.warnings, *idle))

    def ask(
        self,
        question: str,
        *,
        sync: bool = False,
        **given: Unpack[Given],
    ) -> Answer:
        """Answer a question; works inside a running event loop too.

        Beside it may be given: `history`, `filter`, `budget` (lower limits), `policy` (`auto`, `rules`,
        `model`, or one of your own).
        """
        if sync:
            self.sync()
        return self.answer(Question(question, **given))

    def answer(self, question: Question) -> Answer:
        """Answer a question with everything that may be set for it."""
        return self._loop.run(self.aanswer(question))

    async def aask(
        self,
        question: str,
        *,
        sync: bool = False,
        **given: Unpack[Given],
    ) -> Answer:
        """Answer a question on the caller's event loop."""
        if sync:
            await asyncio.to_thread(self.sync)
        return await self.aanswer(Question(question, **given))

    async def aanswer(self, question: Question) -> Answer:
        """Answer a question on the caller's event loop, in a context of its own."""
        if len(question.text) > LONGEST_QUESTION:
            raise UsageError(
                f"the question has {len(question.text):,} characters; ask in at most {LONGEST_QUESTION:,}, "
                "and add longer texts as a source"
            )
        # A run inside another graph's node would inherit its thread and stream through the context.
        task = asyncio.create_task(self._run(question), context=contextvars.Context())
        try:
            return await task
        except asyncio.CancelledError:
            task.cancel()
            raise

    async def _run(self, question: Question) -> Answer:
        from .run import run_graph

        choice = self._model_choice(question)
        loading = asyncio.to_thread(_load_client) if choice else asyncio.sleep(0)
        seat, _ = await asyncio.gather(asyncio.to_thread(self._seat, question.filter), loading)
        turns = await asyncio.to_thread(readable_turns, question.history, seat.reader, seat.access.is_owner)
        asked = replace(question, history=turns)
        return await run_graph(asked, seat, self.budget_for(question), choice)

    def _model_choice(self, question: Question) -> ModelChoice | None:
        """Return the model that is to decide, None where rules or the question's policy do."""
        from .deciding import ModelChoice, wants_model

        return ModelChoice(self.settings, self._book) if wants_model(question, self.settings) else None

    @cached_property
    def _book(self) -> CapabilityBook:
        from .capabilities import CapabilityBook

        return CapabilityBook(self.folder / WORKSPACE)

    def search(self, query: str, *, filter: Filter = NO_FILTER, k: int = 10) -> Search:
        """Return both rankings of a query and their fusion."""
        from .retrieve import retrieve

        return retrieve(self._seat(filter), query, k, self.settings)

    def sources(self) -> list[SourceSummary]:
        """Return what each source holds that the principal may read."""
        if self._corpus is None:
            return []
        access = self.access
        self._permissions.apply(self._corpus, access)
        found, holdings = self._corpus.overview(), self._corpus.reader(access, NO_FILTER).holdings()
        rulebook = self._permissions.rulebook
        attached = {source.id for source in self._corpus.sources() if source.kind != "files"}

        def may_read(source: str, path: str) -> bool:
            seen = "" if source in attached else path
            return access.is_owner or access.may_read(rulebook.given(source, seen).labels)

        visible = visible_sources(found, holdings, may_read)
        empty = [one for one in found if access.is_owner and one.id not in holdings]
        return sorted([*visible, *empty], key=lambda one: one.id)

    @staticmethod
    def drawing() -> str:
        """Return the Mermaid drawing of the graph."""
        from ..graphs.build import build

        return str(build().get_graph().draw_mermaid())

    @property
    def corpus(self) -> Corpus:
        """Return the corpus; WorkspaceError when nothing was added yet."""
        return self._corpus or Corpus.open(self.folder / WORKSPACE)

    @cached_property
    def corpus_or_empty(self) -> Corpus:
        """Return the corpus, or an empty one that is thrown away, so that asking before adding works."""
        if self._corpus is not None:
            return self._corpus
        import tempfile

        self._empty = tempfile.TemporaryDirectory(prefix="quaere-empty-")
        return Corpus.create(Path(self._empty.name) / WORKSPACE)

    @property
    def encoder(self) -> Encoder | None:
        """Return the encoder, or None where no weights are installed."""
        from ..tools.embed import open_encoder

        with self._opening:
            if not self._opened:
                settings = self.settings.encoder
                self._opened = (open_encoder(settings.model, settings.threads),)
            return self._opened[0]

    def _seat(self, filter: Filter) -> Seat:
        from ..tools.spaces import fit_space

        access = self.access
        fit_space(self.corpus_or_empty, self.encoder)
        return Seat(self._reader(access, filter), self.encoder, access)

    def _reader(self, access: Access, filter: Filter) -> Reader:
        search = self.settings.search
        space = self.encoder.fingerprint if self.encoder else None
        ranking = Ranking(search.k1, search.b, space, self._chroma if self._asks_chroma else None)
        self._permissions.apply(self.corpus_or_empty, access)
        return self.corpus_or_empty.reader(access, filter, ranking=ranking)

    @property
    def _asks_chroma(self) -> bool:
        engine = self.settings.search.vector_engine
        return engine == "chroma" or (engine == "auto" and self.resident)

    @cached_property
    def _chroma(self) -> ChromaSearch:
        return ChromaSearch(self.corpus_or_empty.folder)

    @property
    def _index_settings(self) -> IndexSettings:
        corpus = self.settings.corpus
        return IndexSettings(
            include=tuple(corpus.include),
            exclude=tuple(corpus.exclude),
            max_file_bytes=int(corpus.max_file_mb * 1_000_000),
            passage_tokens=corpus.passage_tokens,
            rulebook=self._permissions.rulebook,
            chroma=self.settings.search.vector_engine != "exact",
            chroma_token_variable=corpus.chroma_token_variable or "",
        )

    def budget_for(self, question: Question) -> Budget:
        """Return the limits of a run: those of the settings, lowered by the caller's."""
        limits = self.settings.budget
        usd = math.inf if limits.usd is None else limits.usd
        own = Budget(limits.steps, limits.model_calls, limits.tool_calls, limits.tokens, limits.seconds, usd)
        return own.narrowed(question.budget) if question.budget else own

    def close(self) -> None:
        """Close the workspace."""
        self._loop.stop()
        if "_chroma" in vars(self):
            self._chroma.close()
        if self._corpus is not None:
            self._corpus.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _load_client() -> None:
    """Load the model's client while the encoder loads."""
    from .connection import load_client

    load_client()


def find_workspace(start: Path) -> Path:
    """Return the nearest folder at or above `start` that holds an index, else `start`."""
    return next((folder for folder in (start, *start.parents) if (folder / WORKSPACE).exists()), start)


class _LoopThread:
    """Run coroutines on an event loop of their own, so that `ask` works inside a running loop."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for a coroutine; an interrupt cancels it before it is passed on."""
        future: Future[T] = asyncio.run_coroutine_threadsafe(work, self._started())
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="quaere", daemon=True).start()
            return self._loop

    def stop(self) -> None:
        """Stop the loop; a later `run` starts a new one."""
        with self._lock:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)
                self._loop = None
