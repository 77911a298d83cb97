"""Where the index lies and where its files come from: permissions, disk, who writes, sources."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

from .attached_location import KIND
from .attached_standing import is_collection_away
from .checks import REPAIR, Finding, Stores, counted, ok, warning
from .disk import network_warning
from .errors import BusyError, WorkspaceError
from .lock import HOLDER, writer_lock
from .scan import shown

PRIVATE = 0o700

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
    if told := network_warning(stores.folder):
        return warning(*told.rsplit("; ", 1))
    free = shutil.disk_usage(stores.folder).free
    if free < LITTLE_SPACE:
        return warning(f"{free / 1_000_000:.0f} MB are free on the disk", "free some space")
    return ok(f"a disk of this machine, {free / 1_000_000_000:.1f} GB free")


def look_at_lock(stores: Stores) -> Finding:
    """Tell whether somebody writes now, or left a note of it when it was killed."""
    noted = _left_note(stores.folder / HOLDER)
    try:
        with writer_lock(stores.folder, 0):
            return ok(f"nobody else writes{'; a writer that was killed had left its note' if noted else ''}")
    except BusyError as error:
        return warning(str(error).partition(";")[0], "wait until it has finished, then look again")
    except WorkspaceError as error:
        return warning(str(error).partition(";")[0], "check its permissions; until then it can only be read")


def _left_note(holder: Path) -> bool:
    """Tell whether a note of a writer is there that is not this process."""
    try:
        return bool(json.loads(holder.read_text("utf-8"))["pid"] != os.getpid())
    except FileNotFoundError:
        return False
    except (OSError, ValueError, KeyError, TypeError):
        return True


def look_at_sources(stores: Stores) -> Finding:
    """Check that each source is where it was."""
    rows = stores.db.execute("SELECT name, root, kind FROM sources ORDER BY name").fetchall()
    away = [name for name, root, kind in rows if _is_away(root, kind)]
    if away:
        return warning(
            f"{counted(len(away), 'source')} not there now: {', '.join(away)}",
            "put back what was moved, or run `quaere remove NAME`",
        )
    return ok(f"{counted(len(rows), 'source')}, each where it was" if rows else "none yet")


def _is_away(root: bytes, kind: str) -> bool:
    return is_collection_away(root) if kind == KIND else not os.path.exists(root)


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
