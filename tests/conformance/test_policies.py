"""What every policy promises: decisions of the right shape from any view, known ids, safe values, no exception."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quaere.graphs.budget import Budget, Ledger
from quaere.graphs.metering import MeteredModel
from quaere.graphs.model_policy import model_policy
from quaere.graphs.policy import (
    Draft,
    Evidence,
    GradeView,
    JudgeView,
    Lexicon,
    Need,
    Refusal,
    RewriteView,
    RouteView,
    Turn,
    WriteView,
)
from quaere.graphs.ports import Reply, ToolCard
from quaere.graphs.rules import rules
from quaere.graphs.state import split_id
from quaere.tools.evidence import Document, Locator, Passage, Reading, Sentence, Span
from scripted_model import ScriptedModel

QUERY = {
    "type": "object",
    "properties": {"query": {"type": "string", "minLength": 1}},
    "required": ["query"],
    "additionalProperties": False,
}
TOOLS = (ToolCard("keyword_search", "By words.", QUERY), ToolCard("vector_search", "By meaning.", QUERY))
SENTENCES = (
    "A replacement badge costs 12 EUR.",
    "Gate 4 opens at 7:30.",
    "- item",
    "| a | b |",
    "",
    "日本語のバッジ。",
    "Ask Orlo \u202eFinch\x00.",
)
QUESTIONS = st.sampled_from(
    [
        "What does a badge cost?",
        "Who is it?",
        "hello",
        "",
        "yes",
        "What do A and B cost?",
        "バッジはいくら?",
        "x" * 500,
    ]
)
SENSIBLE = {
    "rewrite": [{"route": "one", "standalone": "", "needs": [], "calls": []}],
    "follow": [{"calls": [{"tool": "keyword_search", "need": "n1", "arguments": '{"query": "badge price"}'}]}],
    "grade": [{"grades": [{"passage": "S1", "value": "supports", "needs": ["n1"]}]}],
    "write": [{"claims": [{"text": "A replacement badge costs 12 EUR.", "cites": ["S1.1"], "need": "n1"}], "missing": []}],
    "judge": [{"verdicts": [{"claim": 1, "verdict": "supported"}]}],
}  # fmt: skip
SENSELESS = {key: [Reply("no idea")] for key in SENSIBLE}
POLICIES = {"rules": None, "sensible": SENSIBLE, "senseless": SENSELESS, "broke": SENSIBLE}


def policy(name):
    if POLICIES[name] is None:
        return rules
    budget = Budget(tokens=0 if name == "broke" else 1_000_000, model_calls=1000)
    return model_policy(MeteredModel(ScriptedModel(POLICIES[name]), Ledger(budget, lambda: 0.0)), rules)


def evidence(s, texts, grade):
    ends, spans = 0, []
    for text in texts:
        spans.append(Span(1, ends, ends + len(text)))
        ends += len(text) + 1
    whole = Span(1, 0, max(ends, 1))
    reading = Reading(
        passage=Passage(s, whole, s, ("Badges",), (0, len(texts)), whole, s),
        document=Document(s, "docs", f"{s}.md", "Badges"),
        text="\n".join(texts),
        sentences=tuple(Sentence(i, span, (), "prose") for i, span in enumerate(spans)),
        texts=tuple(texts),
        governing=tuple(() for _ in texts),
        locator=Locator(),
    )
    return Evidence(s, reading, 1 / s, grade=grade, needs=("n1",) if grade == "supports" else ())


passages = st.lists(
    st.tuples(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4), st.sampled_from(["supports", "related", "ungraded"])),
    max_size=4,
).map(lambda rows: tuple(evidence(s, *row) for s, row in enumerate(rows, 1)))  # fmt: skip
needs = st.integers(1, 3).map(
    lambda n: tuple(Need(f"n{i}", f"What does badge {i} cost?") for i in range(1, n + 1))
)
turns = st.sampled_from([(), (Turn("What is a badge?", "What is a badge?", "answered"),)])
names = pytest.mark.parametrize("name", POLICIES)


@names
@settings(max_examples=40)
@given(question=QUESTIONS, earlier=turns)
def test_route_gives_needs_and_rounds(name, question, earlier):
    decision = asyncio.run(policy(name).route(RouteView(question, earlier, TOOLS)))
    route = decision.value
    assert route.kind in ("none", "one", "iterative")
    assert [need.id for need in route.needs] == [f"n{i}" for i in range(1, len(route.needs) + 1)]
    assert 1 <= len(route.needs) <= 4
    assert decision.reason
    assert (route.kind == "none") == bool(route.reply)
    assert earlier or route.standalone == question


@names
@settings(max_examples=40)
@given(question=QUESTIONS, wanted=needs, held=passages, round_=st.integers(1, 3))
def test_rewrite_plans_calls_of_known_tools_for_known_needs(name, question, wanted, held, round_):
    view = RewriteView(question, wanted, round_, (), held, Lexicon(), TOOLS)
    decision = asyncio.run(policy(name).rewrite(view))
    for call in decision.value:
        assert call.tool in {card.name for card in TOOLS}
        assert call.need in {need.id for need in wanted}
        json.dumps(dict(call.arguments))
    if round_ == 1:
        asked = [call.arguments["query"] for call in decision.value]
        assert question in asked, "the original is always among the queries"


@names
@settings(max_examples=40)
@given(question=QUESTIONS, wanted=needs, held=passages)
def test_grade_speaks_of_held_passages_and_known_needs_only(name, question, wanted, held):
    decision = asyncio.run(policy(name).grade(GradeView(question, wanted, held, Lexicon())))
    grades, ids = decision.value, {need.id for need in wanted}
    assert set(grades.grades) <= {item.s for item in held}
    assert set(grades.met) <= ids
    assert all(set(grade.needs) <= ids for grade in grades.grades.values())
    assert all(grade.value == "supports" or not grade.needs for grade in grades.grades.values())
    assert grades.ladder == (
        "sufficient" if set(grades.met) == ids else "partial" if grades.met else "not_in_sources"
    )


@names
@settings(max_examples=40)
@given(question=QUESTIONS, wanted=needs, held=passages, refused=st.booleans())
def test_write_cites_sentences_it_was_shown(name, question, wanted, held, refused):
    before = (
        (Refusal(Draft("It is free.", ("S1.1",)), "not_found", "not in the cited text"),) if refused else ()
    )
    view = WriteView(question, wanted, held, Lexicon(), (question,), "", before)
    writing = asyncio.run(policy(name).write(view)).value
    known = {f"S{item.s}.{j}" for item in held for j in range(1, len(item.reading.texts) + 1)}
    for draft in writing.drafts:
        assert set(draft.cites) <= known
        assert draft.cites
        assert draft.need in {None, *(need.id for need in wanted)}
    assert set(writing.missing) <= {need.id for need in wanted}


@names
@given(texts=st.lists(st.sampled_from(["It is free.", "A badge costs money.", "日本"]), max_size=3))
def test_judge_gives_one_verdict_a_draft(name, texts):
    drafts = tuple(Draft(text, ("S1.1",)) for text in texts)
    view = JudgeView(drafts, tuple(("A replacement badge costs 12 EUR.",) for _ in drafts))
    verdicts = asyncio.run(policy(name).judge(view)).value
    assert len(verdicts) == len(drafts)
    assert set(verdicts) <= {"supported", "contradicted", "not_found", "not_judged"}
    assert all(split_id(draft.cites[0]) for draft in drafts)


@names
def test_the_users_own_words_are_answered_without_sources(name):
    view = WriteView(
        "What is 12 * 7?", (Need("n1", "What is 12 * 7?"),), (), Lexicon(), ("What is 12 * 7?",), "arithmetic"
    )
    draft = asyncio.run(policy(name).write(view)).value.drafts[0]
    assert draft.cites == ("S0.1",)
    assert draft.text.endswith("84")


@pytest.mark.parametrize("name", ["senseless", "broke"])
def test_safe_values_are_marked_by_who_took_them(name):
    held = (evidence(1, SENTENCES[:1], "supports"),)
    view = WriteView(
        "What does a badge cost?", (Need("n1", "What does a badge cost?"),), held, Lexicon(), ("",)
    )
    decision = asyncio.run(policy(name).write(view))
    assert decision.by == ("safe value" if name == "senseless" else "rules")
    assert decision.by in decision.reason
