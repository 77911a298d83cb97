"""Where the index lies and where its files come from: permissions, disk, who writes, sources."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from .checks import REPAIR, Finding, Stores, counted, ok, warning
from .errors import BusyError, WorkspaceError
from .lock import HOLDER, writer_lock
from .scan import shown

PRIVATE = 0o700

NETWORK = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "beegfs", "davfs"}
    | {"fuse.sshfs", "fuse.glusterfs"}
)
"""File systems, as the kernel names them, that other machines may write to as well."""

MOUNTS = Path("/proc/self/mounts")

LITTLE_SPACE = 200_000_000
"""Bytes free on the disk below which indexing may soon stop."""


def look_at_permissions(stores: Stores) -> Finding:
    """Check that nobody but the owner can read the index: it holds the texts of all documents."""
    mode = stat.S_IMODE(stores.folder.stat().st_mode)
    if mode & ~PRIVATE:
        return warning(
            f"others may enter {stores.folder} (mode {mode:04o})", f"{REPAIR}, or chmod 700 that folder"
        )
    return ok("only the owner may enter the folder")


def look_at_disk(stores: Stores) -> Finding:
    """Check that the disk is one of this machine and has room left."""
    kind = file_system(stores.folder)
    if kind in NETWORK:
        return warning(
            f"the index lies on a network disk ({kind}), whose locks and mapped files cannot be relied on",
            "move the folder that holds .quaere to a disk of this machine",
        )
    free = shutil.disk_usage(stores.folder).free
    if free < LITTLE_SPACE:
        return warning(f"{free / 1_000_000:.0f} MB are free on the disk", "free some space")
    return ok(f"a disk of this machine, {free / 1_000_000_000:.1f} GB free")


def file_system(folder: Path, mounts: Path = MOUNTS) -> str:
    """Return the kind of file system a folder lies on; empty where the system does not tell."""
    try:
        lines = mounts.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    found = [(fields[1], fields[2]) for fields in (line.split() for line in lines) if len(fields) > 2]
    here = os.path.realpath(folder)
    inside = [
        (_plain(point), kind)
        for point, kind in found
        if os.path.commonpath([here, _plain(point)]) == _plain(point)
    ]
    return max(inside, key=lambda one: len(one[0]), default=("", ""))[1]


def look_at_lock(stores: Stores) -> Finding:
    """Tell whether somebody writes now, or left a note of it when it was killed."""
    holder = stores.folder / HOLDER
    noted = holder.exists()
    try:
        with writer_lock(stores.folder, 0):
            return ok(f"nobody else writes{'; a writer that was killed had left its note' if noted else ''}")
    except BusyError as error:
        return warning(str(error).partition(";")[0], "wait until it has finished, then look again")
    except WorkspaceError as error:
        return warning(str(error).partition(";")[0], "check its permissions; until then it can only be read")


def look_at_sources(stores: Stores) -> Finding:
    """Check that each source is where it was."""
    rows = stores.db.execute("SELECT name, root FROM sources WHERE kind = 'files' ORDER BY name").fetchall()
    away = [name for name, root in rows if not os.path.exists(root)]
    if away:
        return warning(
            f"{counted(len(away), 'source')} not there now: {', '.join(away)}",
            "put back what was moved, or run `quaere remove NAME`",
        )
    return ok(f"{counted(len(rows), 'folder or file')}, each where it was" if rows else "none yet")


def look_at_failures(stores: Stores) -> Finding:
    """Count the files that could not be read."""
    rows = stores.db.execute("SELECT source, path, reason FROM failures ORDER BY source, path").fetchall()
    if rows:
        source, path, reason = rows[0]
        more = f", and {len(rows) - 1:,} more" if len(rows) > 1 else ""
        return warning(
            f"{counted(len(rows), 'file')} could not be read: {source}/{path} ({shown(reason)}){more}",
            "see `quaere sources`; exclude them in quaere.toml, or mend them and run `quaere sync`",
        )
    return ok("every file could be read")


def make_private(folder: Path) -> None:
    """Keep everybody but the owner out of the folder."""
    folder.chmod(PRIVATE)


def _plain(point: str) -> str:
    """Return a mount point as a path: spaces and such are escaped in octal."""
    return point.encode().decode("unicode_escape").encode("latin-1").decode("utf-8", "replace")
