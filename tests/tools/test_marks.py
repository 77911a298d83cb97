from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.tools.evidence import ALWAYS_VALID, Validity
from quaere.tools.marks import HEAD, OPENING, UNNAMED, date_of_name, read_marks
from quaere.tools.rulebook import NOTHING_GIVEN, Given

TRUSTED = Given(front_matter=True)
FRONT = "---\nvalid_from: 2024-01-01\nexpires: 2024-12-31 # a year\nSuperseded-By: 'z.md'\n---\nText."


def marks(text: str, path: str = "rules.md", given: Given = NOTHING_GIVEN) -> Validity:
    return read_marks(text, path, given)


@pytest.mark.parametrize(
    ("text", "validity"),
    [
        ("Valid from 1 January 2024. Maximum per night: 80 EUR.", Validity("2024-01-01")),
        ("Effective 2024-01-01\n\nText", Validity("2024-01-01")),
        ("Effective date: January 5, 2024", Validity("2024-01-05")),
        ("# Rules (valid from 1 March 2024)\n\nText", Validity("2024-03-01")),
        ("Rules – effective March 2024", Validity("2024-03-01")),
        ("Version 3, valid from 2024", Validity("2024-01-01")),
        (
            "# Rules\n\n**Valid from:** 1 January 2024\n**Valid until:** 31.12.2024",
            Validity("2024-01-01", "2024-12-31"),
        ),
        ("In force from 1 January 2024 to 30 June 2024.", Validity("2024-01-01", "2024-06-30")),
        ("Valid: 2024-01-01 – 2024-12-31", Validity("2024-01-01", "2024-12-31")),
        ("This policy expires on 3rd of May 2025.", Validity(None, "2025-05-03")),
        ("This travel policy is valid until December 2024.", Validity(None, "2024-12-31")),
        ("Status: superseded by travel_2024. The limit is 50 EUR.", Validity(superseded_by="travel_2024")),
        ("> Replaced by [the new rules](sub/y.md)", Validity(superseded_by="sub/y.md")),
        ("Superseded by `b.md` on 1 January 2024.", Validity(None, "2023-12-31", "b.md")),
        (
            "This document was superseded on 2024-02-01 by rules_v3.md.",
            Validity(None, "2024-01-31", "rules_v3.md"),
        ),
        ("Status: obsolete", Validity(superseded_by=UNNAMED)),
        (
            "| Status | superseded by b.md |\n|---|---|\n| Valid from | 2020-01-01 |",
            Validity("2020-01-01", None, "b.md"),
        ),
        (":Status: superseded by b.md", Validity(superseded_by="b.md")),
        ("Valid from 31 February 2024. Valid until 25/12/2024.", Validity(None, "2024-12-25")),
    ],
)
def test_a_text_marks_itself(text, validity):
    assert marks(text) == validity


@pytest.mark.parametrize(
    "text",
    [
        "The fee was valid from noon.",
        "The ticket is valid from 1 May 2024.",
        "This ticket is valid until 1 May 2024.",
        "Members say it was effective 2024-01-01.",
        "Valid from 1 January 2024, members pay 48 EUR.",
        "Valid from 01/02/2024.",
        "This version supersedes travel_2023.",
        "The old pump was replaced by a new one on 3 May 2024.",
        "Text. " * 200 + "\nSuperseded by b.\n",
        "x" * HEAD + "\nStatus: superseded by b.md\n",
    ],
)
def test_prose_and_marks_of_other_things_are_no_marks(text):
    assert marks(text) == ALWAYS_VALID


def test_behind_the_opening_only_a_status_line_counts():
    assert marks("x " * OPENING + "\nStatus: superseded by b.md\n") == Validity(superseded_by="b.md")


@pytest.mark.parametrize("path", ["a.py", "a.yaml", "a.json", "a.csv", "a.log"])
def test_code_and_data_are_marked_by_name_and_settings_only(path):
    text = "# Valid from 2024-01-01\nexpires: 2024-12-31\n"
    assert marks(text, path) == ALWAYS_VALID
    assert marks(text, f"x_2023_{path}").valid_from == "2023-01-01"
    settings = Given(validity=Validity("2020-01-01"))
    assert marks(text, path, settings) == settings.validity


def test_front_matter_counts_only_where_the_settings_allow_it():
    assert marks(FRONT, given=TRUSTED) == Validity("2024-01-01", "2024-12-31", "z.md")
    assert marks(FRONT) == ALWAYS_VALID
    obsolete = "---\nstatus: superseded by b.md\n---\nText."
    assert marks(obsolete) == ALWAYS_VALID
    assert marks(obsolete, given=TRUSTED).superseded_by == "b.md"


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("travel_2024.md", "2024-01-01"),
        ("minutes/2024-05-03-minutes.md", "2024-05-03"),
        ("policy_v2_2024-01.pdf", "2024-01-01"),
        ("scan 20240503.txt", "2024-05-03"),
        ("2019/travel.md", None),
        ("plan_2023-24.md", None),
        ("plan_2023_2024.md", None),
        ("ISO-2023.md", None),
        ("page-12024.md", None),
        ("postgresql-15.html", None),
    ],
)
def test_one_date_in_a_name_says_from_when(path, day):
    assert date_of_name(path) == day
    assert marks("Text.", path).valid_from == day


def test_stronger_marks_win_and_weaker_ones_fill_the_rest():
    text = "---\nvalid_from: 2022-02-02\n---\nValid from 3 March 2023 to 31 December 2023."
    settings = Given(front_matter=True, validity=Validity(superseded_by="new.md"))
    assert marks(text, "rules_2021.md", settings) == Validity("2022-02-02", "2023-12-31", "new.md")
    assert marks(text, "rules_2021.md") == Validity("2023-03-03", "2023-12-31")
    assert marks("Text.", "rules_2021.md", Given(validity=Validity("2020-01-01"))) == Validity("2020-01-01")


def test_a_weaker_mark_that_would_end_a_version_before_it_begins_is_left_out():
    assert marks("Valid until 30 June 2020.", "rules_2024.md") == Validity(None, "2020-06-30")


days = st.none() | st.dates(date(1990, 1, 1), date(2100, 1, 1)).map(date.isoformat)


@given(
    st.lists(
        st.sampled_from(
            ["valid from", "Status:", "superseded by", "2024-01-01", "until", "b.md", ".", "\n", "---\n"]
        )
    ),
    st.builds(Given, front_matter=st.booleans(), validity=st.builds(Validity, days, days)),
)
def test_what_settings_give_is_kept_whatever_a_text_says(words, settings):
    validity = marks(" ".join(words), given=settings)
    given_ = settings.validity
    assert given_.valid_from in (None, validity.valid_from)
    assert given_.valid_until in (None, validity.valid_until)
    if not (given_.valid_from and given_.valid_until):
        assert (
            validity.valid_from is None
            or validity.valid_until is None
            or validity.valid_from <= validity.valid_until
        )


@given(st.text(max_size=400), st.booleans())
def test_any_text_is_read_without_an_error(text, front):
    validity = marks(f"---\n{text}\n---\n{text}", given=Given(front_matter=front))
    for day in (validity.valid_from, validity.valid_until):
        assert day is None or date.fromisoformat(day)
