import pytest
from quaere.graphs.granted import granted_terms, names_time
from quaere.graphs.policy import Evidence, Need
from quaere.graphs.times import Period
from quaere.tools.evidence import Document, Locator, Passage, Reading, Sentence, Span, Validity

IN_2023 = Period("2023-01-01", "2023-12-31", "in 2023", "2024-06-01")
NOW = Period("2024-06-01", "2024-06-01", "now", "2024-06-01")
ASKED = Need("n1", "What was the hotel limit per night in 2023?", when=IN_2023)


def reading(*texts, validity=None, number=1):
    span = Span(number, 0, 9)
    return Reading(
        passage=Passage(number, span, 0, (), (0, len(texts)), span, number),
        document=Document(number, "docs", f"{number}.md", "Title"),
        text=" ".join(texts),
        sentences=tuple(Sentence(i, span, (), "prose") for i in range(len(texts))),
        texts=texts,
        governing=((),) * len(texts),
        locator=Locator(),
        validity=validity or Validity(),
    )


@pytest.mark.parametrize(
    ("text", "validity", "granted"),
    [
        ("The limit is 50 EUR.", Validity("2023-01-01"), True),
        ("The limit is 50 EUR.", Validity("2022-01-01", "2023-03-31"), True),
        ("The limit is 50 EUR.", Validity("2024-01-01"), False),
        ("The limit is 50 EUR.", Validity(None, "2022-12-31"), False),
        ("The limit is 50 EUR.", Validity(), False),
        ("In 2021 the limit was 40 EUR.", Validity("2020-01-01"), False),
    ],
)
def test_a_marked_version_need_not_name_the_time_it_holds_in(text, validity, granted):
    found = granted_terms(ASKED, Evidence(1, reading(text, validity=validity), 1.0))
    assert ("2023" in found[0]) is granted


def test_every_version_holds_now():
    need = Need("n1", "What is the limit now?", when=NOW)
    assert "now" in granted_terms(need, Evidence(1, reading("The limit is 50 EUR."), 1.0))[0]


OLD = reading("The hotel limit per night is 50 EUR.", number=2)
LIMIT = Need("n1", "What is the hotel limit per night?")


def inherited(*texts):
    return granted_terms(LIMIT, Evidence(1, reading(*texts), 1.0, replaces=(OLD,)))


def test_the_counterpart_of_an_older_sentence_inherits_its_words():
    found = inherited("Valid from 1 January 2024.", "Maximum per night: 80 EUR.", "Trains: 2 nd class.")
    assert [bool(terms) for _, terms in sorted(found.items())] == [False, True, False]
    assert {"hotel", "limit"} <= found[1]


@pytest.mark.parametrize(
    "texts",
    [
        ("Maximum per night: 80 km.",),
        ("Breakfast costs 12 EUR.",),
        ("Single per night: 80 EUR.", "Double per night: 120 EUR."),
    ],
)
def test_other_units_other_words_and_two_candidates_inherit_nothing(texts):
    assert not any(inherited(*texts).values())


def test_a_sentence_names_the_time_of_a_need_by_date_or_year():
    assert names_time(ASKED, "On 3 May 2023 it was 50 EUR.")
    assert names_time(ASKED, "Figures 2023: 50")
    assert not names_time(ASKED, "In 2022 it was 2023 EUR.")
    assert not names_time(LIMIT, "In 2023 it was 50 EUR.")
