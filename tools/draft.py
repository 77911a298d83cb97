"""What is written into a corpus and looked up to be written over: files, versions before they are stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .evidence import ALWAYS_VALID, Parsed, Validity
from .split import Split
from .standing import Observation, Stamp


@dataclass(frozen=True, slots=True)
class File:
    """A file of a source: its path as shown, and as the bytes the file system knows it by, below the root."""

    source: str
    path: str
    name: bytes


@dataclass(frozen=True, slots=True)
class Draft:
    """A file read, parsed, split and analysed, ready to become a version.

    `parser` is the mark of the parser for the path, `mark` names all else that shaped the passages; `terms`
    holds the index terms of each passage, prefix included. `rules` is the mark of the rules that gave labels
    and validity (None: they hold whatever the rules are).
    """

    file: File
    observed: Observation
    parsed: Parsed
    split: Split
    parser: str
    mark: str
    terms: Sequence[Sequence[str]]
    labels: Mapping[str, str] = field(default_factory=dict)
    validity: Validity = ALWAYS_VALID
    rules: str | None = None


@dataclass(frozen=True, slots=True)
class Stored:
    """What is stored of a document that the rules may say otherwise; its text is read by `Writer.text_of`.

    `path` is what the rules see: nothing for a record of a collection, whose id is not the owner's to choose.
    """

    document: int
    version: int
    source: str
    path: str
    labels: Mapping[str, str]
    validity: Validity


@dataclass(frozen=True, slots=True)
class Built:
    """The encoder that made the vectors that are searched, as people know it."""

    name: str
    dimension: int


@dataclass(frozen=True, slots=True)
class Failure:
    """A file that could not be read, why, and its state then (to see whether trying again can help)."""

    path: str
    reason: str
    stamp: Stamp
    parser: str
