"""The Library port over a reader of the corpus, with what one run has read kept at hand."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..graphs.ports import Frequencies, Standing
from ..tools.embed import Encoder
from ..tools.evidence import Locator, Reading, Span
from ..tools.plain import plain
from ..tools.reader import Reader

AROUND = 1500
"""Characters of the section looked at on each side of a passage."""

MOST_UNREAD = 3
"""Parts of documents that could not be read of which an answer tells."""

EMPTY = "the collection holds no text to search; add some with `quaere add FOLDER`, or widen the filter"


class CorpusLibrary:
    """Read the corpus for one run, in worker threads; vectors of sentences are computed once a run."""

    def __init__(self, reader: Reader, encoder: Encoder | None) -> None:
        self._reader = reader
        self._encoder = encoder
        self._sentences: dict[int, NDArray[np.float32]] = {}

    @property
    def revision(self) -> int:
        """Return the revision the reader is pinned to."""
        return self._reader.revision

    async def readings(self, path: str, ids: Sequence[int]) -> Mapping[int, Reading]:
        """Return the passages that are readable now, with their texts."""
        return await asyncio.to_thread(self._reader.readings, ids) if ids else {}

    async def surroundings(self, path: str, ids: Sequence[int]) -> Mapping[int, str]:
        """Return up to AROUND characters of the section on both sides of each passage."""
        return await asyncio.to_thread(self._surroundings, ids) if ids else {}

    def _surroundings(self, ids: Sequence[int]) -> dict[int, str]:
        found = self._reader.passages(ids)
        return {i: self._reader.cut(_around(one.span, one.parent)) for i, one in found.items()}

    async def similarity(self, path: str, query: str, ids: Sequence[int]) -> Mapping[int, tuple[float, ...]]:
        """Return the cosine of each sentence of each passage to the query; empty without an encoder."""
        if self._encoder is None or not ids:
            return {}
        return await asyncio.to_thread(self._similarity, self._encoder, query, ids)

    def _similarity(self, encoder: Encoder, query: str, ids: Sequence[int]) -> dict[int, tuple[float, ...]]:
        self._encode_sentences(encoder, [i for i in ids if i not in self._sentences])
        vector = encoder.encode_query(query)
        return {i: tuple((self._sentences[i] @ vector).tolist()) for i in ids if i in self._sentences}

    def _encode_sentences(self, encoder: Encoder, ids: Sequence[int]) -> None:
        readings = self._reader.readings(ids)
        texts = [_sentence_input(text) for reading in readings.values() for text in reading.texts]
        vectors = encoder.encode_documents(texts)
        begin = 0
        for i, reading in readings.items():
            self._sentences[i] = vectors[begin : begin + len(reading.texts)]
            begin += len(reading.texts)

    async def frequencies(self, path: str, terms: Sequence[str]) -> Frequencies:
        """Return in how many readable passages each term stands."""
        return await asyncio.to_thread(self._frequencies, terms)

    def _frequencies(self, terms: Sequence[str]) -> Frequencies:
        return Frequencies(int(self._reader.allowed.sum()), self._reader.document_frequency(terms))

    async def quotes(self, path: str, spans: Sequence[Span]) -> tuple[tuple[str, Locator], ...]:
        """Return the stored text and the place of each span."""
        return await asyncio.to_thread(
            lambda: tuple((self._reader.cut(span), self._reader.locate(span)) for span in spans)
        )

    async def standing(self, path: str, documents: Iterable[int]) -> Mapping[int, Standing]:
        """Look at the files of documents on disk now."""
        return await asyncio.to_thread(self._reader.standing, tuple(documents))

    async def notes(self, path: str) -> tuple[str, ...]:
        """Return what a reader should know about the corpus."""
        return await asyncio.to_thread(self.corpus_notes)

    async def unread(self, path: str, documents: Iterable[int]) -> tuple[str, ...]:
        """Return what could not be read of documents when they were indexed; of many parts only the first."""
        wanted = frozenset(documents)
        told = [
            f"{document.path}: {warning}"
            for document, warning in await asyncio.to_thread(self._reader.warnings)
            if document.id in wanted
        ]
        more = [f"{len(told) - MOST_UNREAD} more parts could not be read"] if len(told) > MOST_UNREAD else []
        return (*told[:MOST_UNREAD], *more)

    def corpus_notes(self) -> tuple[str, ...]:
        """Say that nothing is indexed, a source is away, no encoder runs, vectors wait, or Chroma failed."""
        if not self._reader.allowed.any():
            return (EMPTY,)
        away = [f"source {name!r} is not there now: cited as it was indexed" for name in self._reader.away()]
        return (*away, *self._search_notes())

    def _search_notes(self) -> tuple[str, ...]:
        if self._encoder is None:
            return ("no encoder is installed: found by keywords only",)
        ready, total = self._reader.vectors_ready(self._encoder.fingerprint)
        waits = "" if ready == total else f"vectors {ready * 100 // total} % ready: run `quaere sync`"
        return tuple(note for note in (waits, self._reader.engine_note) if note)


def _around(span: Span, parent: Span) -> Span:
    return Span(span.version, max(parent.start, span.start - AROUND), min(parent.end, span.end + AROUND))


def _sentence_input(text: str) -> str:
    """Return a sentence as it is encoded: plain wording, cut where an encoder would cut it."""
    return plain(text)[:800] or "-"
