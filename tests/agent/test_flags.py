"""Values of flags: read strictly, refused in one sentence that names the way out."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.agent.flags import LIMITS, nearest, read_budget, read_setting, read_words
from quaere.tools.errors import UsageError

NUMBERS = {
    "steps": st.integers(0, 10**6),
    "tool_calls": st.integers(0, 10**6),
    "seconds": st.integers(0, 10**6),
}


@given(st.fixed_dictionaries({}, optional=NUMBERS).filter(bool))
def test_budget_reads_what_it_writes(limits: dict[str, int]) -> None:
    text = ",".join(f"{name}={value}" for name, value in limits.items())
    assert read_budget(text) == {f"budget.{name}": value for name, value in limits.items()}


@given(st.text())
def test_any_budget_is_read_or_refused_in_one_sentence(text: str) -> None:
    refusal, limits = "--budget: ", {}
    try:
        limits = read_budget(text)
    except UsageError as error:
        refusal = str(error)
    assert refusal.startswith("--budget: ")
    assert {name.removeprefix("budget.") for name in limits} <= set(LIMITS)


def test_budget_reads_parts_of_a_second() -> None:
    assert read_budget(" seconds = 2.5 , steps=8") == {"budget.seconds": 2.5, "budget.steps": 8}


@pytest.mark.parametrize(
    "text", ["steps=1e3", "steps=8.0", "seconds=inf", "seconds=", "steps=٣", "=8", "steps=8,"]
)
def test_budget_refuses_what_is_no_plain_number(text: str) -> None:
    with pytest.raises(UsageError):
        read_budget(text)


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ("search.k1=1.5", ("search.k1", 1.5)),
        ("search.depth = 20", ("search.depth", 20)),
        ('corpus.include=["*.md"]', ("corpus.include", ["*.md"])),
        (
            "encoder.model=sentence-transformers/all-MiniLM-L6-v2",
            ("encoder.model", "sentence-transformers/all-MiniLM-L6-v2"),
        ),
        ("encoder.model=/a=b", ("encoder.model", "/a=b")),
    ],
)
def test_setting_is_read_as_in_the_file_else_as_text(text: str, setting: tuple[str, object]) -> None:
    assert read_setting(text) == setting


@pytest.mark.parametrize("text", ["search.k1", "", "=3"])
def test_setting_without_key_or_value_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="KEY=VALUE"):
        read_setting(text)


def test_nearest_names_one_or_all_or_none() -> None:
    assert nearest("docz", ["docs", "wiki"]) == "; did you mean 'docs'?"
    assert nearest("zzz", ["docs", "wiki"]) == "; known are docs, wiki"
    assert nearest("zzz", []) == "; there are none yet"


def test_dash_among_words_stands_for_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("\ufeffERR-402\r\n".encode()), "utf-8"))
    assert read_words(["What", "means", "-"]) == "What means ERR-402"


def test_stdin_is_left_alone_without_a_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO("one\ntwo\n")
    monkeypatch.setattr("sys.stdin", stream)
    assert read_words(["why?"]) == "why?"
    assert stream.read() == "one\ntwo\n"


@given(st.lists(st.text().filter(lambda word: word != "-")))
def test_words_can_always_be_encoded(words: list[str]) -> None:
    assert read_words([*words, "\udcff"]).encode("utf-8").endswith(b"?")
