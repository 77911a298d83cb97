"""PR-13, PR-14, PR-16, PR-17: a file that cannot be read is counted and named, and is never content."""

from __future__ import annotations

import io
import os
import random
import zipfile
from pathlib import Path

import docx
import pytest
from pdf_files import scanned, write_pdf
from quaere.agent.assemble import Agent
from quaere.tools.evidence import NO_FILTER
from unprivileged import give_away, index_unprivileged, shared_folder


def word_file(*paragraphs: str) -> bytes:
    document = docx.Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def cut_archive() -> bytes:
    whole = word_file("Quota is 18.")
    return whole[: len(whole) // 2]


def other_archive() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("notes.txt", "Quota is 19.")
    return out.getvalue()


def indexed(agent: Agent) -> dict[str, str]:
    """Return everything that can be found, by path."""
    reader = agent.corpus.reader(agent.access, NO_FILTER)
    ids = [i for i, allowed in enumerate(reader.allowed.tolist()) if allowed]
    texts: dict[str, str] = {}
    for one in reader.readings(ids).values():
        texts[one.document.path] = texts.get(one.document.path, "") + one.text
    return texts


UNREADABLE = {
    "corrupt.docx": b"Error executing convert: file is corrupt",
    "cut.docx": cut_archive(),
    "other.docx": other_archive(),
    "none.docx": word_file(),
    "damaged.pdf": b"%PDF-1.4\nError: xref table not found",
    "blank.html": b"<html><head><title>None</title></head><body><script>1</script></body></html>",
    "old.doc": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
}


def test_what_cannot_be_converted_is_listed_and_never_indexed(workspace, tmp_path):
    agent = workspace({"quota.docx": word_file("Quota is 17."), **UNREADABLE})
    report = agent.sync()
    assert (report.seen, report.unchanged, report.failed) == (8, 1, 7)
    assert {path for path, _ in report.failures} == set(UNREADABLE)
    assert all(reason and len(reason) < 80 and "Error" not in reason for _, reason in report.failures)
    assert indexed(agent) == {"quota.docx": "Quota is 17."}
    answer = agent.ask("What is the quota?")
    assert (answer.status, [note.document for note in answer.footnotes]) == ("answered", ["quota.docx"])
    assert "17" in answer.text
    for question in ("What errors are in the documents?", "Which file is corrupt?"):
        assert agent.ask(question).status == "abstained"
    (source,) = agent.sources()
    assert [path for path, _ in source.failures] == sorted(UNREADABLE)


LOCKED = {
    "locked.pdf": write_pdf(["Rate 9.9 %"], user="secret", owner="other"),
    "owner.pdf": write_pdf(["Rate 4.5 %"], owner="secret"),
    "plain.md": "A badge costs 12 EUR.",
}


def test_a_password_is_asked_for_by_name_and_an_owner_password_is_no_obstacle(workspace):
    agent = workspace(LOCKED)
    report = agent.sync()
    assert (report.seen, report.unchanged, report.failures) == (3, 2, (("locked.pdf", "password required"),))
    answer = agent.ask("What is the rate?")
    assert "4.5 %" in answer.text
    assert {note.document for note in answer.footnotes} == {"owner.pdf"}
    assert "9.9" not in "".join(indexed(agent).values())


def test_each_file_fails_alone_and_is_tried_again():
    with shared_folder() as folder:
        docs, home = folder / "docs", folder / "home"
        docs.mkdir()
        home.mkdir()
        (docs / "good.md").write_text("A badge costs 12 EUR.")
        (docs / "noise.txt").write_bytes(random.Random(5).randbytes(2048))
        (docs / "locked.txt").write_text("The night entrance is door 9.")
        (docs / "empty.md").write_bytes(b"")
        give_away(folder)
        (docs / "locked.txt").chmod(0)
        report = index_unprivileged(home, docs)
        assert (report["seen"], report["new"], report["failed"]) == (4, 1, 3)
        assert report["failures"] == {
            "empty.md": "empty",
            "locked.txt": "no permission to read it",
            "noise.txt": "binary, not text",
        }
        (docs / "locked.txt").chmod(0o644)
        again = index_unprivileged(home, docs)
        assert (again["new"], again["unchanged"], sorted(again["failures"])) == (
            1,
            1,
            ["empty.md", "noise.txt"],
        )
        with Agent.open(home) as agent:
            assert "12 EUR" in agent.ask("What does a badge cost?").text
            assert "door 9" in agent.ask("Which door is the night entrance?").text


def test_a_folder_that_may_not_be_entered_keeps_what_was_indexed_of_it():
    with shared_folder() as folder:
        docs, home = folder / "docs", folder / "home"
        (docs / "closed").mkdir(parents=True)
        home.mkdir()
        (docs / "good.md").write_text("A badge costs 12 EUR.")
        (docs / "closed" / "key.md").write_text("The spare key hangs in locker 31.")
        give_away(folder)
        (docs / "closed").chmod(0)
        first = index_unprivileged(home, docs)
        assert (first["seen"], first["new"]) == (1, 1)
        assert "closed: the folder cannot be read" in first["warnings"]
        (docs / "closed").chmod(0o755)
        assert index_unprivileged(home, docs)["new"] == 1
        (docs / "closed").chmod(0)
        last = index_unprivileged(home, docs)
        assert (last["deleted"], last["unchanged"]) == (0, 1)
        (docs / "closed").chmod(0o755)
        assert index_unprivileged(home, docs)["unchanged"] == 2


MIX = write_pdf(["Deposit: 300 EUR.", scanned("Notice period: 6 weeks"), "Signed in Graz."])


def test_a_page_without_text_is_warned_of_and_named_where_an_answer_is_missing(workspace, tmp_path):
    docs = tmp_path / "docs0"
    docs.mkdir()
    (docs / "mix.pdf").write_bytes(MIX)
    (docs / "scan.pdf").write_bytes(write_pdf([scanned("Notice period: 7 weeks")]))
    with Agent.open(tmp_path) as agent:
        report = agent.add(docs)
        assert (report.seen, report.new, report.failed) == (2, 1, 1)
        assert "mix.pdf: page 2 has no text" in report.warnings
        assert report.failures == (("scan.pdf", "no text on any page (a scan?)"),)
        deposit = agent.ask("What is the deposit?")
        assert "300 EUR" in deposit.text
        assert [(note.document, note.locator.page) for note in deposit.footnotes] == [("mix.pdf", 1)]
        notice = agent.ask("What is the notice period?")
        assert notice.status == "abstained"
        assert "6" not in notice.text
        assert "mix.pdf: page 2 has no text" in notice.notes


@pytest.mark.parametrize(
    "name", ["scan.pdf", "blank.html", "blank.docx", "blank.txt", "blank.csv", "blank.json"]
)
def test_what_gives_no_text_is_never_counted_as_indexed(workspace, name: str):
    data = {
        ".pdf": write_pdf(["", ""]),
        ".docx": word_file(" "),
        ".html": b"<script>x</script><p> </p>",
    }
    agent = workspace(
        {name: data.get(Path(name).suffix, b" \n\n,,;\n{}[]"), "plain.md": "A badge costs 12 EUR."}
    )
    report = agent.sync()
    assert (report.seen, report.unchanged, [path for path, _ in report.failures]) == (2, 1, [name])
    assert set(indexed(agent)) == {"plain.md"}
    assert os.linesep not in report.failures[0][1]
