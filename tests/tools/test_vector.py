import sqlite3

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quaere.tools import matrix_file, vector
from quaere.tools.schema import connect, create_file
from quaere.tools.vector import Matrix

WIDTH = 6
SPACE = "space"


class Shelf:
    """A corpus.db with nothing in it but what the matrix reads."""

    def __init__(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        create_file(folder / "corpus.db")
        self.db = connect(folder / "corpus.db")
        self.revision, self.era = 0, "first"
        self.vectors = {}

    def commit(self):
        self.revision = self.db.execute(
            "INSERT INTO revisions(at) VALUES (?)", (f"{self.era} {self.revision}",)
        ).lastrowid

    def insert(self, table, **given):
        columns = {
            row[1]: b"" if row[2] == "BLOB" else 0 if row[2] == "INTEGER" else ""
            for row in self.db.execute(f"PRAGMA table_info({table})")
            if row[3]
        } | given
        names = ", ".join(f'"{name}"' for name in columns)
        marks = ", ".join("?" * len(columns))
        statement = f"INSERT INTO {table}({names}) VALUES ({marks})"
        return self.db.execute(statement, tuple(columns.values())).lastrowid

    def add(self, vectors):
        """Add a version with a passage for each vector; None is one that waits for its vector."""
        self.commit()
        version = self.insert("versions", born=self.revision, passages=len(vectors))
        ids = []
        for one in vectors:
            key = self.revision.to_bytes(4, "big") + len(ids).to_bytes(4, "big")
            ids.append(self.insert("passages", version=version, input_key=key))
            if one is not None:
                self.give(ids[-1], one)
        return version, ids

    def give(self, id, one):
        self.commit()
        self.vectors[id] = np.asarray(one, np.float32)
        row = self.db.execute("SELECT input_key FROM passages WHERE id = ?", (id,)).fetchone()
        self.insert("vectors", space=SPACE, key=row[0], vector=self.vectors[id].tobytes())

    def kill(self, version):
        self.commit()
        self.db.execute("UPDATE versions SET died = ? WHERE id = ?", (self.revision, version))

    def allowed(self):
        mask = np.zeros(self.db.execute("SELECT coalesce(max(id), 0) + 1 FROM passages").fetchone()[0], bool)
        rows = self.db.execute(
            "SELECT p.id FROM passages p JOIN versions v ON v.id = p.version AND v.died IS NULL"
        )
        mask[[row[0] for row in rows]] = True
        return mask

    def open(self):
        return Matrix.open(self.folder, self.db, SPACE, self.revision)


@pytest.fixture
def shelf(tmp_path):
    return Shelf(tmp_path / "shelf")


def unit(seed, n=1):
    rows = np.random.default_rng(seed).standard_normal((n, WIDTH)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def brute_force(vectors, query, allowed, k):
    scored = [
        (id, round(float(row.astype(np.float64) @ query.astype(np.float64)), 6))
        for id, row in vectors.items()
        if id < len(allowed) and allowed[id]
    ]
    return sorted(scored, key=lambda one: (-one[1], one[0]))[:k]


def same(found, wanted):
    """Rounding may fall either way where a cosine lies between two sixth places."""
    assert [score for _, score in found] == pytest.approx([score for _, score in wanted], abs=2e-6)
    assert len(found) == len({id for id, _ in found})


# Few different coordinates make many ties.
ROWS = st.lists(st.tuples(*[st.sampled_from([-1.0, 0.0, 0.5, 1.0])] * 3), min_size=1, max_size=40)


@settings(deadline=None)
@given(rows=ROWS, data=st.data(), k=st.integers(0, 50))
def test_search_equals_brute_force_under_every_mask(rows, data, k):
    ids = np.array(sorted(data.draw(st.sets(st.integers(1, 60), min_size=len(rows), max_size=len(rows)))))
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=0, max_size=70)), bool)
    query = np.array(data.draw(st.tuples(*[st.sampled_from([-1.0, 0.25, 1.0])] * 3)), np.float32)
    table = np.array(rows, np.float32)
    wanted = brute_force(dict(zip(ids.tolist(), table, strict=True)), query, allowed, k)
    assert Matrix(ids, table).search(query, allowed, k) == wanted


@pytest.mark.parametrize("share", [0.01, 0.19, 0.21, 1.0])
def test_gathering_and_masking_give_the_same_hits(share):
    rows = unit(1, 2000)
    allowed = np.random.default_rng(2).random(2001) < share
    query = unit(3)[0]
    found = Matrix(np.arange(1, 2001), rows).search(query, allowed, 20)
    same(found, brute_force(dict(enumerate(rows, 1)), query, allowed, 20))
    assert all(allowed[id] for id, _ in found)


def test_ties_are_ordered_by_id():
    matrix = Matrix(np.arange(1, 101), np.repeat(unit(4), 100, axis=0))
    assert [id for id, _ in matrix.search(unit(4)[0], np.ones(101, bool), 3)] == [1, 2, 3]


def test_cosines_that_are_equal_to_six_places_are_ties():
    close = unit(4) + np.random.default_rng(5).normal(0, 3e-8, (100, WIDTH)).astype(np.float32)
    found = Matrix(np.arange(1, 101), close).search(unit(4)[0], np.ones(101, bool), 5)
    assert [id for id, _ in found] == [1, 2, 3, 4, 5]


STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "wait", "give", "kill", "open"]), st.integers(0, 1000)), max_size=14
)


@settings(deadline=None, max_examples=40)
@given(steps=STEPS)
def test_a_matrix_that_was_topped_up_finds_what_one_made_anew_finds(tmp_path_factory, steps):
    shelf = Shelf(tmp_path_factory.mktemp("shelf"))
    alive, waiting = [], []
    for step, seed in [*steps, ("open", 0)]:
        if step == "add":
            alive.append(shelf.add(unit(seed, 1 + seed % 3))[0])
        elif step == "wait":
            version, ids = shelf.add([None, unit(seed)[0], None])
            alive.append(version)
            waiting += [ids[0], ids[2]]
        elif step == "give" and waiting:
            shelf.give(waiting.pop(seed % len(waiting)), unit(seed)[0])
        elif step == "kill" and alive:
            shelf.kill(alive.pop(seed % len(alive)))
        elif step == "open":
            matrix, allowed = shelf.open(), shelf.allowed()
            wanted = brute_force(shelf.vectors, unit(9)[0], allowed, 10)
            same(matrix.search(unit(9)[0], allowed, 10), wanted)
            assert matrix.covered(allowed) == sum(allowed[id] for id in shelf.vectors)


def test_a_stale_matrix_returns_nothing_that_is_not_allowed(shelf):
    old, dead = shelf.add(unit(1, 5))
    _, kept = shelf.add(unit(2, 5))
    matrix = shelf.open()
    shelf.kill(old)
    shelf.add(unit(3, 5))
    found = matrix.search(unit(1)[0], shelf.allowed(), 20)
    assert sorted(id for id, _ in found) == kept
    assert not {id for id, _ in found} & set(dead)


def test_a_passage_that_was_replaced_a_moment_ago_stays_for_pinned_readers(shelf):
    version, ids = shelf.add(unit(1, 3))
    pinned = shelf.allowed()
    shelf.kill(version)
    assert sorted(id for id, _ in shelf.open().search(unit(1)[0], pinned, 9)) == ids


def test_the_dead_leave_the_matrix_when_they_are_many(shelf, monkeypatch):
    monkeypatch.setattr(vector, "CHUNK", 4)
    monkeypatch.setattr(vector, "RECENT", 0)
    for seed in range(6):
        version, ids = shelf.add(unit(seed, 4))
        assert len(shelf.open().ids) <= 12
        shelf.kill(version)
    _, ids = shelf.add(unit(7, 4))
    assert set(ids) <= set(shelf.open().ids.tolist())


def test_a_matrix_is_read_from_its_file_while_the_revision_stands(shelf):
    shelf.add(unit(1, 5))
    shelf.open()
    shelf.db.execute("DELETE FROM vectors")
    assert len(shelf.open().ids) == 5
    assert isinstance(shelf.open().rows.base, np.ndarray)


def test_topping_up_reads_only_what_is_new(shelf):
    shelf.add(unit(1, 5))
    shelf.open()
    shelf.db.execute("DELETE FROM vectors")
    _, ids = shelf.add(unit(2, 3))
    assert shelf.open().ids.tolist() == [1, 2, 3, 4, 5, *ids]


@settings(deadline=None, max_examples=80)
@given(at=st.floats(0, 1, exclude_max=True), change=st.integers(1, 255), cut=st.booleans())
def test_a_damaged_file_is_made_anew(tmp_path_factory, at, change, cut):
    shelf = Shelf(tmp_path_factory.mktemp("shelf"))
    shelf.add([*unit(1, 7), None])
    shelf.open()
    (path,) = shelf.folder.glob("vectors-*.bin")
    body = bytearray(path.read_bytes())
    place = int(at * len(body))
    body[place] ^= change
    path.write_bytes(body[:place] if cut else body)
    found = shelf.open().search(unit(2)[0], shelf.allowed(), 9)
    same(found, brute_force(shelf.vectors, unit(2)[0], shelf.allowed(), 9))


def test_a_restored_corpus_gets_a_matrix_of_its_own(shelf):
    shelf.add(unit(1, 3))
    shelf.db.execute("VACUUM INTO ?", (str(shelf.folder / "backup.db"),))
    shelf.add(unit(2, 3))
    shelf.open()
    shelf.db = sqlite3.connect(shelf.folder / "backup.db", isolation_level=None)
    shelf.revision, shelf.era = 4, "restored"
    shelf.vectors = {id: shelf.vectors[id] for id in (1, 2, 3)}
    shelf.add(unit(5, 4))
    same(
        shelf.open().search(unit(5)[0], shelf.allowed(), 9),
        brute_force(shelf.vectors, unit(5)[0], shelf.allowed(), 9),
    )


def test_a_folder_that_cannot_be_written_is_served_from_memory(shelf, tmp_path):
    shelf.add(unit(1, 3))
    (tmp_path / "file").write_text("")
    matrix = Matrix.open(tmp_path / "file", shelf.db, SPACE, shelf.revision)
    assert len(matrix.search(unit(1)[0], shelf.allowed(), 9)) == 3


def test_a_mapped_matrix_outlives_the_file_that_takes_its_place(shelf):
    shelf.add(unit(1, 3))
    first = shelf.open()
    before = first.search(unit(1)[0], shelf.allowed(), 9)
    mask = shelf.allowed()
    shelf.add(unit(2, 3))
    shelf.open()
    assert first.search(unit(1)[0], mask, 9) == before


def test_matrices_of_other_spaces_and_of_killed_writers_are_removed(shelf, monkeypatch):
    (shelf.folder / "vectors-other.bin").write_bytes(b"x")
    (shelf.folder / "vectors-killed.tmp").write_bytes(b"x")
    monkeypatch.setattr(matrix_file, "STALE_SECONDS", -1.0)
    shelf.add(unit(1, 3))
    shelf.open()
    assert len(list(shelf.folder.glob("vectors-*"))) == 1


def test_an_empty_corpus_has_an_empty_matrix(shelf):
    shelf.commit()
    for _ in range(2):
        assert shelf.open().search(unit(1)[0], np.ones(5, bool), 3) == []
    _, ids = shelf.add(unit(1, 2))
    assert shelf.open().ids.tolist() == ids


def test_a_vector_of_another_length_is_left_out(shelf):
    shelf.add(unit(1, 2))
    shelf.db.execute("UPDATE vectors SET vector = x'00000000' WHERE key = (SELECT max(key) FROM vectors)")
    assert shelf.open().covered(shelf.allowed()) == 1
