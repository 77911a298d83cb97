import os
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.tools.errors import OversizedFileError, UnreadableError
from quaere.tools.scan import read_file, scan, shown


def write(root, path, text="text"):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def paths(root, **options):
    return [file.path for file in scan(root, **options).files]


def test_scan_finds_files_sorted_by_path(tmp_path):
    for path in ["b.md", "a/z.md", "a/b/c.txt", "B.md"]:
        write(tmp_path, path)
    assert paths(tmp_path) == ["B.md", "a/b/c.txt", "a/z.md", "b.md"]


@pytest.mark.parametrize(
    "path",
    [
        ".hidden.md",
        ".git/x.md",
        ".quaere/x.md",
        "a/node_modules/x.md",
        "__pycache__/x.py",
        "~$report.docx",
        "notes.md~",
    ],
)
def test_scan_passes_over_hidden_entries_caches_and_backups(tmp_path, path):
    write(tmp_path, path)
    found = scan(tmp_path)
    assert found.files == ()
    assert found.skipped == 0
    assert found.warnings == ()


def test_scan_passes_over_a_python_environment_of_any_name(tmp_path):
    write(tmp_path, "envs/mine/pyvenv.cfg")
    write(tmp_path, "envs/mine/lib/readme.md")
    write(tmp_path, "envs/notes.md")
    assert paths(tmp_path) == ["envs/notes.md"]


def test_scan_of_one_file_finds_that_file(tmp_path):
    file = write(tmp_path, "only.md")
    (found,) = scan(file).files
    assert (found.path, found.name) == ("only.md", b"")


def test_include_and_exclude_are_both_applied(tmp_path):
    for path in ["a.md", "a.txt", "drafts/b.md", "deep/er/c.md"]:
        write(tmp_path, path)
    assert paths(tmp_path, include=("*.md",), exclude=("drafts",)) == ["a.md", "deep/er/c.md"]


def test_a_link_out_of_the_root_is_skipped_and_named(tmp_path):
    outside = write(tmp_path, "outside/secret.md")
    root = tmp_path / "root"
    write(root, "in.md")
    (root / "out.md").symlink_to(outside)
    (root / "outfolder").symlink_to(outside.parent)
    found = scan(root)
    assert [file.path for file in found.files] == ["in.md"]
    assert found.skipped == 2
    assert all("out of the folder" in warning for warning in found.warnings)


def test_links_round_in_a_circle_end(tmp_path):
    write(tmp_path, "a/in.md")
    (tmp_path / "a/up").symlink_to(tmp_path)
    (tmp_path / "a/self").symlink_to(tmp_path / "a")
    (tmp_path / "x").symlink_to(tmp_path / "y")
    (tmp_path / "y").symlink_to(tmp_path / "x")
    found = scan(tmp_path)
    assert [file.path for file in found.files] == ["a/in.md"]
    assert found.skipped == 4


def test_a_broken_link_is_skipped(tmp_path):
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere")
    found = scan(tmp_path)
    assert (found.files, found.skipped) == ((), 1)


def test_a_link_to_a_file_found_anyway_adds_no_second_file(tmp_path):
    file = write(tmp_path, "a.md")
    (tmp_path / "z.md").symlink_to(file)
    found = scan(tmp_path)
    assert [one.path for one in found.files] == ["a.md"]
    assert found.skipped == 1


def test_a_link_to_a_hidden_folder_of_the_root_is_followed(tmp_path):
    write(tmp_path, "..2026/page.md")
    (tmp_path / "..data").symlink_to("..2026")
    (tmp_path / "page.md").symlink_to("..data/page.md")
    assert paths(tmp_path) == ["page.md"]


def test_a_link_into_the_workspace_is_not_followed(tmp_path):
    write(tmp_path, ".quaere/trace.md")
    (tmp_path / "trace.md").symlink_to(".quaere/trace.md")
    assert paths(tmp_path) == []


def test_pipes_and_sockets_are_skipped_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s.md"))
        found = scan(tmp_path)
    assert (found.files, found.skipped) == ((), 2)


def test_a_name_that_is_not_utf8_is_shown_escaped_and_can_be_opened(tmp_path):
    name = b"caf\xe9.md"
    (tmp_path / os.fsdecode(name)).write_text("text")
    (found,) = scan(tmp_path).files
    assert found.path == r"caf\xe9.md"
    found.path.encode()
    assert read_file(os.path.join(os.fsencode(tmp_path), found.name), 10)[0] == b"text"


def test_an_empty_root_says_so(tmp_path):
    assert scan(tmp_path).empty
    write(tmp_path, ".hidden")
    assert not scan(tmp_path).empty


def test_a_file_above_the_limit_is_not_read(tmp_path):
    file = tmp_path / "huge.txt"
    with file.open("wb") as out:
        out.truncate(5_000_000_000)
    with pytest.raises(OversizedFileError, match=r"larger than 1 MB"):
        read_file(os.fsencode(file), 1_000_000)


def test_a_missing_file_is_unreadable_with_a_reason(tmp_path):
    with pytest.raises(UnreadableError, match="gone"):
        read_file(os.fsencode(tmp_path / "none.md"), 10)


def test_a_pipe_in_place_of_a_file_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "pipe.md")
    with pytest.raises(UnreadableError, match="regular"):
        read_file(os.fsencode(tmp_path / "pipe.md"), 10)


@given(st.binary(max_size=12).filter(lambda raw: b"\x00" not in raw))
def test_a_shown_name_can_always_be_stored(raw):
    shown(os.fsdecode(raw)).encode("utf-8")
