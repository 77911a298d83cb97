"""Disks that are full, fail, or only read: one sentence, nothing indexed is lost, and the next sync goes on."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from kill_witness import whole
from quaere.tools.checkup import check
from quaere.tools.corpus import Corpus
from quaere.tools.errors import WorkspaceError
from quaere.tools.evidence import OWNER, Filter
from quaere.tools.sync import IndexSettings, add_source, sync_all

SYNC = """
import sys
from pathlib import Path
from quaere.tools import connections
from quaere.tools.corpus import Corpus
from quaere.tools.errors import QuaereError
from quaere.tools.sync import IndexSettings, sync_all
folder = Path(sys.argv[1])
{limit}
try:
    sync_all(Corpus.open(folder), None, IndexSettings())
except QuaereError as error:
    print(type(error).__name__, error.exit_code, error)
"""

FULL = """
opened = connections.connect
def connect(path, busy_seconds):
    db = opened(path, busy_seconds)
    pages = db.execute("PRAGMA page_count").fetchone()[0]
    db.execute(f"PRAGMA max_page_count = {pages + 20}")
    return db
connections.connect = connect
"""

FAILING = """
import resource
largest = max(path.stat().st_size for path in folder.iterdir())
resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 40_000, largest + 40_000))
"""


@pytest.fixture
def home(tmp_path):
    """A workspace with two documents indexed and forty more to come."""
    (tmp_path / "docs").mkdir()
    for n in range(2):
        (tmp_path / f"docs/a{n}.md").write_text(f"Known{n} is a word.\n")
    with closing(Corpus.create(tmp_path / ".quaere")) as corpus:
        add_source(corpus, str(tmp_path / "docs"))
        sync_all(corpus, None, IndexSettings())
    for n in range(40):
        words = ". ".join(f"Word{n}x{i} is one of many words" for i in range(200))
        (tmp_path / f"docs/b{n}.md").write_text(f"# Page {n}\n\n{words}.\n")
    return tmp_path


@pytest.mark.parametrize(
    ("limit", "says"), [(FULL, "the disk is full; free some space"), (FAILING, "check the disk")]
)
def test_a_disk_that_takes_no_more_is_one_sentence_and_loses_nothing(home, limit, says):
    folder = home / ".quaere"
    command = [sys.executable, "-c", SYNC.format(limit=limit), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stderr == ""
    (said,) = done.stdout.splitlines()
    assert said.startswith("DiskError 1 ")
    assert says in said
    assert "run `quaere sync`" in said
    found = whole(folder)
    assert {"a0.md", "a1.md"} <= found.keys()
    assert len(found) < 42
    assert check(folder, None).failed == []
    with closing(Corpus.open(folder)) as corpus:
        report = sync_all(corpus, None, IndexSettings())
        assert (report.new + len(found), report.failed) == (42, 0)
    assert len(whole(folder)) == 42


CREATE = """
import resource, sys
from pathlib import Path
from quaere.tools.corpus import Corpus
from quaere.tools.errors import QuaereError
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    Corpus.create(Path(sys.argv[1]))
except QuaereError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize("room", [0, 1, 20_000])
def test_a_disk_without_room_for_a_first_index_is_one_sentence_and_leaves_nothing(tmp_path, room):
    folder = tmp_path / ".quaere"
    command = [sys.executable, "-c", CREATE, str(folder), str(room)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stderr == ""
    (said,) = done.stdout.splitlines()
    assert said.startswith("DiskError ")
    assert [path.name for path in folder.iterdir()] == [".gitignore"]
    Corpus.create(folder).close()
    assert (folder / ".gitignore").read_text().startswith("*")


def test_a_disk_that_only_reads_is_searched_and_a_sync_is_one_sentence():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / ".quaere"
        (Path(name) / "docs").mkdir()
        (Path(name) / "docs/a.md").write_text("Known is a word.\n")
        with closing(Corpus.create(folder)) as corpus:
            add_source(corpus, str(Path(name) / "docs"))
            sync_all(corpus, None, IndexSettings())
        for path, mode in ((Path(name), 0o755), (folder, 0o555), *((one, 0o444) for one in folder.iterdir())):
            path.chmod(mode)
        user = os.geteuid()
        if user == 0:  # root may write anything
            os.seteuid(65534)
        try:
            with closing(Corpus.open(folder)) as corpus:
                with pytest.raises(
                    WorkspaceError, match="cannot be written; check its permissions"
                ) as caught:
                    sync_all(corpus, None, IndexSettings())
                assert "\n" not in str(caught.value)
                assert len(corpus.reader(OWNER, Filter()).keyword(["known"], 9)) == 1
        finally:
            os.seteuid(user)
            folder.chmod(0o700)
