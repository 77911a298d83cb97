"""The frozen vocabulary of evidence: who asks, what was read, where it stands, what was claimed.

Offsets are code points of a version's canonical text, half open. Revisions count commits of the corpus.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

BlockKind = Literal["heading", "paragraph", "item", "header", "row", "code", "caption"]
"""`item` is a list item, `header` the header row of a table, `row` one of its other rows."""

SentenceKind = Literal["prose", "heading", "item", "row", "code"]
Verdict = Literal["supported", "contradicted", "not_found", "not_judged"]
ClaimKind = Literal["stated", "computed", "compared"]
Status = Literal["answered", "partial", "conflicting", "abstained", "asks", "stopped", "failed"]
Feature = float | int | str | bool


@dataclass(frozen=True, slots=True)
class Access:
    """Say who asks and which label values that principal may read; set by the face, never by a caller."""

    principal: str
    groups: frozenset[str] = frozenset()
    allowed: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def is_owner(self) -> bool:
        """Tell whether the principal owns the workspace and reads everything in it."""
        return self.principal == "owner"

    def may_read(self, labels: Mapping[str, str]) -> bool:
        """Tell whether a document with these labels is readable; unlabelled is for the owner only."""
        if self.is_owner:
            return True
        return bool(labels) and all(value in self.allowed.get(key, ()) for key, value in labels.items())


OWNER = Access("owner")


@dataclass(frozen=True, slots=True)
class Filter:
    """Narrow a search; every given part must hold, a missing label never matches, paths are globs."""

    sources: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    valid_at: date | None = None


NO_FILTER = Filter()


@dataclass(frozen=True, slots=True)
class Span:
    """Mark the code points [start, end) of one version's canonical text."""

    version: int
    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"a span runs forwards from 0, not [{self.start}, {self.end})")

    def __len__(self) -> int:
        return self.end - self.start

    def covers(self, other: Span) -> bool:
        """Tell whether the other span of the same version lies inside this one."""
        return self.version == other.version and self.start <= other.start and other.end <= self.end

    def overlaps(self, other: Span) -> bool:
        """Tell whether the two spans share a code point."""
        return self.version == other.version and self.start < other.end and other.start < self.end

    def join(self, other: Span) -> Span:
        """Return the smallest span that covers both, which must be of one version."""
        if self.version != other.version:
            raise ValueError("spans of two versions have no joint span")
        return Span(self.version, min(self.start, other.start), max(self.end, other.end))


@dataclass(frozen=True, slots=True)
class Locator:
    """Say where a reader finds a span without offsets: page (from 1), heading path, element."""

    page: int | None = None
    last_page: int | None = None
    heading: tuple[str, ...] = ()
    element: str | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """What a block stands in where no heading says so: a definition of code, a member of a record.

    [start, end) is the signature or key that governs the block; a `name` makes it part of the heading path.
    """

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Block:
    """One structural unit of a canonical text, as a parser saw it.

    `level` is 1..6 for headings and the nesting depth (from 1) for list items, else 0. Blocks of one list,
    one table or one code listing share a `group` number (from 1); 0 means alone. `page` counts from 1.
    `element` names the place as the format counts it: an HTML path, a DOCX paragraph or cell, a row, a
    record. `within` are the scopes of a format that nests without headings, outermost first; `line` is the
    line (from 1) a block begins on in a file that is read by lines.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    group: int = 0
    page: int | None = None
    element: str | None = None
    within: tuple[Scope, ...] = ()
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file as canonical text with its structure; blocks are in order and do not overlap."""

    text: str
    blocks: tuple[Block, ...]
    title: str
    media_type: str
    parser: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Validity:
    """When a version holds: first and last day as ISO 8601 dates, None for open; what replaced it, if said.

    `superseded_by` is the name or path of the newer document as the version or the settings write it.
    """

    valid_from: str | None = None
    valid_until: str | None = None
    superseded_by: str | None = None

    def holds(self, day: str) -> bool:
        """Tell whether a version holds on a day, given as an ISO 8601 date."""
        return (self.valid_from or "") <= day and (self.valid_until is None or day <= self.valid_until)


ALWAYS_VALID = Validity()


@dataclass(frozen=True, slots=True)
class Document:
    """A file of a source; `path` is relative to the source and uses forward slashes."""

    id: int
    source: str
    path: str
    title: str
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Version:
    """One observed state of a document; `born` and `died` are revisions, times are ISO 8601 in UTC."""

    id: int
    document: int
    content_hash: str
    text_hash: str
    media_type: str
    parser: str
    splitter: str
    observed_at: str
    valid_from: str | None
    valid_until: str | None
    born: int
    died: int | None


@dataclass(frozen=True, slots=True)
class Sentence:
    """A unit that can be cited, with the spans that govern its reading (headings, lead-in, header row)."""

    ordinal: int
    source: Span
    governed_by: tuple[Span, ...]
    kind: SentenceKind


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of one version that is searched as a whole.

    `sentences` is the half-open range of sentence ordinals inside it, `parent` the section it belongs to,
    `ordinal` its place in the version (neighbours differ by one), `origin` the document.
    """

    id: int
    span: Span
    ordinal: int
    heading: tuple[str, ...]
    sentences: tuple[int, int]
    parent: Span
    origin: int


@dataclass(frozen=True, slots=True)
class Reading:
    """A passage with the texts a policy may look at, cut from the stored version under access."""

    passage: Passage
    document: Document
    text: str
    sentences: tuple[Sentence, ...]
    texts: tuple[str, ...]
    governing: tuple[tuple[str, ...], ...]
    locator: Locator
    validity: Validity = ALWAYS_VALID


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage found by one channel for one query; `rank` counts from 1, a higher `score` is better."""

    passage: Passage
    channel: str
    query: str
    rank: int
    score: float
    features: Mapping[str, Feature] = field(default_factory=dict)
    revision: int = 0


@dataclass(frozen=True, slots=True)
class Footnote:
    """A citation as a reader sees it: number, document, span and the quoted text cut from the version."""

    n: int
    document: str
    source: str
    span: Span
    quote: str
    locator: Locator
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of an answer and the sentence ids (`S3.2`) that carry it.

    `formula` holds the operation of a computed claim, `qualifies` the index of the claim that falls with
    this one, `need` the id of the need it answers.
    """

    text: str
    cites: tuple[str, ...]
    kind: ClaimKind = "stated"
    formula: str | None = None
    qualifies: int | None = None
    need: str | None = None
    verdict: Verdict = "not_judged"
    reason: str = ""
    footnotes: tuple[Footnote, ...] = ()


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two claims that cannot both hold, each with its footnotes."""

    about: str
    sides: tuple[Claim, ...]
