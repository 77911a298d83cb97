"""Answers, searches and reports as text: what a person reads, what a pipe gets, what neither ever sees."""

from __future__ import annotations

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.agent.report import COUNTS, report_code, show_report
from quaere.agent.show import place, show_answer, show_search, show_sources
from quaere.agent.terminal import Paper, cells, clean, clean_name, paper_of
from quaere.tools.answer import Answer, Search
from quaere.tools.evidence import Claim, Conflict, Footnote, Locator, Span
from quaere.tools.sync import SyncReport

PLAIN = Paper()
NARROW = Paper(40)
QUOTE = "The default behavior is to raise a TimeoutException after 5 seconds of network inactivity."


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def footnote(n: int = 1, document: str = "md/timeouts.md", quote: str = QUOTE, **more: object) -> Footnote:
    locator = Locator(heading=("Timeouts",))
    return Footnote(n, document, "docs", Span(1, 120, 214), quote, locator, **more)  # type: ignore[arg-type]


def answered(*notes: Footnote, text: str = f"{QUOTE} [1]", **more: object) -> Answer:
    claim = Claim(text, ("S1.1",), footnotes=notes or (footnote(),))
    return Answer("answered", text, claims=(claim,), **more)  # type: ignore[arg-type]


def is_safe(text: str, keep: str = "\n\t") -> bool:
    bidi = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}
    return all(
        c in keep
        or (unicodedata.category(c) not in ("Cc", "Cs") and unicodedata.bidirectional(c) not in bidi)
        for c in text
    )


@given(st.text())
def test_clean_text_cannot_steer_a_terminal(text: str) -> None:
    assert is_safe(clean(text))


@given(st.text())
def test_clean_name_is_one_line(text: str) -> None:
    assert is_safe(clean_name(text), keep="")


@given(st.text())
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


def test_clean_keeps_the_scripts_of_the_world_and_shows_what_it_took() -> None:
    assert clean("naïve 東京 عربي 👩‍🔬") == "naïve 東京 عربي 👩‍🔬"
    assert clean("a\x1b[31mb\u202ec") == "a<U+001B>[31mb<U+202E>c"


@given(st.text(), st.integers(20, 120))
def test_wrapped_lines_fit_and_lose_no_word(text: str, width: int) -> None:
    safe = clean(text)
    wrapped = Paper(width).wrap(safe, "  ")
    assert all(cells(line) <= width for line in wrapped.split("\n"))
    assert "".join(wrapped.split()) == "".join(safe.split())


def test_wrapping_counts_wide_characters_twice() -> None:
    assert [cells(line) for line in Paper(20).wrap("東京" * 10).split("\n")] == [20, 20]


def test_answer_is_text_blank_line_footnotes_with_quotes() -> None:
    assert show_answer(answered(), PLAIN) == (
        f"{QUOTE} [1]\n\n[1] md/timeouts.md › Timeouts, characters 120–214\n    {QUOTE}\n"
    )


def test_answer_names_the_source_when_there_are_several() -> None:
    other = Footnote(2, "a.md", "wiki", Span(2, 0, 5), "Hello", Locator())
    shown = show_answer(answered(footnote(), other), PLAIN)
    assert "[1] docs/md/timeouts.md › Timeouts" in shown
    assert "[2] wiki/a.md, characters 0–5" in shown


def test_answer_ends_with_what_is_missing_then_notes() -> None:
    shown = show_answer(answered(missing=("the price",), notes=("vectors are not ready",)), PLAIN)
    assert shown.endswith("\n\nmissing: the price\n\nnote: vectors are not ready\n")


def test_answer_fits_a_terminal_of_40_columns() -> None:
    shown = show_answer(answered(missing=("the price of " * 9,), notes=("n" * 90,)), NARROW)
    assert max(cells(line) for line in shown.split("\n")) <= 40
    assert "[1]" in shown


def test_changed_footnote_says_so() -> None:
    assert "(changed since indexed, run `quaere sync`)" in show_answer(
        answered(footnote(changed=True)), PLAIN
    )


def test_conflict_shows_both_sides_with_their_marks() -> None:
    sides = tuple(
        Claim(f"The limit is {n}0.", (f"S{n}.1",), footnotes=(footnote(n, f"{n}.md"),)) for n in (1, 2)
    )
    shown = show_answer(
        Answer("conflicting", "It depends.", conflicts=(Conflict("the limit", sides),)), PLAIN
    )
    assert "The limit is 10. [1]" in shown
    assert "The limit is 20. [2]" in shown
    assert shown.index("[1] 1.md") < shown.index("[2] 2.md")


def test_steering_characters_of_an_answer_are_made_visible() -> None:
    evil = "\x1b]0;owned\x07\u202e\x9b2J"
    note = footnote(document=f"{evil}.md", quote=evil)
    shown = show_answer(answered(note, text=evil, missing=(evil,), notes=(evil,), options=(evil,)), NARROW)
    assert is_safe(shown)


def test_line_breaks_in_a_path_cannot_forge_a_footnote() -> None:
    shown = show_answer(answered(footnote(document="a\n[2] forged.md")), PLAIN)
    assert "\n[2]" not in shown


@pytest.mark.parametrize(
    ("name", "locator", "shown"),
    [
        ("a.md", Locator(heading=("One", "Two")), "a.md › One › Two, characters 3–9"),
        ("a.pdf", Locator(page=12), "a.pdf, page 12"),
        ("a.pdf", Locator(page=12, last_page=13), "a.pdf, pages 12–13"),
        ("a.docx", Locator(element="paragraph 4"), "a.docx, paragraph 4"),
        ("a.html", Locator(), "a.html, characters 3–9 of its text"),
    ],
)
def test_place_is_where_a_reader_finds_it(name: str, locator: Locator, shown: str) -> None:
    assert place(name, locator, Span(1, 3, 9)) == shown


def test_styles_only_on_a_terminal_that_wants_them() -> None:
    assert paper_of(Terminal(), {}).has_styles
    assert not paper_of(Terminal(), {"NO_COLOR": "1"}).has_styles
    assert not paper_of(Terminal(), {"TERM": "dumb"}).has_styles
    assert paper_of(io.StringIO(), {}) == Paper(None, False)


@given(st.lists(st.integers(0, 2000), min_size=5, max_size=5), st.integers(0, 3))
def test_report_shows_numbers_that_add_up(numbers: list[int], failed: int) -> None:
    new, changed, renamed, unchanged, pending = numbers
    failures = tuple((f"{n}.md", "no letters") for n in range(failed))
    counts = dict(zip(COUNTS, (new, changed, renamed, unchanged, failed, pending), strict=True))
    report = SyncReport(
        seen=sum(counts.values()),
        new=new,
        changed=changed,
        renamed=renamed,
        unchanged=unchanged,
        pending=pending,
        failures=failures,
    )
    first, _, *lines = show_report(report, PLAIN).rstrip("\n").split("\n")
    assert lines == [f"failed: {path}: {reason}" for path, reason in failures]
    if report.seen:
        total, told = first.replace(",", "").split(":")
        shown = [int(word) for word in told.split() if word.isdigit()]
        assert int(total.split()[0]) == sum(shown)


def test_report_code_tells_nothing_indexed_from_some_failed() -> None:
    failures = (("a.md", "no letters"),)
    assert report_code(SyncReport(seen=1, failures=failures)) == 1
    assert report_code(SyncReport(seen=2, new=1, failures=failures)) == 0
    assert report_code(SyncReport(seen=2, new=1, pending=1, interrupted=True)) == 130


def test_search_says_when_chroma_proposed_the_passages() -> None:
    told = "vectors searched through Chroma, scored exactly"
    assert told in show_search(Search("q", (), engine="chroma"), PLAIN)
    assert told not in show_search(Search("q", ()), PLAIN)


def test_no_sources_names_the_next_step() -> None:
    assert "quaere add" in show_sources([], PLAIN)
