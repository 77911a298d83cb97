from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.tools.dates import find_dates, read_date

MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def forms(day: date) -> list[str]:
    month = MONTHS[day.month - 1]
    return [
        day.isoformat(),
        f"{day.day} {month} {day.year}",
        f"{day.day} {month[:3]} {day.year}",
        f"{day.day}th of {month} {day.year}",
        f"{month} {day.day}, {day.year}",
        f"{month.lower()[:3]}. {day.day} {day.year}",
        f"{day.day:02}.{day.month:02}.{day.year}",
        f"{day.day}. {day.month}. {day.year}",
    ]


@given(st.dates(date(1000, 1, 1), date(2199, 12, 31)), st.integers(0, 7))
def test_every_form_of_a_day_is_read_as_that_day(day, form):
    written = forms(day)[form]
    days = read_date(written)
    assert days is not None
    assert (days.first, days.last) == (day, day)
    assert [found.days for found in find_dates(f"It begins on {written}; see there.")] == [days]


@given(st.dates(date(1000, 1, 1), date(2199, 12, 31)))
def test_two_numbers_before_a_slash_are_a_day_only_when_they_cannot_be_taken_otherwise(day):
    written = f"{day.day:02}/{day.month:02}/{day.year}"
    swapped = f"{day.month:02}/{day.day:02}/{day.year}"
    if day.day > 12 or day.day == day.month:
        assert read_date(written) == read_date(swapped)
        assert read_date(written).first == day
    else:
        assert read_date(written) is read_date(swapped) is None


@given(st.text("0123456789-./ MayJune,", max_size=14))
def test_whatever_looks_like_a_date_is_one_or_none(text):
    days = read_date(text)
    assert days is None or days.first <= days.last
    for found in find_dates(text):
        assert read_date(text[found.start : found.end]) == found.days


@pytest.mark.parametrize(
    "written",
    ["31 February 2024", "2023-02-29", "2024-13-01", "2024-05-00", "00.05.2024", "31.04.2024", "noon", ""],
)
def test_a_day_that_cannot_be_is_none(written):
    assert read_date(written) is None


def test_months_and_years_have_a_first_and_a_last_day():
    assert read_date("February 2024").last == date(2024, 2, 29)
    assert read_date("2024-02").first == date(2024, 2, 1)
    assert (read_date("2023").first, read_date("2023").last) == (date(2023, 1, 1), date(2023, 12, 31))


@pytest.mark.parametrize(
    "text",
    [
        "file travel-2024-01-05b",
        "1.2.2024.7",
        "ISO 2024-1",
        "about 2024 pages",
        "12024-01-01",
        "2024-01-01/7",
    ],
)
def test_digits_inside_something_longer_are_no_date(text):
    assert find_dates(text) == []
