"""The text tools a model may choose from: keyword_search, vector_search and expand, by their schemas.

Access, filter and revision are fixed in the reader they are built with and stand in no schema. The passages
a run holds already travel in the call's config (`configurable.seen`), outside the arguments.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, ConfigDict, Field

from .analyze import terms
from .embed import Encoder
from .errors import UsageError
from .evidence import Candidate, Document
from .expand import reach_of
from .globs import matcher
from .plain import plain
from .reader import Reader

MOST_TITLES = 8
"""Titles of the corpus a description names at most."""

DESCRIPTION_CHARACTERS = 600
"""Characters of a description at most, about 150 tokens."""

SNIPPET = 200
"""Characters of each passage in the text a model reads; the whole passage travels in the artifact."""

LONGEST_QUERY = 8000
"""Characters of a query at most."""


class SearchArgs(BaseModel):
    """Arguments of both searches."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(
        min_length=1, max_length=LONGEST_QUERY, description="What to look for, in plain words."
    )
    k: int = Field(10, ge=1, le=50, description="How many passages to return.")
    within: list[str] = Field(
        default_factory=list,
        description="Search only these sources or paths: source names, folders, or globs such as 'docs/**'.",
    )
    phrase: str = Field("", max_length=200, description="Words that must stand in the passage exactly so.")
    exclude_seen: bool = Field(False, description="Leave out passages that this run has found already.")
    page: int = Field(1, ge=1, le=20, description="2 gives the next k passages, 3 those after them.")


class ExpandArgs(BaseModel):
    """Arguments of expand."""

    model_config = ConfigDict(extra="forbid")

    passage: int = Field(description="The number of a passage that was found, without the S.")
    reach: Literal["around", "section", "document"] = Field(
        "around", description="The passages before and after it, its section, or its whole document."
    )
    limit: int = Field(6, ge=1, le=40, description="How many further passages to return at most.")


@dataclass(frozen=True, slots=True)
class Seat:
    """Where tools sit: the reader with its access, the encoder if there is one."""

    reader: Reader
    encoder: Encoder | None


def build_tools(seat: Seat) -> tuple[BaseTool, ...]:
    """Return the tools for one principal; vector_search only where an encoder runs."""
    holds = _holdings(seat.reader)
    found = [
        _tool("keyword_search", _keyword(seat), SearchArgs, f"{_KEYWORD} {holds}"),
        _tool("expand", _expand(seat), ExpandArgs, _EXPAND),
    ]
    if seat.encoder is not None:
        found.insert(1, _tool("vector_search", _vector(seat, seat.encoder), SearchArgs, f"{_VECTOR} {holds}"))
    return tuple(found)


_KEYWORD = (
    "Find passages by their words (BM25). Best for names, identifiers, codes, options and rare terms; "
    "identifiers are found whole and in parts."
)
_VECTOR = "Find passages by meaning (sentence embeddings). Best when the sources may use other words."
_EXPAND = (
    "Read on around a passage that was found: what stands before and after it, its section, its document."
)


def _holdings(reader: Reader) -> str:
    """Say what the readable corpus holds, within the length of a description."""
    documents = len(reader.documents())
    titles = "; ".join(f"“{plain(title)[:40]}”" for title in reader.titles(MOST_TITLES))
    return f"Holds {documents} documents, such as {titles}."[: DESCRIPTION_CHARACTERS - 200] if titles else ""


Found = tuple[str, list[Candidate]]


def _tool(name: str, run: Callable[..., Found], schema: type[BaseModel], description: str) -> BaseTool:
    """Return a structured tool that runs in a worker thread when it is awaited."""

    async def run_async(config: RunnableConfig, **arguments: object) -> Found:
        return await asyncio.to_thread(run, config, **arguments)

    def run_here(config: RunnableConfig, **arguments: object) -> Found:
        return run(config, **arguments)

    return StructuredTool(
        name=name,
        description=description[:DESCRIPTION_CHARACTERS],
        args_schema=schema,
        func=run_here,
        coroutine=run_async,
        response_format="content_and_artifact",
    )


def _keyword(seat: Seat) -> Callable[..., Found]:
    def search(config: RunnableConfig, **arguments: object) -> Found:
        asked = SearchArgs.model_validate(arguments)
        wanted = terms(asked.query)
        return _search(seat, asked, config, _Channel("keyword", lambda k: seat.reader.keyword(wanted, k)))

    return search


def _vector(seat: Seat, encoder: Encoder) -> Callable[..., Found]:
    def search(config: RunnableConfig, **arguments: object) -> Found:
        asked = SearchArgs.model_validate(arguments)
        query = encoder.encode_query(asked.query)
        return _search(seat, asked, config, _Channel("vector", lambda k: seat.reader.vector(query, k)))

    return search


@dataclass(frozen=True, slots=True)
class _Channel:
    """One way of ranking passages; `rank(k)` gives (passage id, score), best first."""

    name: str
    rank: Callable[[int], list[tuple[int, float]]]


def _search(seat: Seat, asked: SearchArgs, config: RunnableConfig, channel: _Channel) -> Found:
    """Return one page of a channel's ranking after what the caller left out is gone."""
    narrow = bool(asked.within or asked.phrase or asked.exclude_seen)
    ranked = channel.rank(_EVERYTHING if narrow else asked.k * asked.page)
    if narrow:
        ranked = _narrowed(seat.reader, ranked, asked, _seen(config))
    begin = asked.k * (asked.page - 1)
    page = ranked[begin : begin + asked.k]
    passages = seat.reader.passages([passage for passage, _ in page])
    candidates = [
        Candidate(passages[i], channel.name, asked.query, rank, score, {}, seat.reader.revision)
        for rank, (i, score) in enumerate(page, begin + 1)
        if i in passages
    ]
    return _listing(seat.reader, candidates), candidates


_EVERYTHING = 1_000_000


def _narrowed(
    reader: Reader, ranked: Sequence[tuple[int, float]], asked: SearchArgs, seen: frozenset[int]
) -> list[tuple[int, float]]:
    """Drop passages outside `within`, without the phrase, or seen already."""
    kept = [pair for pair in ranked if not (asked.exclude_seen and pair[0] in seen)]
    if asked.within:
        documents = {document.id: document for document in reader.documents()}
        passages = reader.passages([passage for passage, _ in kept])
        kept = [
            (i, s) for i, s in kept if i in passages and _inside(documents[passages[i].origin], asked.within)
        ]
    if asked.phrase:
        sought = " ".join(asked.phrase.casefold().split())
        readings = reader.readings([passage for passage, _ in kept])
        kept = [
            (i, s)
            for i, s in kept
            if i in readings and sought in " ".join(readings[i].text.casefold().split())
        ]
    return kept


def _inside(document: Document, within: Sequence[str]) -> bool:
    """Tell whether a document belongs to one of the named sources, folders or globs."""
    return document.source in within or matcher(within)(document.path)


def _seen(config: RunnableConfig) -> frozenset[int]:
    return frozenset(config.get("configurable", {}).get("seen", ()))


def _expand(seat: Seat) -> Callable[..., Found]:
    def expand(config: RunnableConfig, **arguments: object) -> Found:
        asked = ExpandArgs.model_validate(arguments)
        ids = reach_of(seat.reader, asked.passage, asked.reach, asked.limit)
        if ids is None:
            raise UsageError(
                f"expand: there is no passage {asked.passage}; give the number of one that was found"
            )
        passages = seat.reader.passages(ids)
        candidates = [
            Candidate(
                passages[i],
                "expand",
                f"{asked.reach} of {asked.passage}",
                rank,
                0.0,
                {},
                seat.reader.revision,
            )
            for rank, i in enumerate(ids, 1)
            if i in passages
        ]
        return _listing(seat.reader, candidates), candidates

    return expand


def _listing(reader: Reader, candidates: Sequence[Candidate]) -> str:
    """Return the found passages for a model to read: number, place, beginning of the text."""
    if not candidates:
        return "nothing found"
    readings = reader.readings([candidate.passage.id for candidate in candidates])
    lines = []
    for candidate in candidates:
        reading = readings.get(candidate.passage.id)
        if reading is not None:
            place = " › ".join([reading.document.path, *reading.passage.heading])
            lines.append(f"{candidate.passage.id}. {place}: {plain(reading.text)[:SNIPPET]}")
    return "\n".join(lines)
