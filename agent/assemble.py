"""The only composition root: a workspace, its encoder, the graph and the ports, behind one `Agent`."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from ..graphs.budget import Budget
from ..graphs.policy import Turn
from ..tools.corpus import DATABASE, Corpus, SourceSummary
from ..tools.errors import UsageError
from ..tools.evidence import NO_FILTER, OWNER, Access, Filter
from ..tools.index import IndexSettings, Progress
from ..tools.reader import Ranking, Reader
from .asking import Question, Seat
from .settings import Settings, load_settings

if TYPE_CHECKING:
    from ..tools.answer import Answer, Search
    from ..tools.embed import Encoder
    from ..tools.sync import SyncReport

WORKSPACE = ".quaere"
LONGEST_QUESTION = 8000
"""Characters of a question at most; more is a document, to be added rather than asked."""

T = TypeVar("T")


class Agent:
    """Answer questions from the sources of one workspace, as one principal."""

    def __init__(self, folder: Path, access: Access, settings: Settings) -> None:
        self.folder = folder
        self.access = access
        self.settings = settings
        self._corpus: Corpus | None = None
        self._loop = _LoopThread()
        self._opening = threading.Lock()
        self._opened: tuple[Encoder | None, ...] = ()
        if (folder / WORKSPACE / DATABASE).exists():
            self._corpus = Corpus.open(folder / WORKSPACE)

    @classmethod
    def open(
        cls, path: str | Path = ".", *, access: Access = OWNER, overrides: Mapping[str, object] | None = None
    ) -> Self:
        """Open the workspace at a folder or above it; UsageError when the folder is not there.

        A folder without an index opens as an empty collection; `add` makes the index.
        """
        start = Path(path).expanduser().absolute()
        if not start.is_dir():
            raise UsageError(f"there is no folder {start}; give one that exists")
        folder = find_workspace(start)
        return cls(folder, access, load_settings(folder, os.environ, overrides or {}))

    def add(self, location: str | Path, progress: Progress | None = None) -> SyncReport:
        """Add a folder or a file as a source and index it at once."""
        from ..tools.sync import add_source, sync_source

        if not Path(location).expanduser().exists():
            raise UsageError(f"there is no file or folder {location}; give one that exists")
        corpus = self._corpus = self._corpus or Corpus.create(self.folder / WORKSPACE)
        source = add_source(corpus, str(location))
        return sync_source(corpus, source.id, self.encoder, self._index_settings, progress)

    def sync(self, progress: Progress | None = None) -> SyncReport:
        """Make the index equal to the sources as they are now."""
        from ..tools.sync import sync_all

        return sync_all(self.corpus, self.encoder, self._index_settings, progress)

    def ask(
        self,
        question: str,
        *,
        history: Sequence[Turn] = (),
        filter: Filter = NO_FILTER,
        budget: Budget | None = None,
        sync: bool = False,
    ) -> Answer:
        """Answer a question; works inside a running event loop too."""
        if sync:
            self.sync()
        return self.answer(Question(question, history, filter, budget))

    def answer(self, question: Question) -> Answer:
        """Answer a question with everything that may be set for it."""
        return self._loop.run(self.aanswer(question))

    async def aask(
        self,
        question: str,
        *,
        history: Sequence[Turn] = (),
        filter: Filter = NO_FILTER,
        budget: Budget | None = None,
        sync: bool = False,
    ) -> Answer:
        """Answer a question on the caller's event loop."""
        if sync:
            await asyncio.to_thread(self.sync)
        return await self.aanswer(Question(question, history, filter, budget))

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

        encoder = await asyncio.to_thread(lambda: self.encoder)
        reader = await asyncio.to_thread(self._reader, question.filter)
        seat = Seat(self.corpus_or_empty, reader, encoder, self.access)
        return await run_graph(question, seat, self.budget_for(question))

    def search(self, query: str, *, filter: Filter = NO_FILTER, k: int = 10) -> Search:
        """Return both rankings of a query and their fusion."""
        from .retrieve import retrieve

        seat = Seat(self.corpus_or_empty, self._reader(filter), self.encoder, self.access)
        return retrieve(seat, query, k, self.settings)

    def sources(self) -> list[SourceSummary]:
        """Return what each source holds."""
        return self._corpus.overview() if self._corpus else []

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

    def _reader(self, filter: Filter) -> Reader:
        search = self.settings.search
        space = self.encoder.fingerprint if self.encoder else None
        ranking = Ranking(search.k1, search.b, space)
        return self.corpus_or_empty.reader(self.access, filter, ranking=ranking)

    @property
    def _index_settings(self) -> IndexSettings:
        corpus = self.settings.corpus
        return IndexSettings(
            include=tuple(corpus.include),
            exclude=tuple(corpus.exclude),
            max_file_bytes=int(corpus.max_file_mb * 1_000_000),
            passage_tokens=corpus.passage_tokens,
        )

    def budget_for(self, question: Question) -> Budget:
        """Return the limits of a run: those of the settings, lowered by the caller's."""
        limits = self.settings.budget
        own = Budget(steps=limits.steps, tool_calls=limits.tool_calls, seconds=limits.seconds)
        return own.narrowed(question.budget) if question.budget else own

    def close(self) -> None:
        """Close the workspace."""
        self._loop.stop()
        if self._corpus is not None:
            self._corpus.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


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
