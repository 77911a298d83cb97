"""The file `corpus.db`: its tables, how one is made whole or not at all, and when a file is refused.

A file that is not ours, newer than us or damaged is never taken for an empty one and never written to.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import struct
import threading
import uuid
from collections import Counter
from contextlib import suppress
from pathlib import Path

from . import postings, vector
from .errors import BusyError, DiskError, QuaereError, SourceUnavailableError, WorkspaceError

APPLICATION = 0x51554152
"""SQLite's `application_id` of our files: the letters QUAR."""

FORMAT = 2
"""SQLite's `user_version` of our files; raised when older programs could no longer read them."""

BUSY_SECONDS = 5.0

CACHE_KIB = 16_000
"""Memory of a connection for pages of the file; SQLite's own 2 MB are few for a large index."""

TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE revisions(id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL);
CREATE TABLE sources(
    name TEXT PRIMARY KEY, root BLOB NOT NULL, inode INTEGER NOT NULL, added_at TEXT NOT NULL,
    kind TEXT NOT NULL DEFAULT 'files', detail TEXT NOT NULL DEFAULT '{}'
) WITHOUT ROWID;
CREATE TABLE documents(
    id INTEGER PRIMARY KEY AUTOINCREMENT, source TEXT NOT NULL, path TEXT NOT NULL, file BLOB NOT NULL,
    labels TEXT NOT NULL, current INTEGER
);
CREATE UNIQUE INDEX documents_standing ON documents(source, path) WHERE current IS NOT NULL;
CREATE INDEX documents_path ON documents(source, path);
CREATE TABLE texts(id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, body TEXT NOT NULL);
CREATE TABLE versions(
    id INTEGER PRIMARY KEY AUTOINCREMENT, document INTEGER NOT NULL,
    text INTEGER NOT NULL, title TEXT NOT NULL,
    content_hash TEXT NOT NULL, media_type TEXT NOT NULL, parser TEXT NOT NULL, splitter TEXT NOT NULL,
    size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, observed_ns INTEGER NOT NULL,
    valid_from TEXT, valid_until TEXT, born INTEGER NOT NULL, died INTEGER,
    first_passage INTEGER NOT NULL, passages INTEGER NOT NULL, warnings TEXT NOT NULL, superseded_by TEXT
);
CREATE INDEX versions_document ON versions(document);
CREATE INDEX versions_alive ON versions(born) WHERE died IS NULL;
CREATE INDEX versions_dead ON versions(died) WHERE died IS NOT NULL;
CREATE TABLE passages(
    id INTEGER PRIMARY KEY AUTOINCREMENT, version INTEGER NOT NULL, ordinal INTEGER NOT NULL,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL, heading TEXT NOT NULL,
    first INTEGER NOT NULL, last INTEGER NOT NULL, parent_start INTEGER NOT NULL, parent_end INTEGER NOT NULL,
    prefix TEXT NOT NULL, input_key BLOB NOT NULL, sentences TEXT NOT NULL
);
CREATE TABLE failures(
    source TEXT NOT NULL, path TEXT NOT NULL, reason TEXT NOT NULL, size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, parser TEXT NOT NULL, seen_at TEXT NOT NULL,
    PRIMARY KEY(source, path)
) WITHOUT ROWID;
"""


UPGRADES = {
    1: """
ALTER TABLE sources ADD COLUMN kind TEXT NOT NULL DEFAULT 'files';
ALTER TABLE sources ADD COLUMN detail TEXT NOT NULL DEFAULT '{}';
ALTER TABLE versions ADD COLUMN superseded_by TEXT;
"""
}
"""What makes a file of each older format one of the next."""


def make_folder(folder: Path) -> None:
    """Make a `.quaere` folder for its owner alone, unseen by git; refuse one that holds something else."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        ignore = folder / ".gitignore"
        if not ignore.exists() or not ignore.stat().st_size:
            if any(path != ignore for path in folder.iterdir()):
                raise WorkspaceError(
                    f"{folder} was not made by quaere; move it away or choose another folder"
                )
            ignore.write_text("*\n")
    except FileExistsError as error:
        raise WorkspaceError(f"{folder} is a file, not a folder; move it away") from error
    except OSError as error:
        raise _explain_disk(error, folder) from error


def create_file(path: Path) -> None:
    """Make an empty corpus at `path` in one step: a kill leaves either no file or a whole one.

    DiskError when the disk has no room for it or fails, WorkspaceError when nothing may be written there.
    """
    if path.with_name(path.name + "-wal").exists():
        raise WorkspaceError(f"{path} is missing but its log {path.name}-wal is there; move the log away")
    draft = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.new")
    try:
        draft.unlink(missing_ok=True)
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        _fill(draft)
        _put_in_place(draft, path)
    except sqlite3.Error as error:
        raise explain(error, path) from error
    except OSError as error:
        raise _explain_disk(error, path) from error
    finally:
        with suppress(OSError):
            for left in path.parent.glob(f"{draft.name}*"):
                left.unlink()


def _put_in_place(draft: Path, path: Path) -> None:
    """Give a file its name unless another process was faster."""
    try:
        os.link(draft, path)
    except FileExistsError:
        return
    except OSError:  # a disk without hard links
        if not path.exists():
            os.replace(draft, path)


def _explain_disk(error: OSError, path: Path) -> QuaereError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
        return DiskError(f"{path} cannot be made ({error.strerror}); free some space, then add again")
    return WorkspaceError(f"{path} cannot be made ({error.strerror}); check the permissions of its folder")


def _fill(path: Path) -> None:
    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.executescript(f"BEGIN;{TABLES}{postings.SCHEMA}{vector.SCHEMA}COMMIT;")
        db.execute(f"PRAGMA application_id = {APPLICATION}")
        db.execute(f"PRAGMA user_version = {FORMAT}")
        db.execute("INSERT INTO meta VALUES ('workspace', ?)", (uuid.uuid4().hex,))
        db.execute("PRAGMA journal_mode = WAL")
    finally:
        db.close()


class Connection(sqlite3.Connection):
    """A connection that counts among those of this process to its file until it is closed."""

    key: tuple[int, int] | None = None

    def close(self) -> None:
        """Close the connection; a second time does nothing."""
        super().close()
        if self.key is not None:
            _let_go(self.key)
            self.key = None

    def __del__(self) -> None:
        self.close()


_using = threading.Lock()
_in_use: Counter[tuple[int, int]] = Counter()


def is_in_use(path: Path) -> bool:
    """Tell whether this process has a connection to a file, which it must then not open in another way.

    To close a file gives up all POSIX locks of the process on it (sqlite.org/howtocorrupt.html, 2.2): another
    process would take itself for the last one and remove the log that is being written.
    """
    return _in_use[_identity(path)] > 0


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def check_file(path: Path) -> None:
    """Refuse a file that is missing, foreign, newer or cut short, by a look at its header.

    A file that this process has open was looked at when it was opened.
    """
    try:
        with _using:
            if is_in_use(path):
                return
            with path.open("rb") as file:
                header = file.read(100)
        size = path.stat().st_size
    except FileNotFoundError as error:
        raise WorkspaceError(f"no index in {path.parent}; run `quaere add FOLDER` first") from error
    except OSError as error:
        raise WorkspaceError(f"{path} cannot be opened ({error.strerror}); check its permissions") from error
    if len(header) < 100 or header[:16] != b"SQLite format 3\x00":
        raise WorkspaceError(f"{path} is not a quaere database or is damaged; move it away and add again")
    _check_marks(path, header)
    _check_length(path, header, size)


def _check_marks(path: Path, header: bytes) -> None:
    version, application = struct.unpack(">I4xI", header[60:72])
    if application != APPLICATION:
        raise WorkspaceError(f"{path} is not a quaere database; move it away or choose another folder")
    if version > FORMAT:
        raise WorkspaceError(
            f"{path} has format {version} and this program reads up to {FORMAT}; upgrade quaere to open it"
        )


def _check_length(path: Path, header: bytes, size: int) -> None:
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        return  # the header may run ahead of the file until the log is replayed
    page = struct.unpack(">H", header[16:18])[0]
    pages = struct.unpack(">I", header[28:32])[0]
    if size < (65536 if page == 1 else page) * pages:
        raise WorkspaceError(f"{path} is damaged: it is cut short; {WAY_OUT}")


def upgrade_file(path: Path) -> None:
    """Bring a file of an older format up to ours in one transaction; nothing is indexed again."""
    if _format_of(path) >= FORMAT:
        return
    db = sqlite3.connect(path, isolation_level=None, timeout=BUSY_SECONDS)
    try:
        db.execute("BEGIN IMMEDIATE")
        for older in range(db.execute("PRAGMA user_version").fetchone()[0], FORMAT):
            for statement in filter(str.strip, UPGRADES[older].split(";")):
                db.execute(statement)
        db.execute(f"PRAGMA user_version = {FORMAT}")
        db.execute("COMMIT")
    except sqlite3.Error as error:
        raise explain(error, path) from error
    finally:
        db.close()


def _format_of(path: Path) -> int:
    db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        version: int = db.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.Error:
        return FORMAT  # what is wrong with it is said when it is opened
    finally:
        db.close()
    return version


WAY_OUT = "restore it from a backup, or move the .quaere folder away and add your folders again"


def connect(path: Path, busy_seconds: float = BUSY_SECONDS) -> sqlite3.Connection:
    """Open a connection with our settings; on a disk that cannot be written it only reads."""
    try:
        key = _identity(path)
    except OSError as error:
        raise sqlite3.OperationalError(f"unable to open database file: {error.strerror}") from error
    with _using:
        _in_use[key] += 1
    try:
        db = _connect(path, busy_seconds)
    except BaseException:
        _let_go(key)
        raise
    db.key = key
    return db


def _let_go(key: tuple[int, int]) -> None:
    with _using:
        _in_use[key] -= 1


def _connect(path: Path, busy_seconds: float) -> Connection:
    uri = path.absolute().as_uri()
    try:
        return _open(f"{uri}?mode=rw", busy_seconds)
    except sqlite3.OperationalError as error:
        if not _may_be_unwritable(path, error):
            raise
    log = path.with_name(path.name + "-wal")
    # Without a log nobody writes; only `immutable` reads a WAL database where no index can be made beside it.
    return _open(
        f"{uri}?mode=ro{'' if log.exists() and log.stat().st_size else '&immutable=1'}", busy_seconds
    )


def _open(uri: str, busy_seconds: float) -> Connection:
    db = sqlite3.connect(
        uri,
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=busy_seconds,
        factory=Connection,
    )
    try:
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        db.execute("SELECT value FROM meta WHERE key = 'workspace'").fetchone()
        db.execute("SELECT max(id) FROM revisions").fetchone()
    except BaseException:
        db.close()
        raise
    return db


def _may_be_unwritable(path: Path, error: sqlite3.OperationalError) -> bool:
    writable = all(os.access(one, os.W_OK, effective_ids=True) for one in (path.parent, path))
    return not writable or "readonly" in str(error)


def explain(error: sqlite3.Error, path: Path) -> QuaereError:
    """Return the error of ours that says in one sentence what SQLite met in the file."""
    said = str(error)
    if "locked" in said or "busy" in said:
        return BusyError(f"another process writes to {path}; try again when it has finished")
    if "interrupted" in said:
        return SourceUnavailableError("corpus", "the search was interrupted")
    if "readonly" in said or "unable to open" in said:
        return WorkspaceError(f"{path} cannot be written ({said}); check the permissions of its folder")
    if "full" in said:
        return DiskError(f"{path} cannot grow, the disk is full; free some space and run `quaere sync`")
    if "I/O" in said:
        return DiskError(f"{path} cannot be read or written ({said}); check the disk, then run `quaere sync`")
    return WorkspaceError(f"{path} is damaged ({said}); {WAY_OUT}")
