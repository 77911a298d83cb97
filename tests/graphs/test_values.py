from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.graphs.values import read_values


def keys(text):
    return [value.key for value in read_values(text)]


@pytest.mark.parametrize(
    "forms",
    [
        ("EUR 80", "80 euros", "€80", "80,00 €", "80.00 EUR"),
        ("24 hours", "1 day", "one day", "24-hour"),
        ("14 days", "two weeks", "a notice of 2 weeks"),
        ("1,000 people", "1000 people", "1 thousand people"),
        ("10 %", "ten percent", "10 per cent"),
        ("9:00", "9 am", "09:00 h"),
        ("1.5 million EUR", "1,500,000 EUR"),
        ("on 3 May 2024", "on 2024-05-03", "on May 3, 2024"),
        ("+49 30 123456", "+49 (30) 12 34 56"),
        ("version 9.6", "v9.6"),
    ],
)
def test_one_value_has_one_form(forms):
    assert len({tuple(keys(form)) for form in forms}) == 1
    assert len(keys(forms[0])) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("80 EUR", "80 USD"),
        ("5 working days", "5 days"),
        ("12 months", "365 days"),
        ("3 nights", "3 days"),
        ("9 am", "9 pm"),
        ("30 °C", "30 °F"),
        ("1.5 kg", "15 kg"),
        ("5 days", "5 docks"),
    ],
)
def test_different_values_and_units_stay_different(one, other):
    assert keys(one) != keys(other)


def test_each_stretch_is_read_once_and_in_order():
    values = read_values("In 2020 the fee was 12 EUR, due within 5 working days from 3 May 2021 at 9:30.")
    assert [value.kind for value in values] == ["date", "money", "duration", "date", "time"]
    assert all(one.end <= other.start for one, other in pairwise(values))


@given(st.integers(0, 10**9), st.sampled_from(["EUR", "USD", "£", "yen"]))
def test_signs_of_thousands_do_not_change_an_amount(number, currency):
    assert keys(f"{number:,} {currency}") == keys(f"{number} {currency}")


@given(st.text(max_size=80))
def test_any_text_is_read(text):
    for value in read_values(text):
        assert 0 <= value.start < value.end <= len(text)
