"""Whether records of attached collections still are as they were read, looked up now."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any

from .attached import attached, folder_mark
from .attached_location import STORE, Location, read_location
from .chroma_client import knock
from .errors import SourceUnavailableError
from .standing import Standing, content_hash

PATIENCE = 3.0
"""Seconds a server may be silent before an answer is given without it."""

Row = tuple[Any, ...]


def look_at_records(rows: Iterable[Row]) -> dict[int, Standing]:
    """Compare records with their versions; columns document, location, id, hash, detail, by location.

    Those of a collection that is away count as the same: they are kept until somebody removes them.
    """
    found: dict[int, Standing] = {}
    for (stored, detail), group in groupby(rows, lambda row: (row[1], row[4])):
        held = {os.fsdecode(row[2]): (row[0], row[3]) for row in group}
        texts = _texts(_located(stored), json.loads(detail), list(held))
        for id, (document, hash) in held.items():
            found[document] = "same" if texts is None else _compared(texts.get(id), hash)
    return found


def is_collection_away(stored: bytes) -> bool:
    """Tell whether the folder or the server of a collection is not there now."""
    location = _located(stored)
    if location.server is None:
        return location.folder is None or not (location.folder / STORE).is_file()
    try:
        knock(location.server)
    except (OSError, ValueError):
        return True
    return False


def _located(stored: bytes) -> Location:
    """Return a location as it is looked up before an answer: nobody waits long for it."""
    location = read_location(os.fsdecode(stored))
    return replace(location, server=location.server and replace(location.server, patience=PATIENCE))


def _texts(location: Location, detail: Mapping[str, Any], ids: list[str]) -> Mapping[str, str | None] | None:
    """Return the documents of records by id; None when they are what they were, or nobody can tell."""
    try:
        if location.folder is not None and folder_mark(location.folder) == detail.get("mark"):
            return None
        token = os.environ.get(detail.get("token_variable") or "", "")
        with attached(location, token) as collection:
            return collection.texts(ids)
    except (SourceUnavailableError, OSError):
        return None


def _compared(text: str | None, hash: str) -> Standing:
    if text is None or not text.strip():
        return "gone"
    return "same" if content_hash(text.encode("utf-8", "replace")) == hash else "changed"
