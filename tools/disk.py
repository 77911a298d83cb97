"""The kind of disk a folder lies on: SQLite's log needs memory that all readers share; networks lack it."""

from __future__ import annotations

import re
from pathlib import Path, PurePath

_TYPES = """
9p afs beegfs ceph cifs coda davfs fuse.cephfs fuse.davfs fuse.glusterfs fuse.rclone fuse.s3fs fuse.sshfs
glusterfs gpfs lustre ncpfs nfs nfs4 ocfs2 orangefs smb2 smb3 smbfs
"""
NETWORK = frozenset(_TYPES.split())
"""Types of file systems, as Linux names them, that other machines serve."""

MOUNTS = Path("/proc/self/mountinfo")


def network_warning(folder: Path) -> str | None:
    """Return one sentence when a folder lies on a network disk; None when not, or where no one can tell."""
    try:
        mounts = MOUNTS.read_text("utf-8", "surrogateescape")
    except OSError:
        return None
    kind = file_system(mounts, folder.resolve())
    if kind not in NETWORK:
        return None
    return (
        f"{folder} lies on a network disk ({kind}), where two machines can damage the index; "
        "keep it on a disk of this machine"
    )


def file_system(mounts: str, folder: PurePath) -> str | None:
    """Return the type of the file system a folder lies on, by the text of `/proc/self/mountinfo`.

    The format is that of proc_pid_mountinfo(5): the fifth field is the place, the first one after ` - ` the
    type. Of several mounts at one place the last one counts.
    """
    found: tuple[int, str] | None = None
    for line in mounts.splitlines():
        head, dash, tail = line.partition(" - ")
        fields = head.split(" ")
        if not dash or len(fields) < 5:
            continue
        place = PurePath(_unescaped(fields[4]))
        if folder.is_relative_to(place) and (found is None or len(place.parts) >= found[0]):
            found = len(place.parts), tail.split(" ")[0]
    return found[1] if found else None


def _unescaped(field: str) -> str:
    """Return a field with the characters that stand in it as three octal digits."""
    return re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), field)
