"""What becomes a term, where it stands, and what of a question is an identifier or carries meaning."""

from __future__ import annotations

import threading

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from quaere.tools.analyze import LONGEST_TERM, content_words, identifiers, stem, terms, tokens
from quaere.tools.letters import fold, spell

texts = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from("abcXYZ019 -_./:'’,§()$%#+@\u0301\u3099\u00ad\u200b\u00a0²½ﬁé東京ガ한가ß–"),
    ),
    max_size=60,
)


@pytest.mark.parametrize(
    ("text", "whole", "parts"),
    [
        ("ERR-4042", "err4042", ["err", "4042"]),
        ("get_user_by_id", "getuserbyid", ["get", "user", "by", "id"]),
        ("parseHTMLResponse", "parsehtmlrespons", ["pars", "html", "respons"]),
        ("S-102", "s102", ["s", "102"]),
        ("HTTP/2", "http/2", ["http", "2"]),
        ("archive_command", "archivecommand", ["archiv", "command"]),
        ("foo.bar.baz", "foo.bar.baz", ["foo", "bar", "baz"]),
        ("ASP.NET", "asp.net", ["asp", "net"]),
        ("v2.1.0", "v2.1.0", ["v", "2.1.0"]),
        ("10.0.0.1:8080", "10.0.0.1:8080", ["10.0.0.1", "8080"]),
        ("jane@example.com", "jane@example.com", ["jane", "exampl", "com"]),
        ("std::vector", "std::vector", ["std", "vector"]),
        ("2026-11-30", "2026-11-30", ["2026", "11", "30"]),
        ("30.11.2026", "30.11.2026", ["30", "11", "2026"]),
        ("§ 12(3)", "§12(3)", ["§12", "12"]),
        ("--dry-run", "--dryrun", ["dryrun", "dri", "run"]),
        ("--jobs", "--jobs", ["job"]),
        ("-j", "-j", ["j"]),
        ("%p", "%p", ["p"]),
        ("/opt/app", "/opt/app", ["opt/app", "opt", "app"]),
        (".NET", ".net", ["net"]),
        ("@property", "@property", ["properti"]),
        ("o'clock", "oclock", ["o", "clock"]),
        ("3rd", "3rd", ["3"]),
        ("12EUR", "12eur", ["12", "eur"]),
    ],
)
def test_an_identifier_is_found_whole_and_in_parts(text: str, whole: str, parts: list[str]) -> None:
    assert terms(text) == [whole, *parts]
    first = tokens(text)[0]
    assert (first.start, first.end) == (0, len(text))


@pytest.mark.parametrize("text", ["C++", "C#", "F#", "10.0.0.1", "3.14", "JSON"])
def test_what_cannot_be_divided_is_one_term(text: str) -> None:
    assert terms(text) == [text.lower()]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("IL-6", "IL6"),
        ("e-mail", "email"),
        ("get_user_by_id", "getUserById"),
        ("JavaScript", "javascript"),
        ("YouTube", "youtube"),
        ("1,000", "1000"),
        ("1\u202f000", "1000"),
        ("12,345,678", "12345678"),
        ("ERR\u20114042", "ERR-4042"),
        ("Michaelis–Menten", "michaelis-menten"),
        ("U.S.A.", "USA"),
        ("café", "CAFE"),
        ("cafe\u0301", "café"),
        ("Straße", "STRASSE"),
        ("Łódź", "lodz"),
        ("ﬁle", "file"),
        ("ｆｕｌｌ", "full"),
        ("in\u00adfor\u200bmation", "information"),
        ("Dogs’", "dog"),
        ("James’s", "James"),
        ("don’t", "don't"),
        ("カ\u3099", "ガ"),
        ("\u1112\u1161\u11ab\u1100\u116e\u11a8", "한국"),
        ("ｶﾀｶﾅ", "カタカナ"),
        ("§12 (3)", "§ 12(3)"),
        ("running", "runs"),
    ],
)
def test_spellings_of_one_thing_have_the_same_first_term(one: str, other: str) -> None:
    assert terms(one)[0] == terms(other)[0]


@pytest.mark.parametrize(
    ("one", "other"), [("C", "C++"), ("C#", "C++"), ("--job", "--jobs"), ("10-20", "1020"), ("10⁵", "105")]
)
def test_different_things_share_no_first_term(one: str, other: str) -> None:
    assert terms(one)[0] != terms(other)[0]


def test_chinese_japanese_and_korean_are_cut_into_bigrams() -> None:
    assert terms("東京都の人口") == ["東京", "京都", "都の", "の人", "人口"]
    assert terms("カタカナ") == ["カタ", "タカ", "カナ"]
    assert terms("한국어 문서") == ["한국", "국어", "문서"]
    assert terms("漢") == ["漢"]
    assert terms("iPhone用") == ["iphon", "i", "phone", "用"]


def test_scripts_with_vowel_signs_keep_their_words_whole() -> None:
    assert len(terms("हिन्दी")) == len(terms("ไทย")) == len(terms("العَرَبِيَّة")) == 1


def test_a_list_of_numbers_is_not_one_number() -> None:
    assert terms("1,2,3") == ["1", "2", "3"]
    assert terms("$12.50") == ["12.50"]


def test_a_section_ends_before_the_full_stop() -> None:
    assert terms("See § 12.") == ["see", "§12", "12"]
    assert terms("§§ 12-14") == ["§§12-14", "§12", "12", "§14", "14"]


def test_a_term_is_never_longer_than_the_limit() -> None:
    assert terms("a" * 500) == ["a" * LONGEST_TERM]
    assert max(map(len, terms("foo_" * 100 + "bar"))) <= LONGEST_TERM


def test_spans_point_into_the_text_as_it_was_given() -> None:
    text = "Die \ufb01xe Stra\u00dfe: cafe\u0301 kostet 1\u202f000 \u20ac, ERR\u20114042"
    assert [text[token.start : token.end] for token in tokens(text)] == [
        "Die", "\ufb01xe", "Stra\u00dfe", "cafe\u0301", "kostet", "1\u202f000", "ERR\u20114042", "ERR", "4042",
    ]  # fmt: skip


@given(texts)
@example("x²½½")
@example("a\u00ad\u00adb\u00ad")
@example("\u0301a\u0301")
def test_every_term_comes_from_its_span(text: str) -> None:
    for token in tokens(text):
        assert 0 <= token.start < token.end <= len(text)
        assert token.term in terms(text[token.start : token.end]) or stem(
            fold(spell(text[token.start : token.end]).text)
        ).startswith(token.term)
    assert [token.term for token in tokens(text)] == terms(text)


@given(texts)
def test_tokens_are_in_order_and_have_no_blank_term(text: str) -> None:
    found = tokens(text)
    assert all(token.term and not token.term.isspace() for token in found)
    starts = [token.start for token in found]
    assert starts == sorted(starts)


@given(texts)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(texts)
def test_case_does_not_matter_for_words(text: str) -> None:
    words = " ".join(part.lower() for part in text.split() if part.isalpha() and part.isascii())
    assert terms(words) == terms(words.upper()) == terms(words.title())


@given(texts)
def test_a_spelt_text_maps_back_to_every_place(text: str) -> None:
    spelt = spell(text)
    starts = [spelt.start(at) for at in range(len(spelt.text) + 1)]
    assert starts == sorted(starts)
    assert all(0 <= at <= len(text) for at in starts)
    for at in range(len(spelt.text)):
        assert spelt.start(at) < spelt.end(at + 1)


def test_identifiers_are_returned_as_written_and_once() -> None:
    text = (
        "Does ERR-4042 of get_user_by_id, parseHTMLResponse, C++, § 12(3), --jobs, -j, %p, /opt, v2.1, 10.0.0.1, "
        "std::vector, jane@example.com, src/main.py, __init__, S\u2011102, B12, .NET or ERR-4042 matter?"
    )
    assert identifiers(text) == [
        "ERR-4042", "get_user_by_id", "parseHTMLResponse", "C++", "§ 12(3)", "--jobs", "-j", "%p", "/opt", "v2.1",
        "10.0.0.1", "std::vector", "jane@example.com", "src/main.py", "__init__", "S\u2011102", "B12", ".NET",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["the well-known e-mail", "12 EUR or 5 GB, 12EUR", "$12.50 and 5%", "30.11.2026", "2026-11-30", "1,000",
     "24/7", "3.14", "don't", "and/or", "R&D", "3rd", "U.S.", "a -5 degree day", "one--two", "wait...what"],
)  # fmt: skip
def test_words_numbers_dates_and_measures_are_no_identifiers(text: str) -> None:
    assert identifiers(text) == []


def words_of(question: str) -> list[str]:
    return [token.term for token in content_words(question)]


def test_a_question_keeps_the_words_that_carry_meaning() -> None:
    assert words_of("What is the discharge limit in permit S-102?") == ["discharg", "limit", "permit", "s102"]
    assert words_of("How do I call get_user_by_id(uid)?") == ["call", "getuserbyid", "uid"]
    assert words_of("What is the state-of-the-art e-mail?") == ["state", "art", "email"]


def test_a_stop_word_that_names_something_is_kept() -> None:
    assert words_of("What did the WHO report on 3 May?") == ["who", "report", "3", "may"]
    assert words_of("May I do it?") == words_of("WHO IS IT?") == []
    assert words_of("What does get() do?") == ["get"]


def test_stemming_in_many_threads_gives_what_one_gives() -> None:
    words = [f"{word}{ending}" for word in map("word{}x".format, range(50)) for ending in ("ing", "ed", "s")]
    expected = list(map(stem.__wrapped__, words))
    found: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: found.append([stem.__wrapped__(word) for word in words]))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


@pytest.mark.parametrize("text", ['"\\u12"', '"\\user"', '"C:\\\\users\\u"', '"\\ud83d"', '"\\"'])
def test_what_only_begins_like_an_escape_is_read_as_it_stands(text):
    assert spell(text).text == text
