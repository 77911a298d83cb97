"""What somebody may not read has no influence: all they get equals what a corpus without it would give.

Two workspaces live the same life (files added, changed, deleted, labelled, dated by the same quaere.toml), one
with all documents and one that never held those alice may not read. Everything alice can get from either is
written down and compared. Left out of the comparison, because they count or time what happened and so tell that
something happened but not what: ids of passages, documents and versions, the number of the revision, the id and
the seconds of a run, the times of a source; and the folder of a source, which differs between two workspaces.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from counting_encoder import CountingEncoder
from hypothesis import given, settings
from hypothesis import strategies as st
from quaere.agent.assemble import Agent
from quaere.agent.narrowing import narrowing
from quaere.agent.options import SearchOptions
from quaere.agent.remembered import turn_of
from quaere.agent.toolbox import Toolbox
from quaere.tools.errors import QuaereError
from quaere.tools.evidence import NO_FILTER, Filter
from quaere.tools.search_tools import Seat, build_tools

EXAMPLES = 15 if settings.default.max_examples <= 100 else settings.default.max_examples
ENCODER = CountingEncoder("counting letters", dimension=12)
OWN_WORDS = ("plimsol", "quandry", "rhomboz", "syzygot", "tumblex", "umbrago")
"""One word for each document that stands in its path, title, text and perhaps label, and nowhere else."""

PEOPLE = """
[people.alice]
groups = ["reds"]
allowed = {class = ["open"], empty = []}

[groups.reds]
allowed = {team = ["red"]}
"""
LABELS: tuple[Mapping[str, str], ...] = (
    {},
    {"team": "red"},
    {"team": "red", "class": "open"},
    {"team": "red", "class": "{own}"},
    {"team": "{own}"},
    {"empty": "{own}", "team": "red"},
    {"class": "open", "unknown": "{own}"},
)
READABLE = (1, 2)
SENTENCES = (
    "The deposit is 80 EUR.",
    "The deposit is 95 EUR.",
    "Gate 4 opens at 7:30.",
    "Members return a lost badge to the desk.",
    "A lost badge costs 12 EUR.",
    "The board meets in May.",
)
FILTERS = (
    NO_FILTER,
    Filter(sources=("notes",)),
    Filter(paths=("**/*.md",)),
    Filter(labels={"team": ("red",), "class": ("open",)}),
    Filter(labels={"team": ()}),
    Filter(valid_at=date(2024, 6, 1)),
)
DATES = ("", "2024-01-01", "2024-07-01", "2025-03-01")


@dataclass(frozen=True)
class Doc:
    """A document of a random corpus; `number` says which word is its own."""

    number: int
    source: str
    folder: str
    suffix: str
    labels: int
    body: tuple[str, ...]
    later: tuple[str, ...] | None
    valid_from: str
    valid_until: str
    superseded_by: int | None

    @property
    def own(self) -> str:
        return OWN_WORDS[self.number]

    @property
    def path(self) -> str:
        return f"{self.folder}{self.own}{self.suffix}"

    def text(self, body: tuple[str, ...]) -> bytes:
        """Return the file's bytes; a body without sentences is no text at all and fails to be read."""
        lines = " ".join(body)
        return f"# About {self.own}\n\n{lines} It is the {self.own} way.\n".encode() if body else b"\x00\x01"

    def rule(self) -> str:
        labels = ", ".join(
            f'{k} = "{v.format(own=f"label {self.own}")}"' for k, v in LABELS[self.labels].items()
        )
        lines = ["[[rules]]", f'source = "{self.source}"', f'path = "{self.path}"', f"labels = {{{labels}}}"]
        lines += [f"valid_from = {self.valid_from}"] if self.valid_from else []
        lines += [f"valid_until = {self.valid_until}"] if self.valid_until > self.valid_from else []
        named = self.superseded_by is not None and self.superseded_by != self.number
        lines += [f'superseded_by = "{OWN_WORDS[self.superseded_by or 0]}"'] if named else []
        return "\n".join(lines)


bodies = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=3, unique=True).map(tuple)


def docs(number: int) -> st.SearchStrategy[Doc]:
    return st.builds(
        Doc,
        number=st.just(number),
        source=st.sampled_from(["docs", "notes"]),
        folder=st.sampled_from(["", "hr/"]),
        suffix=st.sampled_from([".md", ".txt"]),
        labels=st.integers(0, len(LABELS) - 1),
        body=st.just(()) | bodies,
        later=st.none() | st.just(()) | bodies,
        valid_from=st.sampled_from(DATES),
        valid_until=st.sampled_from(DATES),
        superseded_by=st.none() | st.integers(0, len(OWN_WORDS) - 1),
    )


corpora = st.integers(2, len(OWN_WORDS)).flatmap(lambda count: st.tuples(*map(docs, range(count))))


class CountedAgent(Agent):
    """An agent over an encoder that counts letters, so that vectors cost nothing and never differ."""

    encoder = ENCODER  # type: ignore[assignment]


@contextmanager
def workspace(
    everything: tuple[Doc, ...], held: tuple[Doc, ...], deleted: frozenset[int], engine: str = "exact"
) -> Iterator[Agent]:
    """Give alice's agent over the documents held; the rules are those for all of them."""
    overrides = {"search.vector_engine": engine}
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        home = Path(name)
        rules = "\n\n".join(doc.rule() for doc in everything)
        (home / "quaere.toml").write_text(rules + PEOPLE, "utf-8")
        for doc in held:
            write(home / doc.source / doc.path, doc.text(doc.body))
        owner = stack.enter_context(CountedAgent.open(home, overrides=overrides))
        for source in sorted({doc.source for doc in held}):
            owner.add(home / source)
        for doc in held:
            if doc.number in deleted:
                (home / doc.source / doc.path).unlink()
            elif doc.later is not None:
                write(home / doc.source / doc.path, doc.text(doc.later))
        if held:
            owner.sync()
        yield stack.enter_context(CountedAgent.open(home, access="alice", overrides=overrides))


def write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def everything_told(agent: Agent, words: str) -> dict[str, Any]:
    """Return all that alice can get: searches, answers, lists, tools, counts, refusals."""
    told: dict[str, Any] = {"sources": [told_of(source) for source in agent.sources()]}
    for at, narrow in enumerate(FILTERS):
        told[f"search {at}"] = agent.search(words, filter=narrow, k=20).to_json()
    first = agent.ask(f"{words}?")
    told["answer"] = first.to_json()
    told["follow-up"] = agent.ask("And what does it cost?", history=[turn_of(words, first)]).to_json()
    told["as of a day"] = agent.ask(f"{words}?", filter=FILTERS[-1]).to_json()
    if not agent.sources():  # without an index there are no readers and no tools to compare
        return told
    for at, narrow in enumerate(FILTERS):
        reader = agent.corpus.reader(agent.access, narrow)
        toolbox = Toolbox(build_tools(Seat(reader, ENCODER)))  # type: ignore[arg-type]
        told[f"cards {at}"] = [dataclasses.asdict(card) for card in toolbox.cards()]
        told[f"tools {at}"] = [line for call in CALLS for line in tool_lines(toolbox, words, call)]
        told[f"documents {at}"] = [(one.source, one.path, one.title) for one in reader.documents()]
        told[f"counts {at}"] = reader.document_frequency(["deposit", "badg", *OWN_WORDS])
        told[f"warnings {at}"] = [(one.path, warning) for one, warning in reader.warnings()]
        told[f"ready {at}"] = reader.vectors_ready(ENCODER.fingerprint)
        ids = reader.allowed.nonzero()[0].tolist()
        told[f"validity {at}"] = [str(reading.validity) for reading in reader.readings(ids).values()]
    told["refusals"] = [refusal(agent, name) for name in ("docs", "notes", "note", "x")]
    return told


CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("keyword_search", {}),
    ("keyword_search", {"within": ["notes", "hr/**"]}),
    ("keyword_search", {"phrase": "is 80"}),
    ("vector_search", {"k": 2, "page": 2}),
    ("vector_search", {"exclude_seen": True}),
    ("expand", {"reach": "document"}),
)


def tool_lines(toolbox: Toolbox, words: str, call: tuple[str, dict[str, Any]]) -> list[str]:
    """Return what a tool tells, with the number of a passage replaced by its place in the list."""
    name, arguments = call
    if name == "expand":
        found = asyncio.run(toolbox.call("r1.search.1", "keyword_search", {"query": words}, frozenset()))
        arguments = {**arguments, "passage": min((c.passage.id for c in found.candidates), default=0)}
    else:
        arguments = {**arguments, "query": words}
    told = asyncio.run(toolbox.call("r1.search.1", name, arguments, frozenset()))
    scores = [f"{candidate.rank} {candidate.score:.9f}" for candidate in told.candidates]
    return [told.status, *re.sub(r"(?m)^\d+\. ", "", told.text).split("\n"), *scores]


def told_of(source: Any) -> dict[str, Any]:
    told = dataclasses.asdict(source)
    return {key: value for key, value in told.items() if key not in ("root", "added_at", "updated_at")}


def refusal(agent: Agent, name: str) -> str:
    """Return what --source NAME is answered."""
    try:
        return repr(narrowing(SearchOptions(sources=[name], words=["x"]), agent))
    except QuaereError as error:
        return str(error)


LEFT_OUT = frozenset({"version", "revision", "run", "seconds"})


def comparable(told: Any) -> Any:
    """Return what was told without the fields the docstring of this file names."""
    if isinstance(told, dict):
        return {key: comparable(value) for key, value in told.items() if key not in LEFT_OUT}
    return [comparable(one) for one in told] if isinstance(told, list | tuple) else told


@settings(max_examples=EXAMPLES, deadline=None)
@given(corpora, st.frozensets(st.integers(0, 5), max_size=2), st.sampled_from([*SENTENCES, "deposit badge"]))
def test_what_may_not_be_read_has_no_influence_and_is_never_told(
    documents: tuple[Doc, ...], deleted: frozenset[int], words: str
) -> None:
    readable = tuple(doc for doc in documents if doc.labels in READABLE)
    with workspace(documents, documents, deleted) as agent:
        told = everything_told(agent, words.rstrip("."))
        of_hidden_words = agent.search(" ".join(OWN_WORDS), k=20).to_json()
    with workspace(documents, readable, deleted) as agent:
        assert comparable(told) == comparable(everything_told(agent, words.rstrip(".")))
        assert comparable(of_hidden_words) == comparable(agent.search(" ".join(OWN_WORDS), k=20).to_json())
    # A readable document that names its successor says that name itself.
    named = {doc.superseded_by for doc in readable}
    hidden = {doc.own for doc in documents if doc not in readable and doc.number not in named}
    asked = {key for key in told if key.startswith("counts")}  # their keys are the words that were asked for
    written = json.dumps({key: told[key] for key in told.keys() - asked}, default=str).casefold()
    assert [word for word in sorted(hidden) if word in written] == []


def test_chroma_tells_nobody_whether_something_is_hidden() -> None:
    """Where nothing is hidden Chroma ranks; what somebody is told is the same to the letter."""
    bodies = (SENTENCES[:2], SENTENCES[1:4], SENTENCES[3:])
    documents = tuple(
        Doc(number, "docs", "hr/", ".md", labels, bodies[number % 3], None, "", "", None)
        for number, labels in enumerate((1, 4, 2, 0, 1, 3))
    )
    readable = tuple(doc for doc in documents if doc.labels in READABLE)
    with workspace(documents, documents, frozenset(), "chroma") as agent:
        told = agent.search("lost badge", k=20).to_json()
    with workspace(documents, readable, frozenset(), "chroma") as agent:
        alone = agent.search("lost badge", k=20).to_json()
    assert len(told["hits"]) == len(readable)
    assert told["engine"] is alone["engine"] is None
    assert comparable(told) == comparable(alone)
