"""The policy by prompts: what it asks, what it takes, what it does when a reply cannot be used."""

from __future__ import annotations

import json

import pytest
from quaere.agent.assemble import Agent
from quaere.graphs.budget import Budget
from quaere.graphs.model_ask import ModelOptions, Strategies
from quaere.graphs.policy import Ground, Turn
from quaere.graphs.ports import Attempt, ModelCall, Reply, ToolCard, Usage
from quaere.tools.errors import ModelContextError, ModelReplyError, ModelUnavailableError
from quaere.tools.evidence import NO_FILTER
from scripted_model import ScriptedModel, call, run

FILES = {
    "badge.md": "# Badges\n\nA replacement badge costs 12 EUR. It is paid at the desk.\n\nVisitor badges are blue.",
    "gate.md": "# Gates\n\nGate 4 opens at 7:30. The guard checks every badge. The gate was built by Orlo Finch.",
    "lift.md": "# Lift\n\nThe lift is serviced in May. Spare parts are kept by Orlo Finch in Halden.",
}
COST = "What does a replacement badge cost?"
PAID = "Where can I settle the bill for a lost badge?"
LONG = (
    "What does a replacement badge cost for people who stand at gate 4 on any day of the week "
    "while the guard looks at all that they carry with them into the house?"
)
TWO = "What does a replacement badge cost and when does gate 4 open?"


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    for name, text in FILES.items():
        path = home / "docs" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    (home / "secret").mkdir()
    (home / "secret" / "safe.md").write_text(
        "# Safe\n\nThe vault code of the archive is 7731. Ask Ilka Brandt for the vault."
    )
    with Agent.open(home) as opened:
        opened.add(home / "docs")
        opened.add(home / "secret")
        yield opened


def written(*claims):
    return {
        "claims": [dict(zip(("text", "cites", "need"), claim, strict=True)) for claim in claims],
        "missing": [],
    }


def cites(request, words):
    """Return the id of the sentence that holds some words in the evidence of a prompt."""
    lines = request.messages[1]["content"].splitlines()
    return next(
        line.split(" ", 1)[0]
        for line in lines
        if words in line and line.startswith("S") and "." in line.split(" ", 1)[0]
    )


def quoting(words, text=None, need="n1"):
    """Return a writer that cites the sentence that holds some words."""
    return lambda request: written((text or words, [cites(request, words)], need))


GOOD = quoting("A replacement badge costs 12 EUR.")


def test_a_one_fact_question_costs_one_call_when_the_writer_keeps_to_the_words(agent):
    model = ScriptedModel({"write": [GOOD]})
    ran = run(agent, model, COST)
    assert ran.answer.status == "answered"
    assert "12 EUR" in ran.answer.text
    assert model.prompts == ["write"]
    assert ran.answer.spent["model_calls"] == 1
    assert ran.answer.spent["tokens"] == model.spent
    assert ran.decision("write")["by"] == "model"


def test_a_claim_in_other_words_costs_a_second_call_of_the_judge(agent):
    model = ScriptedModel(
        {
            "write": [quoting("A replacement badge costs 12 EUR.", "You pay 12 EUR to replace a badge.")],
            "judge": [{"verdicts": [{"claim": 1, "verdict": "supported"}]}],
        }
    )
    ran = run(agent, model, COST)
    assert ran.answer.text.startswith("You pay 12 EUR to replace a badge.")
    assert model.prompts == ["write", "judge"]


def test_a_lenient_judge_does_not_carry_a_claim_of_other_words(agent):
    model = ScriptedModel(
        {
            "write": [quoting("A replacement badge costs 12 EUR.", "Lost passes lead to dismissal.")],
            "judge": [{"verdicts": [{"claim": 1, "verdict": "supported"}]}],
        }
    )
    ran = run(agent, model, COST)
    assert "dismissal" not in ran.answer.text
    assert "12 EUR" in ran.answer.text


def test_two_questions_cost_a_plan_that_names_both_needs(agent):
    model = ScriptedModel(
        {
            "rewrite": [
                {
                    "route": "iterative",
                    "standalone": TWO,
                    "needs": [COST, "When does gate 4 open?"],
                    "calls": [],
                }
            ],
            "write": [
                lambda request: written(
                    ("A replacement badge costs 12 EUR.", [cites(request, "12 EUR")], "n1"),
                    ("Gate 4 opens at 7:30.", [cites(request, "7:30")], "n2"),
                )
            ],
        }
    )
    ran = run(agent, model, TWO)
    assert ran.answer.status == "answered"
    assert {"12 EUR", "7:30"} <= {word for word in ("12 EUR", "7:30") if word in ran.answer.text}
    assert model.prompts == ["rewrite", "write"]
    assert ran.decision("route")["by"] == "model"


def test_planned_calls_run_beside_the_question_as_asked(agent):
    model = ScriptedModel(
        {
            "rewrite": [
                Reply(
                    json.dumps({"route": "one", "standalone": "", "needs": []}),
                    calls=(
                        call("keyword_search", query="badge price 4"),
                        call("keyword_search", query="badge gate 4"),
                    ),
                )
            ],
            "write": [GOOD],
        }
    )
    ran = run(agent, model, TWO)
    queries = [arguments["query"] for _, arguments in ran.decision("rewrite")["value"]]
    assert queries[:2] == [TWO, TWO]
    assert {"badge price 4", "badge gate 4"} <= set(queries)


def test_round_ones_searches_are_admitted_before_the_plan_returns(agent):
    seen = []
    model = ScriptedModel(
        {
            "rewrite": [
                lambda request: seen.append(1) or {"route": "one", "standalone": "", "needs": [], "calls": []}
            ],
            "write": [GOOD],
        }
    )
    ran = run(agent, model, TWO)
    order = [entry.what for entry in ran.ledger.entries]
    assert order.index("tool") < order.index("model router")
    assert [entry.path for entry in ran.ledger.entries if entry.what == "tool"][:2] == [
        "r1.search.1",
        "r1.search.2",
    ]
    assert ran.answer.spent["tool_calls"] == len([e for e in ran.ledger.entries if e.what == "tool"])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (call("web_search", query="badge"), "there is no such tool"),
        (call("keyword_search", text="badge"), "query"),
        (call("keyword_search", query="badge", k=5000), "above 50"),
        (ModelCall("", "keyword_search", '{"query": '), "no JSON object"),
    ],
)
def test_a_wrong_call_is_told_to_the_model_once_and_then_left_out(agent, wrong, said):
    plan = {"route": "one", "standalone": "", "needs": []}
    model = ScriptedModel({"rewrite": [Reply(json.dumps(plan), calls=(wrong,))], "write": [GOOD]})
    ran = run(agent, model, TWO)
    assert model.prompts[:2] == ["rewrite", "rewrite"]
    assert "rewrite" not in model.prompts[2:]
    assert said in model.requests[1][1].messages[-1]["content"]
    assert any(said in why for why in ran.decision("rewrite")["rejected"])
    assert "12 EUR" in ran.answer.text


def test_a_corrected_call_is_made(agent):
    plan = json.dumps({"route": "one", "standalone": "", "needs": []})
    model = ScriptedModel(
        {
            "rewrite": [
                Reply(plan, calls=(call("find", query="badge"),)),
                Reply(
                    plan,
                    calls=(
                        call("keyword_search", "same", query="badge costs gate 4"),
                        call("vector_search", "same", query="badge costs gate 4"),
                    ),
                ),
            ],
            "write": [GOOD],
        }
    )
    ran = run(agent, model, TWO)
    made = [
        tool
        for tool, arguments in ran.decision("rewrite")["value"]
        if arguments["query"] == "badge costs gate 4"
    ]
    assert made == ["keyword_search", "vector_search"], "equal ids do not make calls one"


def test_calls_written_as_text_are_made(agent):
    text = 'I will search.\n```json\n{"name": "keyword_search", "arguments": {"query": "badge desk 4"}}\n```'
    ran = run(agent, ScriptedModel({"rewrite": [text], "write": [GOOD]}), TWO)
    assert ["keyword_search", {"query": "badge desk 4"}] in ran.decision("rewrite")["value"]


def test_endless_repetition_is_one_call(agent):
    calls = tuple(call("keyword_search", query="badge desk 4") for _ in range(500))
    plan = json.dumps({"route": "one", "standalone": "", "needs": []})
    ran = run(agent, ScriptedModel({"rewrite": [Reply(plan, calls=calls)], "write": [GOOD]}), TWO)
    asked = [arguments["query"] for _, arguments in ran.decision("rewrite")["value"]]
    assert asked.count("badge desk 4") == 1


@pytest.mark.parametrize(
    ("queries", "why"),
    [
        (["gate 5 opens"], "brings in the number 5"),
        (["gate XR-7 4"], "brings in"),
        (["badge price"], "loses the number 4"),
        (["Sure! Here is a better query:"], "talk about a query"),
        (["badge " * 200], "words of prose"),
    ],
)
def test_a_rewrite_that_is_unfaithful_is_left_out_with_its_reason(agent, queries, why):
    plan = json.dumps({"route": "one", "standalone": "", "needs": []})
    model = ScriptedModel(
        {
            "rewrite": [Reply(plan, calls=tuple(call("keyword_search", query=one) for one in queries))],
            "grade": [{"grades": []}],
            "follow": [{"calls": []}],
            "write": [GOOD],
        }
    )
    ran = run(agent, model, LONG)
    made = [arguments["query"] for _, arguments in ran.decision("rewrite")["value"]]
    assert not set(queries) & set(made)
    assert any(why in reason for reason in ran.decision("rewrite")["rejected"])
    assert model.prompts.count("rewrite") == 1, "it costs no repeat"


def test_rewrites_of_one_need_may_share_what_must_survive(agent):
    plan = json.dumps({"route": "one", "standalone": "", "needs": ["x"]})
    calls = (call("keyword_search", query="badge price"), call("keyword_search", query="opening of gate 4"))
    replies = {"rewrite": [Reply(plan, calls=calls)], "grade": [{"grades": []}], "follow": [{"calls": []}]}
    ran = run(agent, ScriptedModel(replies | {"write": [GOOD]}), LONG)
    made = [arguments["query"] for _, arguments in ran.decision("rewrite")["value"]]
    assert {"badge price", "opening of gate 4"} <= set(made)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "no idea",
        "[]",
        "null",
        '{"claims": "none"}',
        '{"type":"object","properties":{"claims":{}}}',
        "<think>maybe 15 EUR",
        '{"claims": [' * 500,
        "{" * 50_000,
        '{"claims": ' + "[" * 900 + '"\\u00e9"' + "]" * 900 + "}",
        ModelReplyError("the reply is empty"),
        Reply('{"claims": [{"text": "A repl', finish="length"),
        {"claims": [{"text": "A badge is free.", "cites": [], "need": "n1"}]},
        {"claims": [{"text": "A badge is free.", "cites": ["S99.1"], "need": "n1"}]},
    ],
)
def test_an_unusable_answer_gets_one_repeat_and_then_whole_sentences(agent, reply):
    model = ScriptedModel({"write": [reply]})
    ran = run(agent, model, COST)
    assert model.prompts == ["write", "write"]
    assert ran.answer.text.startswith("A replacement badge costs 12 EUR.")
    assert ran.decision("write")["by"] == "safe value"
    assert any("could not be used" in note for note in ran.answer.notes)


def test_the_repeat_carries_the_error_and_may_succeed(agent):
    model = ScriptedModel({"write": ["no idea", GOOD]})
    ran = run(agent, model, COST)
    assert ran.decision("write")["by"] == "model"
    repair = model.requests[1][1].messages
    assert repair[-2] == {"role": "assistant", "content": "no idea"}
    assert "no JSON object" in repair[-1]["content"]
    assert ran.answer.notes == ()


def test_a_reply_that_was_cut_off_gets_a_higher_ceiling(agent):
    model = ScriptedModel({"write": [Reply('{"claims": [', finish="length"), GOOD]})
    ran = run(agent, model, COST)
    assert model.requests[1][1].max_tokens > model.requests[0][1].max_tokens
    assert ran.decision("write")["by"] == "model"


@pytest.mark.parametrize("words", ["INSUFFICIENT.", "insufficient", {"claims": [], "missing": ["n1"]}])
def test_insufficient_is_an_abstention_that_names_what_is_missing(agent, words):
    ran = run(agent, ScriptedModel({"write": [words]}), COST)
    assert ran.answer.status == "abstained"
    assert COST in ran.answer.missing[0]


def test_a_prompt_larger_than_the_window_is_halved_once(agent):
    model = ScriptedModel({"write": [ModelContextError("a window of 512 tokens"), GOOD]})
    ran = run(agent, model, COST)
    sizes = [len(request.messages[1]["content"]) for _, request in model.requests]
    assert sizes[1] < sizes[0]
    assert ran.decision("write")["by"] == "model"


def test_a_model_that_is_gone_is_asked_once_and_ends_the_run(agent):
    model = ScriptedModel({"write": [ModelUnavailableError("the key was refused")]})
    with pytest.raises(ModelUnavailableError, match="the key was refused"):
        run(agent, model, COST)
    assert len(model.requests) == 1


def test_with_degrade_the_rules_take_over_after_one_request_and_say_so(agent):
    gone = ModelUnavailableError("the key was refused")
    model = ScriptedModel({"rewrite": [gone], "write": [gone]})
    ran = run(agent, model, TWO, options=ModelOptions(degrade=True))
    assert len(model.requests) == 1
    assert "12 EUR" in ran.answer.text
    assert any("the key was refused" in note and "rules took over" in note for note in ran.answer.notes)


@pytest.mark.parametrize("question", ["hello", "thanks", "What is 12 * 7?", "", "?!"])
def test_what_the_users_own_words_answer_costs_no_call(agent, question):
    model = ScriptedModel()
    assert run(agent, model, question).answer.spent["model_calls"] == 0
    assert model.requests == []


def test_the_model_alone_cannot_leave_the_sources_out(agent):
    model = ScriptedModel(
        {"rewrite": [{"route": "none", "standalone": "", "needs": [], "calls": []}], "write": [GOOD]}
    )
    ran = run(agent, model, TWO)
    assert ran.decision("route")["value"]["kind"] != "none"
    assert any("none" in why for why in ran.decision("route")["rejected"])


def test_grade_is_asked_only_for_passages_the_features_leave_open(agent):
    model = ScriptedModel({"write": [GOOD]})
    run(agent, model, COST)
    assert "grade" not in model.prompts
    model = ScriptedModel(
        {
            "grade": [
                lambda request: {
                    "grades": [
                        {
                            "passage": cites(request, "paid at the desk").partition(".")[0],
                            "value": "supports",
                            "needs": ["n1"],
                        }
                    ]
                }
            ],
            "write": [quoting("It is paid at the desk.")],
        }
    )
    ran = run(agent, model, PAID)
    assert model.prompts == ["grade", "write"]
    assert "paid at the desk" in ran.answer.text
    assert ran.decision("grade")["by"] == "model"


@pytest.mark.parametrize(
    "reply",
    [
        "Yes, it is relevant.",
        {"grades": [{"passage": "S1", "value": "maybe", "needs": []}]},
        "[]",
        {"grades": [{"passage": "S77", "value": "supports", "needs": ["n1"]}]},
    ],
)
def test_a_grade_that_cannot_be_read_keeps_the_passage_ungraded(agent, reply):
    model = ScriptedModel(
        {"grade": [reply], "follow": [{"calls": []}], "write": [quoting("It is paid at the desk.")]}
    )
    ran = run(agent, model, PAID)
    assert model.prompts[:2] == ["grade", "grade"]
    assert ran.decision("grade")["by"] == "safe value"
    assert "ungraded" in ran.decision("grade")["reason"]
    assert "paid at the desk" in ran.answer.text


def test_follow_up_calls_may_use_what_evidence_brings_up(agent):
    question = "What is stored by the builder of the gate?"
    model = ScriptedModel(
        {
            "rewrite": [{"route": "iterative", "standalone": "", "needs": [], "calls": []}],
            "grade": [
                {"grades": [{"passage": "S1", "value": "related", "needs": []}]},
                lambda request: {
                    "grades": [
                        {
                            "passage": cites(request, "Spare parts").partition(".")[0],
                            "value": "supports",
                            "needs": ["n1"],
                        }
                    ]
                },
            ],
            "follow": [
                Reply(
                    "",
                    calls=(
                        call("keyword_search", query="parts kept by Orlo Finch"),
                        call("expand", passage=1, reach="document"),
                    ),
                ),
                {"calls": []},
            ],
            "write": [quoting("Spare parts are kept by Orlo Finch in Halden.")],
        }
    )
    ran = run(agent, model, question)
    assert "follow" in model.prompts
    assert "Spare parts are kept" in ran.answer.text
    second = [one for one in ran.decisions if one["kind"] == "rewrite"][1]
    assert ["expand", {"passage": "S1", "reach": "document"}] in second["value"]


def test_strategies_search_what_the_plan_gives_and_the_question_first(agent):
    options = ModelOptions(Strategies(hyde=True, step_back=True, multi_query=True))
    plan = {
        "route": "one",
        "standalone": "",
        "needs": [],
        "hyde": "Replacing a badge costs 10 EUR.",
        "step_back": "badge fees",
        "variants": ["price of a replacement badge", "Sure! Here is a better query:"],
        "calls": [],
    }
    model = ScriptedModel({"rewrite": [plan], "write": [GOOD]})
    ran = run(agent, model, COST, options=options)
    made = [(tool, arguments["query"]) for tool, arguments in ran.decision("rewrite")["value"]]
    assert made[:2] == [("keyword_search", COST), ("vector_search", COST)]
    assert ("vector_search", plan["hyde"]) in made
    assert ("keyword_search", plan["hyde"]) not in made
    assert ("keyword_search", "badge fees") in made
    assert ("keyword_search", "price of a replacement badge") in made
    assert any("talk about a query" in why for why in ran.decision("route")["rejected"])


def test_passages_of_a_local_source_never_reach_the_model(agent):
    options = ModelOptions(local=frozenset({"secret"}))
    question = "What is the vault code of the archive and what does a replacement badge cost?"
    model = ScriptedModel(
        {
            "rewrite": [
                {
                    "route": "one",
                    "standalone": "",
                    "needs": ["What is the vault code of the archive?", COST],
                    "calls": [],
                }
            ],
            "grade": [{"grades": []}],
            "follow": [{"calls": []}],
            "write": [quoting("A replacement badge costs 12 EUR.", need="n2")],
            "judge": [{"verdicts": []}],
        }
    )
    ran = run(agent, model, question, options=options)
    assert "7731" not in model.sent
    assert "Ilka" not in model.sent
    assert "Safe" not in model.sent
    assert "7731" in ran.answer.text, "the rules read it"
    assert any("secret" in note and "local" in note for note in ran.answer.notes)


def test_a_model_cannot_cite_what_it_was_not_shown(agent):
    options = ModelOptions(local=frozenset({"secret"}))
    ids = [f"S{s}.{j}" for s in range(1, 9) for j in range(1, 4)]
    guess = written(*(("The vault is open to visitors.", [one], "n1") for one in ids[:12]))
    model = ScriptedModel(
        {
            "write": [guess],
            "judge": [{"verdicts": [{"claim": 1, "verdict": "supported"}]}],
            "grade": [{"grades": []}],
            "follow": [{"calls": []}],
        }
    )
    run(agent, model, "What is the vault code of the archive?", options=options)
    assert "7731" not in model.sent


def test_history_enters_as_questions_and_claims_with_documents_only(agent):
    reader = agent.corpus.reader(agent.access, NO_FILTER)
    found = reader.passages([reader.keyword(["badg"], 1)[0][0]])
    span = next(iter(found.values())).span
    kept = Ground("A replacement badge costs 12 EUR.", "docs", "badge.md", (span,))
    gone = Ground("The old badge cost 9 EUR.", "docs", "gone.md", (type(span)(99_999, 0, 10),))
    local = Ground("The vault code is 7731.", "secret", "safe.md", (span,))
    turn = Turn(COST, COST, "answered", ("An old answer text.",), grounds=(kept, gone, local))
    plan = {"route": "one", "standalone": "Where is a replacement badge paid?", "needs": [], "calls": []}
    model = ScriptedModel(
        {
            "rewrite": [plan],
            "write": [quoting("It is paid at the desk.")],
            "grade": [{"grades": []}],
            "follow": [{"calls": []}],
        }
    )
    ran = run(
        agent,
        model,
        "and where is it paid?",
        history=[turn],
        options=ModelOptions(local=frozenset({"secret"})),
    )
    prompt = model.requests[0][1].messages[1]["content"]
    assert COST in prompt
    assert "badge.md says: A replacement badge costs 12 EUR." in prompt
    assert "An old answer text." not in model.sent
    assert "9 EUR" not in model.sent
    assert "7731" not in model.sent
    assert ran.answer.question == "Where is a replacement badge paid?"
    assert "paid at the desk" in ran.answer.text


@pytest.mark.parametrize(
    "standalone", ["What does gate 9 cost?", "", "Sure, here is the question:", "x" * 5000]
)
def test_a_standalone_question_that_invents_is_not_taken(agent, standalone):
    turn = Turn(COST, COST, "answered")
    plan = {"route": "one", "standalone": standalone, "needs": [], "calls": []}
    model = ScriptedModel(
        {"rewrite": [plan], "write": [GOOD], "grade": [{"grades": []}], "follow": [{"calls": []}]}
    )
    ran = run(agent, model, "and where is it paid?", history=[turn])
    assert "gate 9" not in ran.answer.question
    assert len(ran.answer.question) < 200


def test_a_database_tool_is_reason_to_plan(agent):
    cards = (
        ToolCard(
            "sql_query",
            "Query a database.",
            {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
        ),
    )
    model = ScriptedModel({"rewrite": ["nonsense"], "write": [GOOD]})
    ran = run(agent, model, COST, tools=_More(agent, cards))
    assert model.prompts == ["rewrite", "rewrite", "write"]
    assert ["sql_query", {"query": COST}] in ran.decision("rewrite")["value"], "the safe plan asks every tool"
    assert ran.answer.spent["model_calls"] == 3


class _More:
    """The text tools with further ones that find nothing."""

    def __init__(self, agent, cards):
        from quaere.agent.toolbox import Toolbox
        from quaere.tools import search_tools

        reader = agent.corpus.reader(agent.access, NO_FILTER)
        self.inner = Toolbox(search_tools.build_tools(search_tools.Seat(reader, agent.encoder)))
        self.more = cards

    def cards(self):
        return (*self.inner.cards(), *self.more)

    async def call(self, path, name, arguments, seen):
        from quaere.graphs.ports import Observation

        if name in {card.name for card in self.more}:
            return Observation(path, name, "ok", "x" * 100_000, source=name)
        return await self.inner.call(path, name, arguments, seen)


def test_retries_are_charged_and_need_the_budgets_leave(agent):
    leave = []

    def twice(request):
        leave.append(request.again(Attempt(0.1, "500", Usage(300, 0))))
        return Reply(
            "INSUFFICIENT",
            usage=Usage(300, 5),
            attempts=(Attempt(0.1, "500", Usage(300, 0)), Attempt(0.1, "ok", Usage(300, 5))),
        )

    ran = run(agent, ScriptedModel({"write": [twice]}), COST, budget=Budget(tokens=8000, seconds=600))
    assert leave == [True]
    assert ran.answer.spent["tokens"] == 605
    leave.clear()
    run(agent, ScriptedModel({"write": [twice]}), COST, budget=Budget(tokens=2000, seconds=600))
    assert leave == [False]


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        ({"tokens": 50}, "token limit"),
        ({"model_calls": 0}, "model call limit"),
        ({"tokens": 0}, "token limit"),
    ],
)
def test_below_the_smallest_prompt_the_rules_close_at_no_cost(agent, limits, named):
    model = ScriptedModel()
    ran = run(agent, model, COST, budget=Budget(seconds=600, **limits))
    assert model.requests == []
    assert ran.answer.text.startswith("A replacement badge costs 12 EUR.")
    assert ran.answer.spent["tokens"] == 0
    assert any(named in note for note in ran.answer.notes)


def test_a_silent_model_is_cut_at_the_deadline_and_the_rules_close(agent):
    import asyncio

    class Silent:
        async def reply(self, path, request):
            await asyncio.sleep(3600)

    ran = run(agent, Silent(), COST, budget=Budget(seconds=1.5))
    assert "12 EUR" in ran.answer.text
    assert ran.answer.spent["tokens"] > 0, "what may have been written is charged"
    assert any("time limit" in note for note in ran.answer.notes)
