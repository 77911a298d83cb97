"""Change files and bring the index in step, for ever, telling each step on a pipe, until somebody kills us.

Run as `worker.py FOLDER SEED KIND STATEMENT`: the files lie in FOLDER/docs. An edit is told before it is made,
what is indexed after it was committed. At the given statement of SQL, if it is not 0, we kill ourselves: that
is where a time picked at random seldom hits.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import sys
from itertools import count
from pathlib import Path

from kill_encoders import ENCODERS
from kill_texts import text_of
from quaere.tools import connections, index
from quaere.tools.chroma import keep_chroma
from quaere.tools.corpus import Corpus
from quaere.tools.purge import purge
from quaere.tools.removal import Choice
from quaere.tools.sync import IndexSettings, sync_all

MOST = 40
"""Files there are at most."""


def tell(step: str, **about: object) -> None:
    """Write a step to the pipe at once."""
    os.write(1, (json.dumps({"step": step, **about}) + "\n").encode())


def edit(root: Path, chance: random.Random) -> None:
    """Add, change, rename or delete one file, each in one step on disk."""
    there = sorted(path.name for path in root.glob("*.md"))
    kind = chance.choice(["add", "add", "change", "change", "rename", "delete"])
    if kind == "add" or not there:
        if len(there) < MOST:
            put(root, f"f{chance.getrandbits(30)}.md", text_of(chance))
    elif kind == "change":
        put(root, chance.choice(there), text_of(chance))
    elif kind == "rename":
        old, new = chance.choice(there), f"f{chance.getrandbits(30)}.md"
        tell("rename", path=old, to=new)
        (root / old).rename(root / new)
    else:
        gone = chance.choice(there)
        tell("delete", path=gone)
        (root / gone).unlink()


def put(root: Path, name: str, text: str) -> None:
    """Write a file whole or not at all."""
    tell("put", path=name, text=text)
    draft = root / ".draft"
    draft.write_text(text)
    draft.replace(root / name)


def purge_one(corpus: Corpus, root: Path, chance: random.Random) -> None:
    """Purge a document whose file is gone, if there is one."""
    if gone := sorted(corpus.known("docs").keys() - {path.name for path in root.glob("*.md")}):
        path = chance.choice(gone)
        tell("purge", path=path)
        purge(corpus, Choice("docs", (path,)), IndexSettings())
        tell("purged", path=path)


def progress(stage: str, done: int, total: int, detail: str) -> None:
    """Tell what was committed."""
    tell(stage, path=detail, done=done, total=total)


def die_at(statement: int) -> None:
    """Kill this process, at once and for good, when it comes to a statement of SQL."""
    left = count(statement, -1)
    opened = connections.connect

    def connect(path: Path, busy_seconds: float) -> sqlite3.Connection:
        db = opened(path, busy_seconds)
        db.set_trace_callback(lambda _: next(left) or os.kill(os.getpid(), signal.SIGKILL))
        return db

    connections.connect = connect


def main(folder: Path, chance: random.Random, kind: str) -> None:
    """Go round: some edits, then a sync, now and then with another encoder, and a top-up of Chroma.

    Of the kind `encoders` each sync has another encoder than the one before, and nothing is edited.
    """
    index.BATCH, index.WINDOW = 4, 16
    corpus, name = Corpus.open(folder / ".quaere"), "one"
    while True:
        for _ in range(chance.randint(0, 8) if kind != "encoders" else 0):
            edit(folder / "docs", chance)
        if chance.random() < 0.4 or kind == "encoders":
            name = chance.choice(sorted(ENCODERS.keys() - {corpus.space if kind == "encoders" else None}))
        if kind == "purge":
            purge_one(corpus, folder / "docs", chance)
        tell("sync", encoder=name)
        sync_all(corpus, ENCODERS[name], IndexSettings(), progress)
        tell("synced", encoder=name)
        if kind == "chroma":
            keep_chroma(corpus, ENCODERS[name].fingerprint, progress)
            tell("kept")


if __name__ == "__main__":
    if sys.argv[4] != "0":
        die_at(int(sys.argv[4]))
    main(Path(sys.argv[1]), random.Random(sys.argv[2]), sys.argv[3])
