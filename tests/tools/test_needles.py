import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.tools.needles import CHUNK, SIZES, Needles

TEXT = b"The deposit for a cargo bike is 80 EUR, and it is paid back."


def needles(*strings, kind="text"):
    made = Needles()
    made.add(kind, strings)
    return made


def pieces(data, size):
    return [data[at : at + size] for at in range(0, len(data), size)]


@pytest.mark.parametrize("size", [8, 9, 16, 31, 32, 60])
def test_a_string_is_found_wherever_it_stands(size):
    wanted = needles(TEXT[:size])
    for before in (0, 1, 7, CHUNK - 9, CHUNK - 1, CHUNK, CHUNK + 5):
        assert wanted.found_in([b"\0" * before + TEXT]).count == 1


@pytest.mark.parametrize("size", SIZES)
def test_a_string_that_differs_in_one_byte_is_not_found(size):
    wanted = needles(TEXT[:size])
    for at in range(size):
        other = bytearray(TEXT[:size])
        for bit in range(8):
            other[at] ^= 1 << bit
            assert wanted.found_in([bytes(other)]).count == 0
            other[at] ^= 1 << bit


@given(
    st.binary(min_size=0, max_size=200),
    st.lists(st.binary(min_size=8, max_size=40), max_size=6),
    st.integers(1, 50),
)
def test_what_is_found_is_what_stands_there(data, others, step):
    inside = [data[at : at + 32] for at in range(0, max(0, len(data) - 31), 7)]
    wanted = needles(*inside, *others)
    cut = {one[:size] for one in [*inside, *others] for size in [max(s for s in SIZES if len(one) >= s)]}
    kept = {one for one in cut if len(set(one)) >= 5}
    assert wanted.count == len(kept)
    assert wanted.found_in(pieces(data, step)).count == sum(one in data for one in kept)


def test_random_bytes_hold_none_of_many_strings():
    wanted = needles(*(f"nowhere {number} in the whole workspace".encode() for number in range(20_000)))
    assert wanted.found_in([os.urandom(1 << 20)]).count == 0


def test_what_was_found_can_be_left_out_and_kinds_are_counted_apart():
    wanted = needles(TEXT[:32], b"another text that stands nowhere else")
    wanted.add("term", [b"deposit for"])
    assert wanted.counts() == {"term": 1, "text": 2}
    found = wanted.found_in([TEXT])
    assert found.counts() == {"term": 1, "text": 1}
    assert wanted.without(found).counts() == {"term": 0, "text": 1}


def test_short_strings_and_rulers_are_not_looked_for():
    assert needles(b"8 EUR", b"=" * 40, b"\0" * 32, b"ababababab").count == 0


def test_hashes_survive_as_text_and_hold_no_text():
    wanted = needles(TEXT)
    stored = wanted.to_json()
    assert "deposit" not in str(stored)
    assert Needles.from_json(stored).found_in([TEXT]).count == 1
