from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.graphs.times import find_time, period_of, without_time

TODAY = "2026-12-01"


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("What was it in 2023?", "2023-01-01", "2023-12-31"),
        ("As of May 2022, what is the fee?", "2022-05-01", "2022-05-31"),
        ("What was the fee on 3 May 2023?", "2023-05-03", "2023-05-03"),
        ("What was the fee before 2024?", "2023-12-31", "2023-12-31"),
        ("What was the fee at the end of 2023 for guests?", "2023-12-31", "2023-12-31"),
        ("What was the fee last year?", "2025-01-01", "2025-12-31"),
        ("What was the fee last month?", "2026-11-01", "2026-11-30"),
        ("What will the fee be next month?", "2027-01-01", "2027-01-31"),
        ("What was the fee yesterday?", "2026-11-30", "2026-11-30"),
        ("What does the 2023 travel policy allow?", "2023-01-01", "2023-12-31"),
        ("What was 2023's limit?", "2023-01-01", "2023-12-31"),
        ("What is the fee for 2027?", "2027-01-01", "2027-12-31"),
    ],
)
def test_a_time_that_a_question_names_is_the_time_it_is_about(question, first, last):
    period = period_of(question, TODAY)
    assert (period.first, period.last) == (first, last)
    assert period.said
    assert period.is_past == (last < TODAY)


@pytest.mark.parametrize(
    "question",
    [
        "What is the fee?",
        "What stands in travel_2023?",
        "Does ISO 2023 apply?",
        "How is it done in 2000 words?",
        "What was it in 2022 and in 2023?",
        "What happened on 31 February 2023?",
        "Which Office 2019 licences are there?",
        "What happened in the last year of the war?",
        "Who has room 2023?",
        "What happened in May?",
    ],
)
def test_a_number_in_a_name_and_several_times_set_none(question):
    period = period_of(question, TODAY)
    assert (period.first, period.last, period.said) == (TODAY, TODAY, "")


@given(st.dates(date(1000, 1, 1), date(2999, 12, 31)), st.dates(date(1990, 1, 1), date(2100, 1, 1)))
def test_a_day_is_found_whatever_the_day_of_the_question(day, today):
    question = f"What was the fee on {day.isoformat()}?"
    period = period_of(question, today.isoformat())
    assert period.first == period.last == day.isoformat()
    assert without_time(question) == "What was the fee?"
    assert find_time(question).text == f"on {day.isoformat()}"


@given(st.text("in the 2023 last year before of May on3.", max_size=40))
def test_any_question_is_about_some_time(text):
    period = period_of(text, TODAY)
    assert date.fromisoformat(period.first) <= date.fromisoformat(period.last)
