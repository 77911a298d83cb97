"""Index a folder as somebody without rights: when the tests run as root, a process becomes `nobody` for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_NOBODY = 65534

_SCRIPT = """
import json, os, sys, tempfile
from pathlib import Path
from quaere.tools.corpus import Corpus
from quaere.tools.index import IndexSettings
from quaere.tools.sources import add_source
from quaere.tools.sync import sync_all

def index(home, root):
    workspace = Path(home) / ".quaere"
    corpus = Corpus.open(workspace) if workspace.exists() else Corpus.create(workspace)
    add_source(corpus, root)
    report = sync_all(corpus, None, IndexSettings())
    corpus.close()
    names = ("seen", "new", "changed", "renamed", "unchanged", "failed", "pending", "deleted", "skipped")
    return {name: getattr(report, name) for name in names} | {
        "failures": dict(report.failures), "warnings": list(report.warnings)}

home, root, uid = sys.argv[1], sys.argv[2], int(sys.argv[3])
# What is imported on the way must be loaded before: an unprivileged user may not read the interpreter's folder.
with tempfile.TemporaryDirectory() as warm:
    (Path(warm) / "docs").mkdir()
    (Path(warm) / "docs" / "a.md").write_text("# Words\\n\\nOne. Two.")
    (Path(warm) / "docs" / "a.txt").write_bytes("Gr\\u00f6\\u00dfe.".encode("cp1252") + bytes(range(128, 256)))
    (Path(warm) / "docs" / "b.txt").write_bytes(b"plain words")
    index(warm, str(Path(warm) / "docs"))
if uid:
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
assert os.geteuid() != 0
print(json.dumps(index(home, root)))
"""


@contextmanager
def shared_folder() -> Iterator[Path]:
    """Give a folder that everybody may enter; those that pytest gives are closed to others."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


def give_away(folder: Path) -> None:
    """Make an unprivileged user the owner of a folder and all in it, where the tests run as root."""
    if os.geteuid() == 0:
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, _NOBODY, _NOBODY, follow_symlinks=False)


def index_unprivileged(home: Path, root: Path) -> dict[str, Any]:
    """Bring the workspace in `home` up to date with a folder as an unprivileged user; return the report."""
    uid = _NOBODY if os.geteuid() == 0 else 0
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(home), str(root), str(uid)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    counted = sum(report[name] for name in ("new", "changed", "renamed", "unchanged", "failed", "pending"))
    assert report["seen"] == counted
    return report
