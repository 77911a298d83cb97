"""Canonical texts of stored versions, the ones used last kept in memory."""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict

KEPT_CHARACTERS = 16_000_000


class Texts:
    """Read texts by version id and keep up to `limit` characters of them; safe to share between threads."""

    def __init__(self, limit: int = KEPT_CHARACTERS) -> None:
        self._limit = limit
        self._kept: OrderedDict[int, str] = OrderedDict()
        self._characters = 0
        self._lock = threading.Lock()

    def of(self, db: sqlite3.Connection, version: int) -> str:
        """Return the whole text of a version; an unknown version has none, which is the empty text."""
        with self._lock:
            if version in self._kept:
                self._kept.move_to_end(version)
                return self._kept[version]
        row = db.execute(
            "SELECT t.body FROM versions v JOIN texts t ON t.id = v.text WHERE v.id = ?", (version,)
        ).fetchone()
        if row is None:
            return ""
        body: str = row[0]
        self._keep(version, body)
        return body

    def _keep(self, version: int, body: str) -> None:
        with self._lock:
            if version not in self._kept:
                self._kept[version] = body
                self._characters += len(body)
            while self._characters > self._limit and len(self._kept) > 1:
                self._characters -= len(self._kept.popitem(last=False)[1])
