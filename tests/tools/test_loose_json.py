"""JSON is found in what a model wrote, whole or not at all."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.tools.loose_json import json_values, mended, read_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
PROSE = st.text(st.characters(codec="utf-8", exclude_characters='{}[]`"'), max_size=30)


@given(VALUES)
def test_plain_json_is_what_it_says(value: object) -> None:
    assert read_json(json.dumps(value)) == value


@given(st.dictionaries(st.text(max_size=4), VALUES, max_size=3), PROSE, PROSE)
def test_an_object_between_sentences_is_found(value: dict[str, object], before: str, after: str) -> None:
    assert read_json(f"{before}{json.dumps(value)}{after}") == value
    assert read_json(f"{before}\n```json\n{json.dumps(value, indent=1)}\n```\n{after}") == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{{"name": "search", "arguments": {"q": "x"}}}', {"name": "search", "arguments": {"q": "x"}}),
        ('Sure!\n```\n{"a": 1}\n```', {"a": 1}),
        ('```json {"a": 1}```', {"a": 1}),
        ('The set {a, b} is {"a": 1}.', {"a": 1}),
        ('[1] says so: {"a": 1}', {"a": 1}),
        ('\ufeff {"a": 1}\n', {"a": 1}),
        ('{"a": 1}\n\nHope that helps {smile}', {"a": 1}),
        ("[1, 2]", [1, 2]),
        ("7", 7),
        ('{"a": "\\ud800"}', {"a": "?"}),
    ],
)
def test_what_models_put_around_an_object_is_left_out(text: str, value: object) -> None:
    assert read_json(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON at all",
        "{",
        '{"claims": [{"text": "a", "ids": ["S1.1"]}, {"te',
        '```json\n{"claims": [{"text": "a"}, ',
        '{"a": NaN}',
        "[" * 100_000,
        '{"a":' * 50_000,
        "{{" * 50_000,
        '{"a": ' + "9" * 5_000 + "}",
    ],
)
def test_what_breaks_off_or_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no JSON"):
        read_json(text)


@given(st.text(max_size=80))
def test_whatever_stands_in_a_text_it_is_read_or_refused(text: str) -> None:
    for value in json_values(text):
        json.dumps(value, ensure_ascii=False).encode()


def test_several_values_come_in_their_order() -> None:
    assert list(json_values('first {"a": 1} then {"b": [2]} and [3]')) == [{"a": 1}, {"b": [2]}, [3]]


def test_halves_of_pairs_are_replaced() -> None:
    assert mended("a\ud800b") == "a?b"
