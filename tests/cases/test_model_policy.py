"""PR-01 to PR-04, PR-32, PR-33, PR-38, PR-41, PR-44 and PR-47 with a model that plays their scripts."""

from __future__ import annotations

import json

import pytest
from quaere.graphs.budget import Budget
from quaere.graphs.model_ask import ModelOptions, Strategies
from quaere.graphs.policy import Ground, Turn
from quaere.graphs.ports import Reply
from quaere.tools.errors import ModelReplyError
from scripted_model import ScriptedModel, call, run

BADGE = {"badge.md": "A replacement badge costs 12 EUR."}
COST = "What does a replacement badge cost?"
PLAN = {"route": "one", "standalone": "", "needs": [], "calls": []}
REPHRASING = ModelOptions(Strategies(multi_query=True))


def claim(text, *cites, need="n1"):
    return {"text": text, "cites": list(cites), "need": need, "formula": ""}


def quoted(*wanted):
    """Write claims that are sentences of the evidence, by the words they hold."""

    def write(request):
        lines = [line.split(" ", 1) for line in request.messages[1]["content"].splitlines()]
        held = [
            (one[0], one[1]) for one in lines if len(one) == 2 and one[0].startswith("S") and "." in one[0]
        ]
        found = [next((pair for pair in held if words in pair[1]), None) for words in wanted]
        return {"claims": [claim(text, identity) for identity, text in filter(None, found)], "missing": []}

    return write


GOOD = quoted("12 EUR")


def queries(ran):
    """Return every query that was searched."""
    made = [value for one in ran.decisions if one["kind"] == "rewrite" for value in one["value"]]
    return [arguments.get("query", "") for _, arguments in made]


def test_pr_01_a_short_yes_is_read_as_the_question_it_stands_for(workspace):
    agent = workspace(
        {
            "p18.md": "Pump P-18 has a 24 month warranty.",
            "ext.md": "The P-18 warranty can be extended to 60 months for 140 EUR.",
        }
    )
    first = "What is the warranty of pump P-18?"
    offer = "Pump P-18 has a 24 month warranty. Shall I tell you about the extension?"
    one = run(
        agent, ScriptedModel({"write": [quoted("24 month"), {"claims": [claim(offer, "S1.1")]}]}), first
    )
    assert "24 month" in one.answer.text
    turn = Turn(first, first, one.answer.status, tuple(c.text for c in one.answer.claims))
    plan = PLAN | {"standalone": "How can the warranty of pump P-18 be extended?"}
    model = ScriptedModel(
        {
            "rewrite": [plan],
            "grade": [{"grades": []}],
            "follow": [{"calls": []}],
            "write": [quoted("140 EUR")],
        }
    )
    two = run(agent, model, "yes", history=[turn])
    assert "60 months" in two.answer.text
    assert "140 EUR" in two.answer.text
    assert {note.document for note in two.answer.footnotes} == {"ext.md"}
    assert "Shall I tell" not in model.sent


def test_pr_02_a_follow_up_is_searched_with_its_subject(workspace):
    agent = workspace(
        {
            "k2.md": "Model K2. Tyre change 89 EUR. Windscreen 310 EUR.",
            "k7.md": "Model K7. Tyre change 95 EUR. Windscreen 450 EUR. Windscreen, windscreen, windscreen care.",
        }
    )
    first = "How much is a tyre change on the K2?"
    one = run(agent, ScriptedModel({"write": [quoted("89 EUR")], "judge": [{"verdicts": []}]}), first)
    assert "89 EUR" in one.answer.text
    assert {note.document for note in one.answer.footnotes} == {"k2.md"}
    turn = Turn(first, one.answer.question, one.answer.status)
    plan = PLAN | {"standalone": "How much is the windscreen of the K2?"}
    model = ScriptedModel(
        {
            "rewrite": [plan],
            "grade": [{"grades": []}],
            "follow": [{"calls": []}],
            "write": [quoted("310 EUR")],
        }
    )
    two = run(agent, model, "and the windscreen?", history=[turn])
    assert "310 EUR" in two.answer.text
    assert "450" not in two.answer.text
    assert {note.document for note in two.answer.footnotes} == {"k2.md"}
    assert any("K2" in query for query in queries(two))


def test_pr_03_a_question_about_the_conversation_costs_no_search_and_no_call(workspace):
    agent = workspace({"first.md": "The first question of the safety quiz is about helmets."})
    asked = "What colour is the visitor badge?"
    model = ScriptedModel()
    ran = run(
        agent, model, "What was the first question I asked you?", history=[Turn(asked, asked, "abstained")]
    )
    assert asked in ran.answer.text
    assert "helmets" not in ran.answer.text
    assert ran.answer.spent["tool_calls"] == 0
    assert ran.answer.footnotes == ()
    assert model.requests == []


@pytest.mark.parametrize(
    ("variant", "why"),
    [
        ("", "an empty query"),
        ("Sure! Here is a better query:", "talk about a query"),
        ("badge " * 3000, "words of prose"),
    ],
)
def test_pr_04_a_rewrite_that_is_no_query_is_rejected_and_the_question_searched(workspace, variant, why):
    model = ScriptedModel({"rewrite": [PLAN | {"variants": [variant]}], "write": [GOOD]})
    ran = run(workspace(BADGE), model, COST, options=REPHRASING)
    assert set(queries(ran)) == {COST}
    assert "12 EUR" in ran.answer.text
    assert ran.answer.footnotes
    assert any(why in reason for one in ran.decisions for reason in one["rejected"])


def test_pr_04_a_rewriter_that_fails_leaves_the_question_as_asked(workspace):
    model = ScriptedModel({"rewrite": [ModelReplyError("HTTP 500")], "write": [GOOD]})
    ran = run(workspace(BADGE), model, COST, options=REPHRASING)
    assert set(queries(ran)) == {COST}
    assert "12 EUR" in ran.answer.text
    assert ran.decision("route")["by"] == "safe value"
    assert "HTTP 500" in ran.decision("route")["reason"]


def test_pr_32_rejecting_all_evidence_ends_in_an_abstention_after_three_rounds(workspace):
    def reject(request):
        shown = [
            line.split(" ")[0]
            for line in request.messages[1]["content"].splitlines()
            if " in badge.md" in line
        ]
        return {"grades": [{"passage": one, "value": "off", "needs": []} for one in shown]}

    turns = iter(range(100))

    def another(request):
        words = ("maker", "author", "artist", "drawn by", "studio")[next(turns) % 5]
        return Reply("", calls=(call("keyword_search", query=f"badge {words}"),))

    model = ScriptedModel({"grade": [reject], "follow": [another], "write": ["INSUFFICIENT"]})
    ran = run(workspace(BADGE), model, "Who designed the badge?")
    assert ran.answer.status == "abstained"
    assert sum(one["kind"] == "grade" for one in ran.decisions) <= 3
    assert model.prompts.count("follow") <= 2
    assert "limit" not in ran.answer.reason
    assert "limit" not in ran.answer.text


@pytest.mark.parametrize(
    "reply",
    [
        "Yes, chunk 1 is relevant because it names the price.",
        "null",
        {"score": "maybe"},
        "[]",
        {"grades": [{"passage": "S7", "value": "supports", "needs": ["n1"]}]},
    ],
)
def test_pr_33_a_verdict_that_cannot_be_read_leaves_the_passage_ungraded(workspace, reply):
    question = "How much money is asked for a lost badge?"
    model = ScriptedModel({"grade": [reply], "follow": [{"calls": []}], "write": [GOOD]})
    ran = run(workspace(BADGE), model, question)
    assert model.prompts[:2] == ["grade", "grade"], "one repeat"
    graded = ran.decision("grade")
    assert "ungraded" in graded["reason"]
    assert graded["value"]["met"] == []
    assert "12 EUR" in ran.answer.text
    assert ran.answer.footnotes


def test_pr_38_a_false_premise_is_not_answered_with_an_invented_reason(workspace):
    deal = {"deal.md": "The Halden contract was signed on 3 May and runs to 2027."}
    model = ScriptedModel(
        {
            "grade": [{"grades": [{"passage": "S1", "value": "related", "needs": []}]}],
            "follow": [{"calls": []}],
            "write": [{"claims": [claim("It was cancelled because of delays [1].", "S1.1")]}],
            "judge": [{"verdicts": [{"claim": 1, "verdict": "supported"}]}],
        }
    )
    ran = run(workspace(deal), model, "Why was the Halden contract cancelled in June?")
    assert "delays" not in ran.answer.text
    assert "do not say" in ran.answer.text
    assert "signed on 3 May and runs to 2027" in ran.answer.text
    assert ran.answer.footnotes[0].document == "deal.md"


@pytest.mark.parametrize("steps", [8, 9])
def test_pr_41_endless_valid_searches_end_at_the_step_limit(workspace, steps):
    words = iter(range(10_000))
    model = ScriptedModel(
        {
            "rewrite": [PLAN],
            "grade": [{"grades": [{"passage": "S1", "value": "off", "needs": []}]}],
            "follow": [
                lambda request: Reply(
                    "", calls=(call("keyword_search", query=f"badge {'abcdefghij'[next(words) % 10]}"),)
                )
            ],
            "write": ["INSUFFICIENT"],
        }
    )
    ran = run(workspace(BADGE), model, "Who designed the badge?", budget=Budget(steps=steps, seconds=600))
    assert ran.answer.spent["steps"] <= steps
    assert ran.answer.status == "stopped"
    assert ran.answer.reason == "stopped: step limit"
    shown = json.dumps(ran.answer.to_json())
    assert "GraphRecursionError" not in shown
    assert "recursion_limit" not in shown


def test_pr_44_equal_ids_are_two_calls_and_thirty_calls_are_held_to_the_limit(workspace):
    plan = json.dumps(PLAN)
    twice = (
        call("keyword_search", "call_1", query="badge cost"),
        call("vector_search", "call_1", query="badge cost"),
    )
    model = ScriptedModel({"rewrite": [Reply(plan, calls=twice)], "write": [GOOD]})
    ran = run(workspace(BADGE), model, COST, options=REPHRASING)
    assert queries(ran).count("badge cost") == 2
    many = tuple(
        call("keyword_search", "", query=f"badge {'abcdefghijklmnopqrstuvwxyzäöüß'[i]}") for i in range(30)
    )
    model = ScriptedModel({"rewrite": [Reply(plan, calls=many)], "write": [GOOD]})
    ran = run(workspace(BADGE), model, COST, options=REPHRASING, budget=Budget(tool_calls=9, seconds=600))
    assert ran.answer.spent["tool_calls"] == 9
    assert any("not run: budget" in one for one in ran.answer.missing)
    assert "12 EUR" in ran.answer.text


def test_pr_47_a_schema_sent_back_is_no_route_and_retrieval_goes_on(workspace):
    echo = json.dumps({"type": "object", "properties": {"route": {"enum": ["one"]}}})
    model = ScriptedModel({"rewrite": [echo], "write": [GOOD]})
    ran = run(workspace(BADGE), model, COST, options=REPHRASING)
    assert model.prompts == ["rewrite", "rewrite", "write"]
    assert "12 EUR" in ran.answer.text
    assert "properties" not in json.dumps(ran.answer.to_json())


def test_an_earlier_claim_is_shown_with_its_document_and_no_answer_text_is(workspace):
    agent = workspace(BADGE)
    one = run(agent, ScriptedModel({"write": [GOOD]}), COST)
    note = one.answer.footnotes[0]
    ground = Ground(one.answer.claims[0].text, note.source, note.document, (note.span,))
    turn = Turn(COST, COST, "answered", (one.answer.text,), grounds=(ground,))
    model = ScriptedModel(
        {"rewrite": [PLAN], "grade": [{"grades": []}], "follow": [{"calls": []}], "write": ["INSUFFICIENT"]}
    )
    run(agent, model, "and in June?", history=[turn])
    assert "badge.md says: A replacement badge costs 12 EUR." in model.sent
    assert "[1]" not in model.sent
