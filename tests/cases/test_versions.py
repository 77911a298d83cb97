"""PR-40 and its kind: marks of versions decide, the older version is named, equals are told as a conflict."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from quaere.agent.assemble import Agent
from quaere.agent.remembered import turn_of
from quaere.tools.answer import Answer
from quaere.tools.evidence import Filter

TRAVEL = {
    "travel_2023.md": "Status: superseded by travel_2024. The hotel limit, hotel limit per night, is 50 EUR.",
    "travel_2024.md": "Valid from 1 January 2024. Maximum per night: 80 EUR.",
}
LIMIT = "What is the hotel limit per night?"
OLD, NEW = "The hotel limit per night is 50 EUR.", "The hotel limit per night is 80 EUR."

Make = Callable[..., Agent]


@pytest.fixture
def marked(tmp_path: Path) -> Make:
    """Give a function that writes rules and files, indexes them and returns the agent over them."""

    def make(files: Mapping[str, str], rules: str = "") -> Agent:
        home, docs = tmp_path / "home", tmp_path / "docs"
        home.mkdir()
        (home / "quaere.toml").write_text(rules, "utf-8")
        for name, text in files.items():
            (docs / name).parent.mkdir(parents=True, exist_ok=True)
            (docs / name).write_text(text, "utf-8")
        agent = Agent.open(home)
        agent.add(docs)
        return agent

    return make


def cited(answer: Answer) -> list[str]:
    return [note.document for note in answer.footnotes]


def test_pr40_the_newer_version_answers_though_the_older_one_matches_better(marked: Make) -> None:
    with marked(TRAVEL) as agent:
        answer = agent.ask(LIMIT)
    assert answer.status == "answered"
    assert answer.text == (
        "Maximum per night: 80 EUR. [1]\n\nAn older version, travel_2023.md (superseded by travel_2024.md), "
        "says: “The hotel limit, hotel limit per night, is 50 EUR.” [2]"
    )
    assert cited(answer) == ["travel_2024.md", "travel_2023.md"]
    assert [claim.verdict for claim in answer.claims] == ["supported", "supported"]


def test_pr40_a_question_about_the_past_is_answered_by_the_version_of_then(marked: Make) -> None:
    with marked(TRAVEL) as agent:
        first = agent.ask(LIMIT)
        for answer in (
            agent.ask("What was it in 2023?", history=[turn_of(LIMIT, first)]),
            agent.ask("And in 2023?", history=[turn_of(LIMIT, first)]),
            agent.ask("What was the hotel limit per night in 2023?"),
        ):
            assert answer.status == "answered"
            assert answer.text == "The hotel limit, hotel limit per night, is 50 EUR. [1]"
            assert cited(answer) == ["travel_2023.md"]
            assert answer.notes == ()


def test_a_version_named_in_a_question_is_no_time(marked: Make) -> None:
    with marked({"a.md": OLD, "b.md": "# travel_2023\n\nThe badge limit is 7."}) as agent:
        answer = agent.ask("What is the badge limit in travel_2023?")
    assert answer.text == "The badge limit is 7. [1]"
    assert cited(answer) == ["b.md"]


SETTINGS = """
[[rules]]
path = "old.md"
valid_until = 2023-12-31
superseded_by = "new.md"

[[rules]]
path = "new.md"
valid_from = 2024-01-01
"""


def test_marks_in_settings_decide_like_those_in_a_text(marked: Make) -> None:
    with marked({"old.md": OLD, "new.md": NEW}, SETTINGS) as agent:
        now = agent.ask(LIMIT)
        then = agent.ask("What was the hotel limit per night in May 2023?")
    assert now.text.startswith(f"{NEW} [1]\n\nAn older version, old.md (superseded by new.md), says")
    assert (then.text, cited(then)) == (f"{OLD} [1]", ["old.md"])


FRONT = {
    "old.md": f"---\nsuperseded_by: new.md\n---\n{OLD}",
    "new.md": f"---\nvalid_from: 2024-01-01\n---\n{NEW}",
}


def test_front_matter_decides_where_the_settings_trust_it(marked: Make) -> None:
    with marked(FRONT, '[[rules]]\nfront_matter = true\npath = "*.md"\n') as agent:
        answer = agent.ask(LIMIT)
    assert answer.status == "answered"
    assert answer.text.startswith(NEW)
    assert "An older version, old.md (superseded by new.md)" in answer.text


def test_front_matter_that_is_not_trusted_decides_nothing(marked: Make) -> None:
    with marked(FRONT) as agent:
        answer = agent.ask(LIMIT)
    assert answer.status == "conflicting"
    assert sorted(cited(answer)) == ["new.md", "old.md"]


def test_equals_are_told_as_a_conflict_with_both_sides_cited(marked: Make) -> None:
    with marked({"handbook.md": OLD, "faq.md": "The hotel limit per night is EUR 80."}) as agent:
        answer = agent.ask(LIMIT)
    assert answer.status == "conflicting"
    assert answer.text.startswith("The sources disagree:\n\n- ")
    assert answer.reason == "the sources disagree, and none of them is marked as the newer one"
    (conflict,) = answer.conflicts
    assert conflict.about == LIMIT
    assert {side.footnotes[0].document: side.text for side in conflict.sides} == {
        "handbook.md": OLD,
        "faq.md": "The hotel limit per night is EUR 80.",
    }
    assert sorted(cited(answer)) == ["faq.md", "handbook.md"]


def test_one_document_at_odds_with_itself_is_a_conflict(marked: Make) -> None:
    text = "# Club\n\nThe membership fee is 12 EUR.\n\nMembers get a key.\n\nThe membership fee is 15 EUR.\n"
    with marked({"club.md": text}) as agent:
        answer = agent.ask("What is the membership fee?")
    assert answer.status == "conflicting"
    assert [note.quote for note in answer.footnotes] == [
        "The membership fee is 12 EUR.",
        "The membership fee is 15 EUR.",
    ]


def test_a_denial_of_the_same_words_is_a_conflict(marked: Make) -> None:
    files = {"a.md": "Dogs are allowed in the office.", "b.md": "Dogs are not allowed in the office."}
    with marked(files) as agent:
        answer = agent.ask("Are dogs allowed in the office?")
    assert answer.status == "conflicting"
    assert sorted(cited(answer)) == ["a.md", "b.md"]


@pytest.mark.parametrize(
    ("one", "other", "question"),
    [
        ("The hotel limit per night is 80 EUR.", "Hotel limit per night: EUR 80.00", LIMIT),
        (
            "Reports are due within 24 hours.",
            "Reports are due within 1 day.",
            "Within how long are reports due?",
        ),
        (
            "The hotel limit is 120 EUR for islands.",
            "The hotel limit is 90 EUR for the mainland.",
            "What is the hotel limit?",
        ),
        ("Permit S-101 allows 44 docks.", "Permit S-102 allows 47 docks.", "How many docks are allowed?"),
        ("The fee was 12 EUR.", "The fee is 15 EUR.", "What is the fee?"),
        ("In 2020 the fee was 12 EUR.", "In 2021 the fee was 15 EUR.", "What was the fee?"),
        ("Guests pay 12 EUR a day.", "Guests pay 60 EUR a week.", "How much do guests pay?"),
        ("## Members\n\nThe fee is 12 EUR.", "## Guests\n\nThe fee is 15 EUR.", "What is the fee?"),
    ],
)
def test_what_agrees_or_is_about_something_else_is_no_conflict(
    marked: Make, one: str, other: str, question: str
) -> None:
    with marked({"a.md": one, "b.md": other}) as agent:
        answer = agent.ask(question)
    assert answer.status == "answered"
    assert answer.conflicts == ()


THREE = {
    f"limits_{year}.md": f"The hotel limit per night is {eur} EUR."
    for year, eur in ((2022, 40), (2023, 50), (2024, 80))
}


def test_of_three_versions_the_newest_answers_and_the_others_are_named(marked: Make) -> None:
    with marked(THREE) as agent:
        answer = agent.ask(LIMIT)
        assert answer.status == "answered"
        assert cited(answer) == ["limits_2024.md", "limits_2023.md", "limits_2022.md"]
        assert answer.text.startswith(
            "The hotel limit per night is 80 EUR. [1]\n\nAn older version, limits_2023.md"
        )
        for year, eur in ((2022, 40), (2023, 50)):
            then = agent.ask(f"What was the hotel limit per night in {year}?")
            assert (then.text, cited(then)) == (
                f"The hotel limit per night is {eur} EUR. [1]",
                [f"limits_{year}.md"],
            )


def test_each_part_of_a_question_has_its_own_time(marked: Make) -> None:
    question = "What was the hotel limit per night in 2023 and what is the hotel limit per night now?"
    with marked(THREE) as agent:
        both = agent.ask(question)
        years = agent.ask("What was the hotel limit per night in 2022 and 2024?")
    assert both.status == years.status == "answered"
    assert cited(both)[:2] == ["limits_2023.md", "limits_2024.md"]
    assert cited(years) == ["limits_2022.md", "limits_2024.md"]


def test_of_two_versions_with_the_same_text_the_newer_is_cited(marked: Make) -> None:
    with marked({"limits_2023.md": NEW, "limits_2024.md": NEW}) as agent:
        answer = agent.ask(LIMIT)
    assert (answer.text, cited(answer)) == (f"{NEW} [1]", ["limits_2024.md"])


def test_a_newer_version_that_does_not_answer_is_named_beside_the_older_one(marked: Make) -> None:
    newer = "Valid from 1 January 2024. Trains are booked in second class."
    with marked({**TRAVEL, "travel_2024.md": newer}) as agent:
        answer = agent.ask(LIMIT)
    assert cited(answer) == ["travel_2023.md"]
    assert answer.notes == ("travel_2023.md is marked as superseded by travel_2024.md",)


def test_a_higher_version_in_the_name_is_the_newer_one(marked: Make) -> None:
    with marked({"limits_v9.md": OLD, "limits_v10.md": NEW}) as agent:
        answer = agent.ask(LIMIT)
    assert answer.status == "answered"
    assert cited(answer) == ["limits_v10.md", "limits_v9.md"]
    assert f"An older version, limits_v9.md, says: “{OLD}” [2]" in answer.text


def test_a_filter_by_day_hides_what_does_not_hold_then(marked: Make) -> None:
    with marked({**TRAVEL, "travel_2024.md": f"Valid from 1 January 2024. {NEW}"}) as agent:
        then = agent.ask(LIMIT, filter=Filter(valid_at=date(2023, 6, 1)))
        later = agent.ask(LIMIT, filter=Filter(valid_at=date(2024, 6, 1)))
        year_before = agent.ask(
            "What was the hotel limit per night last year?", filter=Filter(valid_at=date(2024, 6, 1))
        )
    assert (cited(then), cited(later)) == (["travel_2023.md"], ["travel_2024.md"])
    assert "50 EUR" in then.text
    assert "80" not in then.text
    assert later.text == f"{NEW} [1]"
    assert "travel_2023.md" not in cited(year_before)


def test_a_version_that_does_not_hold_yet_is_named_as_such(marked: Make) -> None:
    with marked({"limits.md": OLD, "limits_2098.md": f"Valid from 1 January 2098. {NEW}"}) as agent:
        answer = agent.ask(LIMIT)
        future = agent.ask("What is the hotel limit per night in 2098?")
    assert answer.text.startswith(
        f"{OLD} [1]\n\nA version that does not hold yet, limits_2098.md (valid from 2098-01-01), says"
    )
    assert cited(answer) == ["limits.md", "limits_2098.md"]
    assert cited(future) == ["limits_2098.md"]


def test_an_old_version_alone_answers_with_its_mark(marked: Make) -> None:
    with marked({"travel_2023.md": TRAVEL["travel_2023.md"]}) as agent:
        answer = agent.ask(LIMIT)
    assert answer.status == "answered"
    assert cited(answer) == ["travel_2023.md"]
    assert answer.notes == ("travel_2023.md is marked as superseded",)


def test_an_expired_version_alone_answers_with_its_mark(marked: Make) -> None:
    with marked({"limits.md": f"Valid until 31 December 2023.\n\n{OLD}"}) as agent:
        assert agent.ask(LIMIT).notes == ("limits.md is marked as valid until 2023-12-31",)
        assert agent.ask("What was the hotel limit per night in 2023?").notes == ()


def test_deleting_the_older_version_leaves_the_newer_one(marked: Make, tmp_path: Path) -> None:
    with marked({"limits_2023.md": OLD, "limits_2024.md": NEW}) as agent:
        assert cited(agent.ask(LIMIT)) == ["limits_2024.md", "limits_2023.md"]
        (tmp_path / "docs" / "limits_2023.md").unlink()
        agent.sync()
        answer = agent.ask(LIMIT)
    assert answer.status == "answered"
    assert answer.text == f"{NEW} [1]"
    assert cited(answer) == ["limits_2024.md"]


def test_rows_of_two_versions_of_a_table_are_compared_by_key_and_column(marked: Make) -> None:
    table = "# Tariffs\n\n| bike | first hour | deposit |\n|---|---|---|\n| cargo bike | 3.00 EUR | {} EUR |\n| city bike | {} EUR | 20 EUR |\n"
    files = {"tariffs_2023.md": table.format(60, "1.00"), "tariffs_2024.md": table.format(80, "2.00")}
    with marked(files) as agent:
        changed = agent.ask("What is the deposit for a cargo bike?")
        same = agent.ask("What is the deposit for a city bike?")
    assert changed.text.startswith("bike: cargo bike; first hour: 3.00 EUR; deposit: 80 EUR [1]")
    assert cited(changed) == ["tariffs_2024.md", "tariffs_2023.md"]
    assert "city bike" not in changed.text
    assert same.text == "bike: city bike; first hour: 2.00 EUR; deposit: 20 EUR [1]"


def test_a_newer_version_is_looked_into_where_the_words_of_the_question_do_not_lead(marked: Make) -> None:
    streets = [a + b for a in ("Elm", "Oak", "Ash", "Fir", "Yew") for b in ("bury", "ton", "field")]
    others = {f"{name}.md": f"The hotel in {name} has a limit on luggage per night." for name in streets}
    newer = "Valid from 1 January 2024. " + "Trains are booked in second class by everyone. " * 60
    files = {**TRAVEL, **others, "travel_2024.md": f"{newer}\n\n## Rooms\n\nMaximum per night: 80 EUR."}
    with marked(files) as agent:
        answer = agent.ask(LIMIT)
    assert answer.text.startswith("Maximum per night: 80 EUR. [1]")
    assert cited(answer) == ["travel_2024.md", "travel_2023.md"]


def test_a_conflict_leaves_the_program_as_the_schema_says(marked: Make) -> None:
    schema = json.loads((Path(__file__).parents[2] / "docs" / "answer.schema.json").read_text("utf-8"))
    with marked({"handbook.md": OLD, "faq.md": NEW}) as agent:
        answer = agent.ask(LIMIT).to_json()
    assert list(Draft202012Validator(schema).iter_errors(answer)) == []
    assert answer["status"] == "conflicting"
    assert [len(conflict["sides"]) for conflict in answer["conflicts"]] == [2]


HIDDEN = """
[[rules]]
path = "limits.md"
labels = {class = "open"}
superseded_by = "board_2098_plan.md"

[[rules]]
path = "board_2098_plan.md"
labels = {class = "secret"}

[people.guest]
allowed = {class = ["open"]}
"""


def test_a_successor_that_may_not_be_read_shows_neither_in_marks_nor_in_days(
    marked: Make, tmp_path: Path
) -> None:
    with marked({"limits.md": OLD, "board_2098_plan.md": NEW}, HIDDEN):
        pass
    with Agent.open(tmp_path / "home", access="guest") as guest:
        answer = guest.ask(LIMIT)
        assert cited(answer) == ["limits.md"]
        assert answer.notes == ("limits.md is marked as superseded",)
        assert not {"2098", "board", "plan"} & set(re.findall(r"\w+?(?=_|\b)", json.dumps(answer.to_json())))
    with Agent.open(tmp_path / "home") as owner:
        assert cited(owner.ask(LIMIT)) == ["limits.md", "board_2098_plan.md"]
