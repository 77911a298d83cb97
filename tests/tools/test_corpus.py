import contextlib
import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest
from quaere.tools.corpus import Corpus
from quaere.tools.draft import Draft, Failure, File
from quaere.tools.errors import BusyError, UsageError, WorkspaceError
from quaere.tools.evidence import OWNER, Block, Filter, Locator, Parsed
from quaere.tools.schema import FORMAT
from quaere.tools.split import PassageCut, SentenceCut, Split
from quaere.tools.standing import Observation, Stamp
from quaere.tools.writer import input_key


def draft(path="a.md", text="One line.", source="docs", labels=None):
    sentence = SentenceCut(0, len(text), "prose", (), Locator(heading=("Top",)))
    passage = PassageCut(0, len(text), ("Top",), 0, 1, (0, len(text)), "Title > Top")
    return Draft(
        file=File(source, path, path.encode()),
        observed=Observation(Stamp(len(text), 1, 1), 10**18, f"hash of {text}"),
        parsed=Parsed(text, (Block("paragraph", 0, len(text)),), "Title", "text/markdown", "markdown/1"),
        split=Split((sentence,), (passage,)),
        parser="markdown/1",
        mark="split/1",
        terms=[text.lower().rstrip(".").split()],
        labels=labels or {},
    )


def put(corpus, **parts):
    with corpus.write() as writer:
        return writer.put_document(draft(**parts))


def put_and_stop(corpus):
    with corpus.write() as writer:
        writer.put_document(draft())
        raise KeyboardInterrupt


@pytest.fixture
def folder(tmp_path):
    return tmp_path / ".quaere"


@pytest.fixture
def corpus(folder):
    with_corpus = Corpus.create(folder)
    yield with_corpus
    with_corpus.close()


def snapshot(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def refused(folder, words):
    before = snapshot(folder)
    with pytest.raises(WorkspaceError, match=words) as caught:
        Corpus.open(folder)
    with pytest.raises(WorkspaceError, match=words):
        Corpus.create(folder)
    assert "\n" not in str(caught.value)
    assert snapshot(folder) == before


def test_create_makes_a_private_folder_unseen_by_git(folder):
    Corpus.create(folder).close()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "corpus.db").stat().st_mode) == 0o600
    assert (folder / ".gitignore").read_text() == "*\n"
    assert sorted(path.name for path in folder.iterdir()) == [".gitignore", "corpus.db"]


def test_create_again_keeps_what_is_there(folder, corpus):
    put(corpus)
    again = Corpus.create(folder)
    assert again.workspace == corpus.workspace
    assert again.counts().documents == 1
    again.close()


def test_open_without_a_workspace_names_the_way_out(folder):
    with pytest.raises(WorkspaceError, match=r"run `quaere add FOLDER` first"):
        Corpus.open(folder)
    assert not folder.exists()


def test_a_foreign_database_is_refused_and_untouched(folder, corpus):
    corpus.close()
    (folder / "corpus.db").unlink()
    with sqlite3.connect(folder / "corpus.db") as db:
        db.execute("CREATE TABLE theirs(x)")
    db.close()
    refused(folder, "not a quaere database")


def test_a_newer_format_is_refused_and_untouched(folder, corpus):
    corpus.close()
    db = sqlite3.connect(folder / "corpus.db")
    db.execute(f"PRAGMA user_version = {FORMAT + 1}")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    refused(folder, "upgrade quaere")


@pytest.mark.parametrize("content", [b"", b"not a database at all\n" * 50])
def test_bytes_that_are_no_database_are_refused_and_untouched(folder, corpus, content):
    corpus.close()
    (folder / "corpus.db").write_bytes(content)
    refused(folder, "not a quaere database or is damaged")


def test_a_file_cut_short_is_refused_and_untouched(folder, corpus):
    put(corpus, text="word " * 5000)
    corpus.close()
    path = folder / "corpus.db"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    refused(folder, "damaged: it is cut short")


def test_a_damaged_page_is_an_error_in_one_sentence_not_an_empty_answer(folder, corpus):
    put(corpus, text="word " * 5000)
    corpus.close()
    path = folder / "corpus.db"
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)
    with pytest.raises(WorkspaceError, match="damaged"):
        Corpus.open(folder)
    assert path.read_bytes() == bytes(data)


def test_a_folder_that_is_not_ours_is_refused(folder):
    folder.mkdir()
    (folder / "precious.txt").write_text("mine")
    with pytest.raises(WorkspaceError, match="not made by quaere"):
        Corpus.create(folder)
    assert [path.name for path in folder.iterdir()] == ["precious.txt"]


def test_a_file_in_place_of_the_folder_is_refused(folder):
    folder.write_text("a file")
    with pytest.raises(WorkspaceError, match="is a file"):
        Corpus.create(folder)


def test_a_log_without_its_database_is_refused(folder, corpus):
    corpus.close()
    (folder / "corpus.db").rename(folder / "corpus.db-wal")
    with pytest.raises(WorkspaceError, match="move the log away"):
        Corpus.create(folder)


def test_each_transaction_that_changes_something_is_one_revision(corpus):
    assert corpus.revision == 0
    with corpus.write() as writer:
        writer.put_document(draft("a.md"))
        writer.put_document(draft("b.md"))
    assert corpus.revision == 1
    with corpus.write() as writer:
        writer.put_failure("docs", Failure("c.md", "broken", Stamp(1, 1, 1), "markdown/1"))
    assert corpus.revision == 1


def test_a_failed_transaction_leaves_nothing(corpus):
    with pytest.raises(KeyboardInterrupt):
        put_and_stop(corpus)
    assert corpus.revision == 0
    assert corpus.counts().documents == 0
    put(corpus)
    assert corpus.counts().documents == 1


def test_a_new_version_replaces_the_old_one_and_keeps_its_text(corpus):
    old = put(corpus, text="Old text.")
    reader = corpus.reader(OWNER, Filter())
    (passage,) = reader.passages([1]).values()
    new = put(corpus, text="New text.")
    assert new != old
    now = corpus.reader(OWNER, Filter())
    assert now.passages([1]) == {}
    assert now.readings([2])[2].text == "New text."
    assert now.cut(passage.span) == "Old text."


def test_passage_ids_are_never_used_again(corpus):
    put(corpus, path="a.md")
    with corpus.write() as writer:
        writer.delete_document(1)
    put(corpus, path="b.md")
    assert corpus.reader(OWNER, Filter()).document_passages(2) == [2]


def test_a_path_that_comes_back_is_the_same_document(corpus):
    put(corpus, text="One.")
    with corpus.write() as writer:
        writer.delete_document(1)
    put(corpus, text="Two.")
    assert [document.id for document in corpus.reader(OWNER, Filter()).documents()] == [1]


def test_equal_texts_are_stored_once(folder, corpus):
    put(corpus, path="a.md", text="Same.")
    put(corpus, path="b.md", text="Same.")
    db = sqlite3.connect(folder / "corpus.db")
    assert db.execute("SELECT count(*) FROM texts").fetchone() == (1,)
    db.close()


def test_a_second_writer_gets_one_sentence(folder, corpus):
    other = Corpus.open(folder, busy_seconds=0.05)
    with corpus.write() as writer:
        writer.put_document(draft())
        with pytest.raises(BusyError, match="another process writes"), other.write():
            pass
        assert other.counts().documents == 0
    assert other.counts().documents == 1
    other.close()


WRITE_AND_LEAVE = """
import contextlib, sqlite3, sys
with contextlib.closing(sqlite3.connect(sys.argv[1])) as db:
    db.execute("INSERT INTO meta VALUES ('note', 'from another process')")
    db.commit()
"""


def test_a_corpus_opened_twice_here_stays_whole_while_another_process_comes_and_goes(folder, corpus):
    put(corpus, path="a.md")
    with contextlib.closing(Corpus.open(folder)):
        command = [sys.executable, "-c", WRITE_AND_LEAVE, str(folder / "corpus.db")]
        subprocess.run(command, check=True)
        assert (folder / "corpus.db-wal").exists()
        put(corpus, path="b.md")
    with contextlib.closing(Corpus.open(folder)) as again:
        assert again.counts().documents == 2
    corpus.close()
    with contextlib.closing(sqlite3.connect(folder / "corpus.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("SELECT value FROM meta WHERE key = 'note'").fetchone() == ("from another process",)


def test_vectors_are_missing_until_they_are_put(corpus):
    put(corpus, path="a.md", text="One.")
    put(corpus, path="b.md", text="One.")
    put(corpus, path="c.md", text="Two.")
    assert corpus.vectors_ready("space") == (0, 3)
    waiting, last = corpus.waiting("space", 0, 10)
    assert [one.text for one in waiting] == ["One.", "Two."]
    assert corpus.waiting("space", last, 10) == ([], last)
    with corpus.write() as writer:
        writer.put_vectors("space", [(input_key("Title > Top", "One."), np.ones(4, np.float32))])
    assert corpus.vectors_ready("space") == (2, 3)
    assert [one.text for one in corpus.waiting("space", 0, 10)[0]] == ["Two."]
    assert corpus.vectors_ready("other") == (0, 3)


def test_threads_have_connections_of_their_own(corpus):
    put(corpus)
    reader = corpus.reader(OWNER, Filter())
    found = []
    threads = [threading.Thread(target=lambda: found.append(reader.keyword(["line"], 5))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all(one == found[0] and one for one in found)


def test_a_closed_corpus_says_so(corpus):
    corpus.close()
    with pytest.raises(UsageError, match="closed"):
        _ = corpus.revision


def test_a_folder_that_cannot_be_written_is_still_read():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / ".quaere"
        corpus = Corpus.create(folder)
        put(corpus)
        corpus.close()
        for path, mode in ((folder.parent, 0o755), (folder, 0o555), (folder / "corpus.db", 0o444)):
            path.chmod(mode)
        user = os.geteuid()
        if user == 0:  # root may write anything
            os.seteuid(65534)
        try:
            reading = Corpus.open(folder)
            assert reading.reader(OWNER, Filter()).readings([1])[1].text == "One line."
            with pytest.raises(WorkspaceError, match="cannot be written"):
                put(reading, text="Another.")
            reading.close()
        finally:
            os.seteuid(user)
            folder.chmod(0o700)


def test_file_of_the_first_format_is_brought_up_without_losing_anything(tmp_path):
    folder = tmp_path / ".quaere"
    Corpus.create(folder).close()
    db = sqlite3.connect(folder / "corpus.db")
    db.executescript(
        """ALTER TABLE sources DROP COLUMN kind; ALTER TABLE sources DROP COLUMN detail;
           ALTER TABLE versions DROP COLUMN superseded_by; PRAGMA user_version = 1;
           INSERT INTO sources VALUES ('docs', CAST('/docs' AS BLOB), 7, '2026-01-01T00:00:00Z');"""
    )
    db.close()
    with contextlib.closing(Corpus.open(folder)) as corpus:
        assert [source.id for source in corpus.sources()] == ["docs"]
    with contextlib.closing(sqlite3.connect(folder / "corpus.db")) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (FORMAT,)
        assert db.execute("SELECT kind, detail FROM sources").fetchone() == ("files", "{}")
