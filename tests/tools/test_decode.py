"""Bytes become the text their author saw, or are refused."""

from __future__ import annotations

import codecs
import random
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quaere.tools.decode import decode
from quaere.tools.errors import BinaryFileError

TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(
    lambda text: not text.startswith("\ufeff")
)
SENTENCES = """Die Gebühr für Gäste beträgt fünf Euro. | Über Weihnachten schließen wir früher.
| Bitte räumen Sie den Kühlschrank aus. | Größere Hunde dürfen nicht auf das Gelände.
| Le musée est fermé le lundi. | L'entrée coûte neuf francs, même à Noël. | Où se trouve la clé de la fenêtre ?
| Les élèves ont reçu leurs bulletins hier. | La señora llegó mañana por la tarde. | ¿Cuánto cuesta el café aquí?
| El niño comió después de la reunión. | A taxa é de três euros por visitante. | Não há refeições à noite."""
WESTERN = st.lists(
    st.sampled_from([one.strip() for one in SENTENCES.split("|")]), min_size=1, max_size=8, unique=True
).map(" ".join)
MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}


@given(TEXTS, st.sampled_from(sorted(MARKS)))
def test_every_text_survives_every_encoding_with_a_mark(text: str, encoding: str):
    assert decode(MARKS[encoding] + text.encode(encoding)) == text


@given(TEXTS)
def test_every_text_survives_utf8_without_a_mark(text: str):
    assert decode(text.encode()) == text


@settings(max_examples=40)
@given(WESTERN, st.sampled_from(["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "cp1252", "latin-1"]))
def test_western_text_survives_every_encoding_without_a_mark(text: str, encoding: str):
    assert decode(text.encode(encoding)) == text


@settings(max_examples=40)
@given(WESTERN, st.lists(st.sampled_from("äöüßéèàç€™"), max_size=1), st.integers(0, 200))
def test_a_stray_byte_in_utf8_is_read_as_what_it_is(text: str, stray: list[str], at: int):
    at = min(at, len(text))
    data = text[:at].encode() + "".join(stray).encode("cp1252") + text[at:].encode()
    whole = text[:at] + "".join(stray) + text[at:]
    if len([one for one in text if not one.isascii()]) >= 8:
        assert decode(data) == whole


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
        ("name,fee\r\nMüller,12\r\n", "utf-16-le"),
        ("badge,12\n", "utf-16-be"),
    ],
)
def test_encodings_without_a_mark_are_found_by_how_the_text_reads(text: str, encoding: str):
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16-le"])
def test_letters_far_behind_in_a_large_file_are_read_too(encoding: str):
    text = "plain words of a log\n" * 60_000 + "Die Gebühr für Gäste beträgt 5 EUR.\n" * 20
    assert decode(text.encode(encoding)) == text


def test_utf8_cut_off_in_a_letter_keeps_all_else():
    text = "Größe und Straße für alle. " * 10
    assert decode((text + "ö").encode()[:-1]) == text + "Ã"


def test_a_stated_encoding_is_taken_when_it_fits():
    assert decode("Ïðèâåò 12".encode("cp1252"), "windows-1251") == "Привет 12"
    assert decode("Größe".encode("cp1252"), "iso-8859-1") == "Größe"
    assert decode("Größe".encode(), "iso-8859-1") == "Größe"
    assert decode("Größe".encode("cp1252"), "idna") == "Größe"


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xfea",
        b"a\0b",
        bytes(range(1, 32)) * 9,
        random.Random(3).randbytes(4096),
        struct.pack("<2000h", *range(2000)),
        struct.pack("<2000i", *range(2000)),
        struct.pack(">500i", *range(0, 50_000, 100)),
        b"\x00\x01\x00\x00\x00\x0f" * 200,
        "abc\0def\0".encode("utf-16-le") * 50,
    ],
)
def test_what_is_no_text_is_refused(data: bytes):
    with pytest.raises(BinaryFileError):
        decode(data)
