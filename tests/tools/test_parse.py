"""Whatever the bytes, a file becomes text with ordered blocks, or one error with one reason."""

from __future__ import annotations

import contextlib
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pdf_files import write_pdf
from quaere.tools.decode import decode
from quaere.tools.errors import BinaryFileError, EmptyFileError, UnreadableError
from quaere.tools.evidence import Parsed
from quaere.tools.parse import format_of, media_type, parse, parser_mark

NAMES = ["a.md", "a.txt", "a.rst", "a.csv", "a.jsonl", "a.py", "a.html", "a.pdf", "a.docx", "README", "a.xyz"]
TEXT_NAMES = [
    *["a.md", "a.txt", "a.rst", "a.csv", "a.tsv", "a.json", "a.jsonl", "a.log", "a.py", "a.go", "a.ini"],
    *["README", "a.xyz"],
]
MARKS = """The_fee|12_EUR.|#_|##_|-_|*_|1._|>_|```|~~~|____|===|---|::|.._note::|.._code-block::_sh
+--+|"|,|:|<p>|<!--_|_-->|<li>|</ul>|é|日本|word"""
WORDS = st.sampled_from(
    [mark.replace("_", " ") for mark in MARKS.replace("\n", "|").split("|")]
    + [
        "| a | b |",
        "|---|---|",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        "\t",
        "\x0c",
        "\u2028",
        "\u00a0",
        "\ufeff",
        "\U0001f600",
    ]
)
TEXTS = st.lists(WORDS, max_size=40).map("".join)


def check(parsed: Parsed) -> None:
    """Hold a parse to the laws of blocks."""
    end = 0
    for block in parsed.blocks:
        assert end <= block.start < block.end <= len(parsed.text)
        assert parsed.text[block.start : block.end].strip()
        assert block.kind != "heading" or 1 <= block.level <= 6
        assert block.kind != "item" or block.level >= 1
        assert block.kind not in ("item", "row", "header") or block.group >= 1
        end = block.end
    assert parsed.title.strip()
    assert any(character.isalnum() for character in parsed.text)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400), st.sampled_from(NAMES))
@example(b"\xef\xbb\xbf", "a.txt")
@example(b"\xff\xfea", "a.txt")
@example(b"<meta charset=idna>\xfc", "a.html")
@example(b"\x80abc", "a.md")
def test_any_bytes_are_read_or_refused(data: bytes, name: str):
    with contextlib.suppress(UnreadableError):
        check(parse(data, name))


@settings(max_examples=400, deadline=None)
@given(TEXTS, st.sampled_from([*TEXT_NAMES, "a.html"]))
def test_any_text_has_ordered_blocks_inside_it(text: str, name: str):
    try:
        check(parse(text.encode(), name))
    except UnreadableError:
        assert name == "a.html" or not any(c.isalnum() for c in text) or "\ufeff" in text[:1]


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.sampled_from(TEXT_NAMES), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_text_formats_keep_the_decoded_file(text: str, name: str, encoding: str):
    text = f"word {text}"
    assert parse(text.encode(encoding), name).text == text


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_every_letter_of_plain_text_lies_in_a_block(text: str):
    parsed = parse(f"word {text}".encode(), "a.txt")
    covered = {i for block in parsed.blocks for i in range(block.start, block.end)}
    assert not [i for i, character in enumerate(parsed.text) if character.isalnum() and i not in covered]


SAMPLE = {
    "a.md": "# Gebühren\n\nDie Gebühr für Gäste beträgt fünf Euro.\n\n- Größe\n- Höhe\n",
    "a.txt": "GEBÜHREN\n\nDie Gebühr für Gäste beträgt fünf Euro.\r\n\r\nÜber Weihnachten ist zu.\n",
    "a.rst": "Gebühren\n========\n\n.. note:: Für Gäste fünf Euro.\n\nGrüße aus Köln.\n",
    "a.csv": 'Größe;Gebühr\r\n"für\r\nGäste";5\r\nKöln;6\r\n',
    "a.json": '{"Größe": [{"für": "Gäste"}, {"über": "Köln"}], "Gebühr": "fünf Euro für schöne Räume"}',
    "a.jsonl": '{"Größe": "Gäste"}\r\n{"über": "schöne Räume in Köln"}\r\n',
    "a.py": 'def gebühr(gäste):\n    """Für Gäste."""\n    return "fünf Euro für schöne Räume"\n\n\nöffnen = 1\n',
    "a.log": "10:02 Gebühr für Gäste\n  über Köln\n10:03 schöne Grüße\n",
}


@pytest.mark.parametrize("name", SAMPLE)
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]
)
def test_blocks_are_the_same_in_every_encoding_and_can_be_cut_from_the_file(name: str, encoding: str):
    parsed = parse(SAMPLE[name].encode(encoding), name)
    known = parse(SAMPLE[name].encode(), name)
    whole = decode(SAMPLE[name].encode(encoding))
    assert parsed == known
    assert len(parsed.blocks) > 1
    assert all(
        whole[block.start : block.end] == whole[block.start : block.end].strip() for block in parsed.blocks
    )


@pytest.mark.parametrize("data", [b"", b"\n \n", b"---\n***\n", b"\xef\xbb\xbf", "…".encode()])
def test_a_file_without_letters_is_empty(data: bytes):
    for name in ("empty.md", "empty.txt", "empty.html"):
        with pytest.raises(EmptyFileError, match="empty"):
            parse(data, name)


def test_binary_files_are_named_so_whatever_their_name():
    noise = random.Random(7).randbytes(2048)
    for data in (
        noise,
        b"\x7fELF\x02\x01" + noise,
        b"PK\x03\x04" + b"a" * 50,
        write_pdf(["text"]),
        b"a\0b\0c\0",
    ):
        with pytest.raises(BinaryFileError, match="binary, not text"):
            parse(data, "noise.txt")


def test_names_tell_the_format():
    assert format_of("docs/Guide.MD") == "markdown"
    assert media_type("a.pdf") == "application/pdf"
    assert media_type("a.rst") == "text/plain"
    assert media_type("a.bin") is None
    assert media_type("LICENSE") is None


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html", "a.csv"])
def test_the_mark_of_a_path_is_the_parser_that_reads_it(name: str):
    assert parse(b"<p>The fee is 12 EUR.</p>", name).parser == parser_mark(name)


def test_a_deeply_nested_page_is_read():
    page = b"<div>" * 5000 + b"The fee is 12 EUR." + b"</div>" * 5000
    assert parse(page, "deep.html").text == "The fee is 12 EUR."
    assert "12 EUR" in parse(b"> " * 3000 + b"The fee is 12 EUR.", "deep.md").text
    assert "12 EUR" in parse(b"[" * 3000 + b"The fee is 12 EUR.", "deep.md").text
