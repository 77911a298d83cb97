"""JSON is read record by record and member by member, over the untouched file, sound or not."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.tools.analyze import terms
from quaere.tools.evidence import Parsed
from quaere.tools.parse import parse
from quaere.tools.split import Limits, split

SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=12)
VALUES = st.recursive(
    SCALARS | st.text("wé ", min_size=300, max_size=600),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=6), inner, max_size=5),
    max_leaves=25,
)
LONG = {"id": 5, "name": "Pump", "text": "word " * 30, "more": "x " * 100, "deep": {"k1": "v " * 150, "k2": "w " * 150}}  # fmt: skip


def read(text: str, name: str = "pumps.json") -> Parsed:
    return parse(text.encode(), name)


def shape(parsed: Parsed) -> list[tuple[str, str | None, str]]:
    return [(b.kind, b.element, parsed.text[b.start : b.end]) for b in parsed.blocks]


def paths(parsed: Parsed) -> list[tuple[str, ...]]:
    return [tuple(scope.name for scope in block.within if scope.name) for block in parsed.blocks]


def units(parsed: Parsed):
    return split(parsed, lambda texts: [len(text) // 3 + 2 for text in texts], Limits()).sentences


def uncovered(parsed: Parsed) -> str:
    inside = {place for block in parsed.blocks for place in range(block.start, block.end)}
    breaks = re.finditer(r"\\(?:([nrt])|.)", parsed.text)
    inside |= {match.end() - 1 for match in breaks if match[1]}
    return "".join(c for place, c in enumerate(parsed.text) if c.isalnum() and place not in inside)


def test_each_element_of_an_array_is_a_record():
    parsed = read('[{"a": 1},\n {"a": [2, 3]},\n "tea", 4, 5, 6]')
    assert shape(parsed) == [
        ("row", "record 1", '{"a": 1}'),
        ("row", "record 2", '{"a": [2, 3]}'),
        ("row", "record 3", '"tea"'),
        ("row", "records 4–6", "4, 5, 6"),
    ]


def test_each_member_of_an_object_is_a_record_placed_by_its_line():
    parsed = read('{"name": "x",\n "version": "1.0",\n "scripts": {"test": "pytest"}}')
    assert [text for *_, text in shape(parsed)] == [
        '"name": "x"',
        '"version": "1.0"',
        '"scripts": {"test": "pytest"}',
    ]
    assert [one.locator.element for one in units(parsed)] == ["line 1", "line 2", "line 3"]


def test_a_large_member_is_read_by_its_own_members_under_its_key():
    features = {f"flag_{n}": {"enabled": True, "owner": f"team {n}"} for n in range(12)}
    parsed = read(json.dumps({"version": 1, "features": features, "end": True}, indent=1))
    assert paths(parsed) == [(), *[("features",)] * 13, ()]
    last = next(one for one in units(parsed) if "flag_11" in parsed.text[one.start : one.end])
    assert last.locator.heading == ("features",)
    assert [parsed.text[a:b] for a, b in last.governed_by] == ['"features"']


def test_the_beginning_of_a_large_record_governs_the_rest_of_it():
    parsed = read(json.dumps({"items": [{"id": 1}, LONG, {"id": 2}]}))
    rest = next(one for one in units(parsed) if parsed.text[one.start : one.end].startswith('"k2"'))
    above = [parsed.text[a:b] for a, b in rest.governed_by]
    assert above[0] == '"items"'
    assert above[1].startswith('"id": 5, "name": "Pump"')
    assert above[2] == '"deep"'
    assert rest.locator.heading == ("items", "deep")
    assert rest.locator.element == "record 2"
    assert shape(parsed)[-1] == ("row", "record 3", '{"id": 2}')


def test_json_lines_are_a_record_a_line():
    text = "".join(json.dumps({"id": n, "text": f"Item {n} weighs {n} g."}) + "\n" for n in range(1, 6001))
    for name in ("items.jsonl", "items.ndjson", "items.json"):
        parsed = read(text, name)
        assert len(parsed.blocks) == len(units(parsed)) == 6000
        assert shape(parsed)[5998][1:] == ("record 5999", '{"id": 5999, "text": "Item 5999 weighs 5999 g."}')
        assert parsed.warnings == ()


@pytest.mark.parametrize(
    ("text", "name", "place"),
    [
        ('{"a": 1}\n{"a": 2\n{"a": 3}\n', "x.jsonl", "line 2, column 8"),
        ('[{"a": 1},\n {"b": }]', "x.json", "line 2, column 8"),
        ('// remark\n{"a": 1}', "x.json", "line 1, column 1"),
        ('{"a": 1} and more', "x.json", "line 1, column 10"),
        ('{"items": [{"a": 1}, {"b": 2}, {"c": "cut o', "x.json", "line 1, column 38"),
        ('{"a" 1}', "x.json", "line 1, column 6"),
        ('{"a": 1 "b": 2}', "x.json", "line 1, column 9"),
        ("{a: 1}", "x.json", "line 1, column 2"),
        ("[1, 2,]", "x.json", "line 1, column 7"),
    ],
)
def test_what_is_no_json_is_read_as_text_and_named_by_line_and_column(text: str, name: str, place: str):
    parsed = read(text, name)
    (warning,) = parsed.warnings
    assert f"not valid JSON at {place} (" in warning
    assert uncovered(parsed) == ""


def test_sound_records_before_a_fault_stay_records():
    parsed = read('{"items": [{"a": 1}, {"b": 2}, {"c": ')
    assert [(place, text) for _, place, text in shape(parsed)][1:3] == [
        ("record 1", '{"a": 1}'),
        ("record 2", '{"b": 2}'),
    ]


@pytest.mark.parametrize("text", ["[" * 5000 + "1", '{"a":' * 3000 + "1", "[" * 3000 + "1" + "]" * 3000])
def test_what_is_nested_without_end_is_read_as_text(text: str):
    parsed = read(text)
    assert uncovered(parsed) == ""
    assert "nested too deeply" in parsed.warnings[0]


def test_a_long_string_is_read_by_the_paragraphs_it_escapes():
    story = "The pump stands in hall B.\n\nIt runs at night.\nC:\\new stays. " + "It hums. " * 60
    parsed = read(json.dumps([{"id": 7, "story": story}, {"id": 8}]))
    texts = [text for *_, text in shape(parsed)]
    assert texts[:3] == ['"id": 7', '"story": "The pump stands in hall B.', "It runs at night."]
    assert texts[3].startswith(r"C:\\new stays.")
    night = next(one for one in units(parsed) if "at night" in parsed.text[one.start : one.end])
    assert [parsed.text[a:b] for a, b in night.governed_by] == ['"id": 7', '"story"']
    assert (night.locator.heading, night.locator.element) == (("story",), "record 1")


def test_escaped_letters_are_found_as_they_read():
    parsed = read(
        json.dumps({"city": "Z\u00fcrich\nsecond caf\u00e9", "sign": "\U0001f600", "path": "C:\\new"})
    )
    assert "\\u00fc" in parsed.text
    assert terms(parsed.text) == terms("city Z\u00fcrich second caf\u00e9 sign path C new")


def test_numbers_of_any_length_are_read():
    assert read("[1, " + "9" * 5000 + ", 1e999, NaN]").warnings == ()


@given(VALUES, st.sampled_from([None, 1]), st.booleans())
def test_every_letter_lies_in_one_block_and_every_row_is_sound(
    value: object, indent: int | None, ascii_only: bool
):
    parsed = read(json.dumps({"word": value}, indent=indent, ensure_ascii=ascii_only))
    assert parsed.warnings == ()
    assert uncovered(parsed) == ""
    assert all(one.end <= two.start for one, two in zip(parsed.blocks, parsed.blocks[1:], strict=False))
    for block in parsed.blocks:
        if block.kind == "row":
            text = parsed.text[block.start : block.end]
            try:
                json.loads(f"[{text}]")
            except ValueError:
                json.loads(f"{{{text}}}")


@given(st.text(st.sampled_from('a1é {}[]:,"\\\n'), max_size=40), st.sampled_from(["x.json", "x.jsonl"]))
def test_every_letter_of_broken_json_lies_in_a_block(text: str, name: str):
    parsed = read(f"word {text}" if text[:1] == "a" else f'{{"word": {text}', name)
    assert uncovered(parsed) == ""
