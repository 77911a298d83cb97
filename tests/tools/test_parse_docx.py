"""Word files give paragraphs, lists, tables and notes in order, as they read with all changes accepted."""

from __future__ import annotations

import contextlib
import io
import zipfile
from collections.abc import Callable

import docx
import pytest
from docx.document import Document
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from hypothesis import given, settings
from hypothesis import strategies as st
from quaere.tools.errors import DamagedFileError, EncryptedFileError, UnreadableError
from quaere.tools.evidence import Parsed
from quaere.tools.parse import parse


def written(write: Callable[[Document], object], title: str = "") -> bytes:
    document = docx.Document()
    document.core_properties.title = title
    write(document)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def shape(parsed: Parsed) -> list[tuple[str, int, str]]:
    return [(b.kind, b.level, parsed.text[b.start : b.end]) for b in parsed.blocks]


def house(document: Document) -> None:
    document.add_heading("House rules", 0)
    document.add_heading("Arrival", 1)
    document.add_heading(" ", 2)
    document.add_paragraph("The fee is\t12 EUR.")
    document.add_paragraph("")
    document.add_paragraph("towel", style="List Bullet")
    document.add_paragraph("large", style="List Bullet 2")
    table = document.add_table(3, 2)
    for i, (drink, price) in enumerate([("drink", "price"), ("tea", "3 EUR"), ("milk", "")]):
        table.cell(i, 0).text, table.cell(i, 1).text = drink, price
    document.add_paragraph("End.")


def test_blocks_come_in_order_with_their_elements():
    parsed = parse(written(house), "house.docx")
    assert shape(parsed) == [
        ("heading", 1, "House rules"),
        ("heading", 1, "Arrival"),
        ("paragraph", 0, "The fee is 12 EUR."),
        ("item", 1, "towel"),
        ("item", 2, "large"),
        ("header", 0, "drink | price"),
        ("row", 0, "tea | 3 EUR"),
        ("row", 0, "milk | "),
        ("paragraph", 0, "End."),
    ]
    elements = [block.element for block in parsed.blocks]
    assert elements[2:6] == ["paragraph 4", "paragraph 6", "paragraph 7", "table 1 row 1"]
    assert elements[-1] == "paragraph 8"
    assert (
        parsed.blocks[3].group == parsed.blocks[4].group != parsed.blocks[5].group == parsed.blocks[6].group
    )


def test_paragraphs_are_counted_as_word_counts_them():
    data = written(house)
    paragraphs = docx.Document(io.BytesIO(data)).paragraphs
    for block in (parsed := parse(data, "house.docx")).blocks:
        kind, number = (block.element or "").split(maxsplit=1)
        if kind == "paragraph":
            text = " ".join(paragraphs[int(number) - 1].text.split())
            assert text == parsed.text[block.start : block.end]


def test_the_title_is_the_one_the_file_names_unless_word_made_it_up():
    assert parse(written(house, "Rules of 2026"), "x.docx").title == "Rules of 2026"
    assert parse(written(house, "Microsoft Word - rules.doc"), "x.docx").title == "House rules"
    assert parse(written(lambda d: d.add_paragraph("Just text.")), "fees.docx").title == "fees"


def test_bold_lines_stand_for_headings_where_no_style_does():
    def write(document: Document) -> None:
        document.add_paragraph().add_run("Arrival").bold = True
        document.add_paragraph("The fee is 12 EUR.")

    assert shape(parse(written(write), "x.docx"))[0] == ("heading", 2, "Arrival")


def test_insertions_and_content_controls_are_read_and_deletions_are_not():
    def write(document: Document) -> None:
        document.add_paragraph("The fee is ")._p.append(
            parse_xml(f"<w:ins {nsdecls('w')}><w:r><w:t>12</w:t></w:r></w:ins>")
        )
        document.paragraphs[0]._p.append(
            parse_xml(f"<w:del {nsdecls('w')}><w:r><w:delText>15</w:delText><w:t>15</w:t></w:r></w:del>")
        )
        control = "<w:sdtContent><w:p><w:r><w:t>Paid on arrival.</w:t></w:r></w:p></w:sdtContent>"
        document.element.body.insert(1, parse_xml(f"<w:sdt {nsdecls('w')}>{control}</w:sdt>"))

    assert parse(written(write), "x.docx").text == "The fee is 12\n\nPaid on arrival."


def test_cells_over_several_columns_keep_the_columns_behind_them_in_place():
    def write(document: Document) -> None:
        table = document.add_table(2, 3)
        for i, text in enumerate(["a", "b", "c"]):
            table.cell(0, i).text = text
        table.cell(1, 0).merge(table.cell(1, 1)).text = "both"
        table.cell(1, 2).text = "last"

    assert shape(parse(written(write), "x.docx"))[1] == ("row", 0, "both |  | last")


def test_a_table_of_one_column_is_read_as_text():
    def write(document: Document) -> None:
        document.add_table(1, 1).cell(0, 0).text = "The fee is 12 EUR."

    parsed = parse(written(write), "x.docx")
    assert shape(parsed) == [("paragraph", 0, "The fee is 12 EUR.")]
    assert parsed.blocks[0].element == "table 1 row 1"


def test_encrypted_old_and_damaged_files_are_told_apart():
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500)
    with pytest.raises(EncryptedFileError, match="password required"):
        parse(ole + "EncryptedPackage".encode("utf-16-le"), "x.docx")
    with pytest.raises(DamagedFileError, match="old Word file"):
        parse(ole, "x.docx")
    for data in (b"no zip", written(house)[:-300], written(house).replace(b"document.xml", b"documenx.xml")):
        with pytest.raises(DamagedFileError):
            parse(data, "x.docx")


def test_an_archive_that_is_no_word_file_is_damaged():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.txt", "The fee is 12 EUR.")
    with pytest.raises(DamagedFileError, match="not a readable Word file"):
        parse(out.getvalue(), "x.docx")


WHOLE = written(house)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=30))
def test_a_mutilated_file_is_read_or_refused(place: int, patch: bytes):
    with contextlib.suppress(UnreadableError):
        parse(WHOLE[:place] + patch + WHOLE[place + len(patch) :], "x.docx")


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_a_mutilated_part_is_read_or_refused(data: st.DataObject):
    name = data.draw(st.sampled_from(zipfile.ZipFile(io.BytesIO(WHOLE)).namelist()))
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(WHOLE)) as source, zipfile.ZipFile(out, "w") as target:
        for part in source.namelist():
            content = source.read(part)
            if part == name:
                place = data.draw(st.integers(0, len(content)))
                patch, cut = data.draw(st.binary(max_size=9)), data.draw(st.integers(0, 60))
                content = content[:place] + patch + content[place + cut :]
            target.writestr(part, content)
    with contextlib.suppress(UnreadableError):
        parse(out.getvalue(), "x.docx")
