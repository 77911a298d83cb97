"""Bytes become the text their author saw, or are refused."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.tools.decode import decode
from quaere.tools.errors import BinaryFileError


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_utf8_with_and_without_a_mark_is_the_same_text(text: str):
    if not text.startswith("\ufeff"):
        assert decode(text.encode()) == decode(text.encode("utf-8-sig")) == text


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_wide_encodings_are_known_by_their_mark(encoding: str):
    marks = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
    assert decode(marks.get(encoding, b"") + "Größe 12".encode(encoding)) == "Größe 12"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Größe", "cp1252"),
        ("naïve", "latin-1"),
        ("Die Gebühr für Gäste beträgt 5 EUR pro Übernachtung.", "cp1252"),
        ("The fee is 12 £ per day – “really”.", "cp1252"),
        ("Le musée est fermé le lundi. L’entrée coûte 12 €.", "cp1252"),
        ("Привет, мир. Это простой текст на русском языке.", "cp1251"),
        ("Zażółć gęślą jaźń. Opłata wynosi 12 złotych.", "cp1250"),
        ("日本語のテキストです。料金は三百円です。", "shift_jis"),
        ("这是一个中文文本，费用是三百元。", "gb18030"),
    ],
)
def test_older_encodings_are_found_by_how_the_text_reads(text: str, encoding: str):
    assert decode(text.encode(encoding)) == text


def test_a_stated_encoding_is_taken_when_it_fits():
    assert decode("Ïðèâåò 12".encode("cp1252"), "windows-1251") == "Привет 12"
    assert decode("Größe".encode("cp1252"), "iso-8859-1") == "Größe"
    assert decode("Größe".encode(), "iso-8859-1") == "Größe"
    assert decode("Größe".encode("cp1252"), "idna") == "Größe"


@pytest.mark.parametrize("data", [b"\xff\xfea", b"a\0b", bytes(range(1, 32)) * 9])
def test_what_is_no_text_is_refused(data: bytes):
    with pytest.raises(BinaryFileError):
        decode(data)
