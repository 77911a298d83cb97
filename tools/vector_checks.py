"""Whether the stored vectors are sound, what the encoder gives, and what the matrix beside them holds."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .checks import Finding, Stores, counted, failed, ok, some, warning
from .chroma_check import DAMAGED, K, compare, measure_recall
from .chroma_stamp import FOLDER
from .embed import Encoder
from .matrix_file import load
from .sight import active_space
from .writer import encoder_input

UNIT = 1e-3
"""How far the length of a stored vector may be from 1."""

ENCODED_AGAIN = 4
"""Passages whose vector is compared with what the encoder gives now."""

ALIKE = 0.999
"""The least cosine of a stored vector with the same text encoded again, alone or in another batch."""

LEAST_RECALL = 0.99
"""Share of the exact nearest passages that Chroma has to propose."""

_INPUTS = """
SELECT p.prefix, substr(t.body, p.start + 1, p."end" - p.start), x.vector
FROM passages p JOIN versions v ON v.id = p.version AND v.died IS NULL JOIN texts t ON t.id = v.text
JOIN vectors x ON x.space = ? AND x.key = p.input_key ORDER BY x.key LIMIT ?
"""
_READY = """
SELECT count(x.key), count(*) FROM passages p JOIN versions v ON v.id = p.version AND v.died IS NULL
LEFT JOIN vectors x ON x.space = ? AND x.key = p.input_key
"""


def look_at_vectors(stores: Stores) -> Finding:
    """Check size and length of each vector, and a few against what the encoder gives for their texts."""
    space = active_space(stores.db)
    if space is None and stores.encoder is not None:
        space = stores.encoder.fingerprint
    if broken := unsound_vectors(stores.db):
        return failed(f"{counted(len(broken), 'vector')} that cannot be read or is not of length 1")
    if stores.encoder is not None and stores.encoder.fingerprint == space:
        worst = _least_likeness(stores.db, stores.encoder)
        if worst < ALIKE:
            return failed(f"a vector has a cosine of {worst:.3f} with what the encoder gives for its text")
    ready, total = stores.db.execute(_READY, (space,)).fetchone()
    if ready < total:
        way_out = "run `quaere sync`" if stores.encoder else "install the encoder's weights"
        return warning(f"{ready:,} of {total:,} passages have a vector", way_out)
    return ok(f"{counted(total, 'passage')}, each with a vector")


def look_at_matrix(stores: Stores) -> Finding:
    """Compare the matrix of the vectors, a cache, with the vectors it was made of."""
    space = active_space(stores.db)
    files = matrix_files(stores.folder)
    if space is None or not files:
        return ok("none; it is made by the first search")
    snapshot = load(stores.folder, space)
    if snapshot is None:
        return warning("it cannot be read, or is of another encoder; the next search makes it anew", "")
    vectors = _vectors_behind(stores.db, space, snapshot.top)
    places = {int(id): at for at, id in enumerate(snapshot.ids)}
    if strays := len(places.keys() - vectors.keys()):
        return failed(f"it holds {counted(strays, 'passage')} that {'is' if strays == 1 else 'are'} no more")
    looked_at = some(sorted(id for id in places if vectors[id]))
    wrong = sum(not _equal(vectors[id], snapshot.rows[places[id]]) for id in looked_at)
    if wrong:
        return failed(f"{counted(wrong, 'row')} of it differ from the stored vectors")
    return ok(f"{counted(len(places), 'row')} of revision {snapshot.revision}, equal to the stored vectors")


def _vectors_behind(db: sqlite3.Connection, space: str, top: int) -> dict[int, bytes | None]:
    """Return what a matrix may hold; vectors of the dead go when the encoder changes, their rows stay."""
    rows = db.execute(
        """SELECT p.id, x.vector FROM passages p JOIN versions v ON v.id = p.version
           LEFT JOIN vectors x ON x.space = ? AND x.key = p.input_key
           WHERE p.id <= ? AND (x.key IS NOT NULL OR v.died IS NOT NULL)""",
        (space, top),
    )
    return dict(rows.fetchall())


def look_at_chroma(stores: Stores) -> Finding:
    """Compare the Chroma collection, a cache, with the corpus, and its neighbours with the exact ones."""
    if not (stores.folder / FOLDER).exists():
        return ok("none; `quaere sync` keeps one where search.vector_engine asks for it")
    if said := compare(stores.folder):
        found, _, way_out = said[0].rpartition("; ")
        return failed(found, way_out) if way_out == DAMAGED else warning(found, way_out)
    recall = measure_recall(stores.folder)
    if recall is not None and recall < LEAST_RECALL:
        return failed(f"it proposes {recall:.1%} of the {K} nearest passages, {LEAST_RECALL:.0%} are needed")
    measured = "" if recall is None else f", {recall:.1%} of the {K} nearest found"
    return ok(f"in step with the index{measured}")


def matrix_files(folder: Path) -> list[Path]:
    """Return the files of matrices in a `.quaere` folder, unfinished ones too."""
    return sorted(folder.glob("vectors-*"))


def unsound_vectors(db: sqlite3.Connection) -> list[tuple[str, bytes]]:
    """Return space and key of vectors that have another size than most of the space, or not the length 1."""
    sizes = db.execute("SELECT space, length(vector) FROM vectors GROUP BY 1, 2 ORDER BY 1, count(*)")
    usual = dict(sizes.fetchall())
    found: list[tuple[str, bytes]] = []
    for space, key, vector in db.execute("SELECT space, key, vector FROM vectors"):
        if not _is_sound(vector, usual[space]):
            found.append((space, key))
    return found


def _is_sound(vector: bytes, size: int) -> bool:
    if len(vector) != size or size % 4:
        return False
    length = float(np.linalg.norm(_numbers(vector)))
    return abs(length - 1) < UNIT


def _least_likeness(db: sqlite3.Connection, encoder: Encoder) -> float:
    """Return the least cosine of a few stored vectors with those of their texts, encoded now."""
    rows = db.execute(_INPUTS, (encoder.fingerprint, ENCODED_AGAIN)).fetchall()
    if not rows:
        return 1.0
    again = encoder.encode_documents([encoder_input(prefix, text) for prefix, text, _ in rows])
    return min(
        float(_numbers(vector) @ row) if len(vector) == row.nbytes else -1.0
        for (_, _, vector), row in zip(rows, again.astype("<f4"), strict=True)
    )


def _equal(vector: bytes | None, row: NDArray[np.float32]) -> bool:
    return vector == row.astype("<f4").tobytes()


def _numbers(vector: bytes) -> NDArray[np.float32]:
    return np.frombuffer(vector, "<f4")
