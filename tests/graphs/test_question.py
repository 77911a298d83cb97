import pytest
from quaere.graphs.question import REQUIRED, answer_type, holds_type, read_question


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("What does a replacement badge cost?", "money"),
        ("how much do members pay", "money"),
        ("How long is the notice period?", "duration"),
        ("Within how many days is the report filed?", "duration"),
        ("When was the bridge opened?", "date"),
        ("Which PostgreSQL version removed it?", "version"),
        ("What is the telephone number of the shop?", "phone"),
        ("How many docks are there?", "number"),
        ("At which temperatures may it be charged?", "number"),
        ("Who chairs the board?", "person"),
        ("Why was it cancelled?", "reason"),
        ("Which pg_dump option runs the dump?", "name"),
        ("What is AutoGen, according to its abstract?", "definition"),
        ("Where is the station?", "place"),
        ("Is HTTP/2 on by default?", "yes_no"),
        ("How can an index be built?", "open"),
    ],
)
def test_the_type_of_answer_is_read_from_the_question(question, wanted):
    assert answer_type(question) == wanted
    assert answer_type(question.lower()) == wanted or wanted == "definition"


@pytest.mark.parametrize(
    ("wanted", "question", "sentence", "holds"),
    [
        ("money", "What does the K2 cost?", "The K2 costs 89 EUR.", True),
        ("number", "How many docks has permit 14?", "Permit 14 names docks.", False),
        ("number", "What is the highest temperature?", "It rose to 31 °C.", True),
        ("number", "What is the highest temperature?", "It took 31 days.", False),
        ("duration", "How long is it?", "It should always be done.", False),
        ("duration", "How long is it?", "It takes three months.", True),
        ("version", "Which version dropped it?", "See Section 28.4.2.", False),
        ("version", "Which version dropped it?", "It is gone since 9.6.1.", True),
        ("phone", "What is the phone number?", "Report within 24 hours.", False),
        ("person", "Who signed?", "the chair signed", False),
        ("person", "Who signed?", "Runa Aalberg signed.", True),
        ("reason", "Why?", "It was closed because of rain.", True),
    ],
)
def test_a_sentence_must_hold_something_new_of_the_type(wanted, question, sentence, holds):
    assert holds_type(wanted, sentence, question) is holds


def test_required_types_are_those_a_sentence_cannot_answer_without():
    assert {"money", "duration", "date", "number", "person"} <= REQUIRED
    assert not {"open", "yes_no", "definition", "name"} & REQUIRED


def test_identifiers_names_and_quotations_are_kept_as_written():
    shape = read_question('Does ERR-402 of the Halden pump say "too warm"?')
    assert shape.identifiers == ("ERR-402",)
    assert "Halden" in shape.names
    assert shape.quoted == ("too warm",)


def test_words_that_name_the_kind_of_answer_are_not_decisive():
    shape = read_question("Which pg_dump option runs the dump in parallel?")
    assert shape.focus
    assert not shape.focus & set(shape.decisive)


@pytest.mark.parametrize(
    ("question", "denies"),
    [
        ("Which committees do not reflect the parties?", True),
        ("What doesn't the insurance cover?", True),
        ("Is it not allowed?", False),
        ("How is it built without blocking?", False),
    ],
)
def test_a_question_for_what_is_not_so_is_known_as_one(question, denies):
    assert read_question(question).denies is denies


def test_the_measure_behind_how_need_not_stand_in_the_evidence() -> None:
    assert (
        read_question("How big is the bonus pool?").decisive
        == read_question("What is the bonus pool?").decisive
    )
    assert "high" in read_question("Which high shelf holds the spare parts?").decisive
