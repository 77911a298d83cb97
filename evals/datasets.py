"""Read retrieval sets from a data folder: JSON Lines of documents, queries and judgements, never copied."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..tools.errors import UsageError

Judgements = Mapping[str, Mapping[str, int]]
"""Relevance by query id and document id; what is not named is not relevant."""

DATA_VARIABLE = "QUAERE_DATA"


@dataclass(frozen=True, slots=True)
class Text:
    """A document of a retrieval set."""

    id: str
    title: str
    body: str


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """Documents, the queries asked of them by id, and which documents are relevant to each."""

    name: str
    documents: tuple[Text, ...]
    queries: Mapping[str, str]
    judgements: Judgements


def data_folder(given: str | None = None) -> Path:
    """Return the data folder given, or the one QUAERE_DATA names; UsageError when there is none."""
    name = given or os.environ.get(DATA_VARIABLE)
    if not name:
        raise UsageError(f"no data folder is given; name one as the first argument or in {DATA_VARIABLE}")
    folder = Path(name)
    if not folder.is_dir():
        raise UsageError(f"the data folder {folder} is not there; name the folder that holds the sets")
    return folder


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file; UsageError names the file and line that is none."""
    if not path.is_file():
        raise UsageError(f"{path} is not there; name the folder that holds the set")
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield _object(line, f"{path}:{number}")


def read_scifact(folder: Path, part: str = "test") -> RetrievalSet:
    """Return SciFact: `test` is the BEIR queries given, `train` the claims parameters are chosen on."""
    home = folder / "scifact" if (folder / "scifact").is_dir() else folder
    documents = tuple(
        Text(row["_id"], row["title"], row["text"]) for row in read_lines(home / "corpus.jsonl")
    )
    if part == "test":
        queries = {row["_id"]: row["text"] for row in read_lines(home / "queries.test.jsonl")}
        return RetrievalSet("scifact test", documents, queries, _judgements(home / "qrels.test.jsonl"))
    if part != "train":
        raise UsageError(f"SciFact has no part {part!r} here; take test or train")
    claims = list(read_lines(home / "claims.train.jsonl"))
    return RetrievalSet(
        "scifact train",
        documents,
        {row["id"]: row["claim"] for row in claims},
        {row["id"]: dict.fromkeys(row["cited_doc_ids"], 1) for row in claims},
    )


def _judgements(path: Path) -> Judgements:
    found: dict[str, dict[str, int]] = {}
    for row in read_lines(path):
        found.setdefault(row["query_id"], {})[row["doc_id"]] = row["score"]
    return found


def _object(line: str, place: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise UsageError(f"{place} is no JSON ({error}); fetch the set again") from error
    if not isinstance(row, dict):
        raise UsageError(f"{place} is no JSON object; fetch the set again")
    return row
