from pathlib import Path, PurePosixPath

import pytest
from quaere.tools import disk
from quaere.tools.corpus import Corpus
from quaere.tools.disk import NETWORK, file_system, network_warning
from quaere.tools.sync import IndexSettings, add_source, sync_all

MOUNTS = r"""22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
23 22 0:21 / /proc rw,nosuid - proc proc rw
40 22 0:45 / /mnt/team rw,relatime shared:20 - nfs4 server:/export rw,vers=4.2
41 40 0:46 / /mnt/team/local rw - xfs /dev/vdb rw
42 22 0:47 / /mnt/my\040share rw master:1 propagate_from:2 - cifs //server/share rw
43 22 0:48 / /home/ana/far rw - fuse.sshfs ana@host:/ rw
44 22 0:49 / /twice rw - nfs server:/a rw
45 22 0:50 / /twice rw - tmpfs tmpfs rw
a line that is none
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home/ana/docs/.quaere", "ext4"),
        ("/mnt/team/docs/.quaere", "nfs4"),
        ("/mnt/team/local/.quaere", "xfs"),
        ("/mnt/teams/.quaere", "ext4"),
        ("/mnt/my share/.quaere", "cifs"),
        ("/home/ana/far", "fuse.sshfs"),
        ("/twice/.quaere", "tmpfs"),
    ],
)
def test_the_file_system_is_that_of_the_nearest_mount(folder, kind):
    assert file_system(MOUNTS, PurePosixPath(folder)) == kind


def test_no_mounts_tell_nothing():
    assert file_system("", PurePosixPath("/docs")) is None


def test_common_network_disks_are_known_and_local_ones_are_not():
    assert {"nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs"} <= NETWORK
    assert not {"ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "fuse.gocryptfs"} & NETWORK


@pytest.fixture
def on_a_network_disk(tmp_path, monkeypatch):
    (tmp_path / "mountinfo").write_text(f"1 0 0:1 / {tmp_path.resolve()} rw - nfs server:/ rw\n")
    monkeypatch.setattr(disk, "MOUNTS", tmp_path / "mountinfo")


def test_a_sync_on_a_network_disk_works_and_warns_in_one_sentence(tmp_path, on_a_network_disk):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("A badge costs 12 EUR.\n")
    corpus = Corpus.create(tmp_path / ".quaere")
    add_source(corpus, str(tmp_path / "docs"))
    report = sync_all(corpus, None, IndexSettings())
    corpus.close()
    assert report.new == 1
    (warning,) = [one for one in report.warnings if "network disk" in one]
    assert "(nfs)" in warning
    assert "\n" not in warning


def test_where_the_mounts_cannot_be_read_nothing_is_said(monkeypatch):
    monkeypatch.setattr(disk, "MOUNTS", Path("/nowhere/mountinfo"))
    assert network_warning(Path("/")) is None
