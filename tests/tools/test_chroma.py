"""The Chroma engine: in step with the corpus, mended after kills, and never more than a proposal."""

import json
import os
import random
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hashing_encoder import HashingEncoder
from quaere.tools import chroma, chroma_search
from quaere.tools.chroma import drop_chroma, keep_chroma
from quaere.tools.chroma_check import compare, measure_recall
from quaere.tools.chroma_door import door_of
from quaere.tools.chroma_search import ChromaSearch
from quaere.tools.chroma_stamp import read_stamp, write_stamp
from quaere.tools.corpus import Corpus
from quaere.tools.evidence import NO_FILTER, OWNER, Access, Filter
from quaere.tools.reader import Ranking
from quaere.tools.rulebook import Rule, Rulebook
from quaere.tools.sync import IndexSettings, add_source, sync_all

RECORDS = 4800
"""Four make a passage; above 1,000 passages Chroma writes its index to files, where damage can kill."""

ENCODER = HashingEncoder()
WORKER = Path(__file__).parents[1] / "support" / "chroma_worker.py"


def keep(corpus):
    return keep_chroma(corpus, ENCODER.fingerprint)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make one workspace for all tests, with Chroma in step; each test works on a copy."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "docs").mkdir()
    rows = "\n".join(f'{{"item": "Item {n:04} weighs {n} g."}}' for n in range(RECORDS))
    (folder / "docs" / "items.jsonl").write_text(rows)
    (folder / "docs" / "badge.md").write_text("A badge costs 12 EUR.\n")
    corpus = Corpus.create(folder / ".quaere")
    add_source(corpus, str(folder / "docs"))
    sync_all(corpus, ENCODER, settings())
    keep(corpus)
    corpus.close()
    return folder


def settings(**given):
    return IndexSettings(passage_tokens=32, **given)


@pytest.fixture
def folder(made, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(made, copy)
    return copy


@pytest.fixture
def corpus(folder):
    opened = Corpus.open(folder / ".quaere")
    with opened.write() as writer:
        writer.put_source("docs", os.fsencode(folder / "docs"), (folder / "docs").stat().st_ino)
    keep(opened)
    yield opened
    with door_of(opened.folder).shut():
        opened.close()


def reader(corpus, access=OWNER, filter=NO_FILTER, chroma=True):
    search = ChromaSearch(corpus.folder) if chroma else None
    return corpus.reader(access, filter, ranking=Ranking(space=ENCODER.fingerprint, chroma=search))


def found(corpus, query="badge", k=10, **given):
    """Return ranking and engine of one search."""
    mine = reader(corpus, **given)
    return mine.vector(ENCODER.encode_query(query), k), mine.engine


def wait_for(process, line):
    for told in process.stdout:
        if told.startswith(line):
            return
    pytest.fail(f"the process ended before it said {line!r}")


def work(folder, *words):
    environment = {**os.environ, "PYTHONPATH": str(WORKER.parent)}
    return subprocess.Popen(
        [sys.executable, str(WORKER), str(folder), *words], env=environment, stdout=subprocess.PIPE, text=True
    )


def test_the_collection_holds_every_living_passage_and_follows_changes(corpus, folder):
    assert compare(corpus.folder) == ()
    before = read_stamp(corpus.folder)
    (folder / "docs" / "badge.md").write_text("A badge costs 15 EUR.\n")
    (folder / "docs" / "new.md").write_text("Delivery takes 4 days.\n")
    sync_all(corpus, ENCODER, settings(chroma=True))
    after = read_stamp(corpus.folder)
    assert (after.count, after.deleted - before.deleted) == (before.count + 1, 1)
    assert compare(corpus.folder) == ()
    assert after.revision == corpus.revision


def test_nothing_changed_means_chroma_is_not_even_opened(corpus, folder, monkeypatch):
    monkeypatch.setattr(chroma, "_bring", lambda *given: pytest.fail("Chroma was opened"))
    held = {path: path.stat().st_mtime_ns for path in corpus.folder.glob("chroma*")}
    sync_all(corpus, ENCODER, settings(chroma=True))
    assert {path: path.stat().st_mtime_ns for path in held} == held
    ruled = settings(chroma=True, rulebook=Rulebook((Rule(labels={"class": "open"}),)))
    sync_all(corpus, ENCODER, ruled)  # a new revision that changes labels alone
    assert read_stamp(corpus.folder).revision == corpus.revision


def test_without_chroma_in_its_settings_a_process_never_imports_it(tmp_path):
    program = """
import sys
from quaere.agent.assemble import Agent
home, docs = sys.argv[1:]
exact = Agent.open(home, overrides={"search.vector_engine": "exact"})
exact.add(docs)
print(exact.search("badge").engine, "chromadb" in sys.modules)
auto = Agent.open(home, overrides={"search.vector_engine": "auto"})
auto.resident = False
print(auto.search("badge").engine, "chromadb" in sys.modules)
auto.resident = True
auto.sync()
print(auto.search("badge").engine, "chromadb" in sys.modules)
"""
    home, few = tmp_path / "home", tmp_path / "few"
    home.mkdir()
    few.mkdir()
    (few / "badge.md").write_text("A badge costs 12 EUR.\n")
    run = [sys.executable, "-c", program, str(home), str(few)]
    said = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == ["exact False", "exact False", "chroma True"]


def test_what_chroma_proposes_is_ranked_as_the_exact_scan_ranks_it(corpus):
    assert measure_recall(corpus.folder, k=50, queries=40) >= 0.99
    for query in ("badge", "item 7", "anything else", "weight"):
        ranking, engine = found(corpus, query)
        exact, _ = found(corpus, query, chroma=False)
        assert engine == "chroma"
        missing = set(exact) - set(ranking)
        assert len(missing) <= 1
        assert ranking == sorted(ranking, key=lambda pair: (-pair[1], pair[0]))


def test_what_came_or_went_since_is_seen_at_once(corpus, folder):
    (folder / "docs" / "fresh.md").write_text("Fresh page.\n")
    sync_all(corpus, ENCODER, settings())
    query = ENCODER.encoded[-1]
    ranking, engine = found(corpus, query, k=1)
    text = reader(corpus).readings([ranking[0][0]])[ranking[0][0]].document.path
    assert (text, engine) == ("fresh.md", "chroma")
    (folder / "docs" / "fresh.md").unlink()
    sync_all(corpus, ENCODER, settings())
    again, engine = found(corpus, query, k=1)
    assert again[0][0] != ranking[0][0]
    assert engine == "chroma"


def test_a_restricted_or_filtered_search_never_touches_chroma(corpus, monkeypatch):
    with corpus.write() as writer:
        for stored in writer.stored():
            open_to_all = stored.path == "badge.md"
            writer.put_labels(stored.document, {"class": "open" if open_to_all else "closed"})
    monkeypatch.setattr(chroma_search, "door_of", lambda home: pytest.fail("Chroma was opened"))
    guest = Access("guest", allowed={"class": frozenset({"open"})})
    ranking, engine = found(corpus, access=guest)
    assert (len(ranking), engine) == (1, "exact")
    ranking, engine = found(corpus, filter=Filter(paths=("badge.md",)))
    assert (len(ranking), engine) == (1, "exact")


def test_who_may_read_everything_is_served_like_the_owner(corpus):
    with corpus.write() as writer:
        for stored in writer.stored():
            writer.put_labels(stored.document, {"class": "open"})
    everybody = Access("guest", allowed={"class": frozenset({"open"})})
    assert found(corpus, access=everybody) == found(corpus)


def test_another_process_tops_up_and_an_open_reader_sees_it(corpus, folder):
    found(corpus)
    opened = door_of(corpus.folder)._opened
    with work(folder, "other.md") as process:
        wait_for(process, "kept")
    ranking, engine = found(corpus, "badge", k=400)
    newest = reader(corpus).documents()[-1]
    assert newest.path == "other.md"
    assert (len(ranking), engine) == (400, "chroma")
    reopened = door_of(corpus.folder)._opened
    assert set(reader(corpus).document_passages(newest.id)) == set(reopened.ids) - set(opened.ids)
    assert compare(corpus.folder) == ()


@pytest.mark.parametrize("round", range(3))
def test_a_kill_during_the_top_up_is_mended_by_the_next_run(folder, round):
    drop_chroma(folder / ".quaere")
    process = work(folder)
    wait_for(process, f"index {random.Random(round).randrange(1, 12)}00")
    process.kill()
    process.communicate()
    corpus = Corpus.open(folder / ".quaere")
    assert not read_stamp(corpus.folder).is_settled
    assert found(corpus)[1] == "exact"
    kept = keep(corpus)
    assert kept.sent < kept.count  # what was in is kept
    assert compare(corpus.folder) == ()
    assert found(corpus)[1] == "chroma"
    corpus.close()


def test_vectors_that_chroma_lost_are_found_and_sent_again(corpus):
    for path in (corpus.folder / "chroma").glob("*/index_metadata.pickle"):
        path.unlink()
    write_stamp(corpus.folder, replace(read_stamp(corpus.folder), attempts=1))
    assert keep(corpus).sent >= 1000
    assert compare(corpus.folder) == ()


def test_damaged_index_files_are_not_loaded_and_made_anew(corpus, folder):
    """Loading such a file kills the process."""
    for path in (corpus.folder / "chroma").glob("*/data_level0.bin"):
        path.write_bytes(random.Random(1).randbytes(path.stat().st_size))
    mine = reader(corpus)
    exact, _ = found(corpus, chroma=False)
    assert mine.vector(ENCODER.encode_query("badge"), 10) == exact
    assert mine.engine == "exact"
    assert "quaere doctor --repair" in mine.engine_note
    assert "quaere doctor --repair" in compare(corpus.folder)[0]
    (folder / "docs" / "new.md").write_text("Delivery takes 4 days.\n")
    sync_all(corpus, ENCODER, settings(chroma=True))
    assert compare(corpus.folder) == ()


def test_a_damaged_database_costs_only_the_engine(corpus):
    os.truncate(corpus.folder / "chroma" / "chroma.sqlite3", 5000)
    mine = reader(corpus)
    assert len(mine.vector(ENCODER.encode_query("badge"), 10)) == 10
    assert (mine.engine, mine.engine_note.count("quaere doctor --repair")) == ("exact", 1)


def test_a_folder_that_killed_two_runs_is_made_anew(corpus):
    for path in (corpus.folder / "chroma").glob("*/data_level0.bin"):
        path.write_bytes(random.Random(1).randbytes(path.stat().st_size))
    write_stamp(corpus.folder, replace(read_stamp(corpus.folder), attempts=2))
    assert keep(corpus).sent == read_stamp(corpus.folder).count
    assert compare(corpus.folder) == ()


def test_a_deleted_folder_or_a_foreign_stamp_is_harmless(corpus):
    shutil.rmtree(corpus.folder / "chroma")
    assert found(corpus)[1] == "exact"
    keep(corpus)
    assert compare(corpus.folder) == ()
    stamp = json.loads((corpus.folder / "chroma.json").read_text())
    (corpus.folder / "chroma.json").write_text(json.dumps(stamp | {"mark": "1 of another corpus"}))
    assert found(corpus)[1] == "exact"
    assert keep(corpus).sent == 0  # its vectors are compared, and are those of this corpus
    (corpus.folder / "chroma.json").write_text("{")
    assert found(corpus)[1] == "exact"
    keep(corpus)
    assert found(corpus)[1] == "chroma"


def test_many_threads_search_while_another_writes(corpus, folder):
    mine, failures = reader(corpus), []
    allowed = set(np.flatnonzero(mine.allowed).tolist())

    def search(n):
        try:
            for at in range(15):
                ranking = mine.vector(ENCODER.encode_query(f"{n} {at}"), 10)
                assert len(ranking) == 10
                assert {id for id, _ in ranking} <= allowed
        except BaseException as error:  # noqa: BLE001  (told to the test's own thread)
            failures.append(error)

    threads = [threading.Thread(target=search, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for n in range(2):
        (folder / "docs" / f"new{n}.md").write_text(f"New page {n}.\n")
        sync_all(corpus, ENCODER, settings(chroma=True))
    for thread in threads:
        thread.join()
    assert failures == []
    assert compare(corpus.folder) == ()
