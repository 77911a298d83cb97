"""A limit on tokens holds as a server counts it, for tokenizers of different rates and texts of all scripts."""

from __future__ import annotations

import json
import math

import pytest
from quaere.agent.assemble import Agent
from quaere.graphs.budget import Budget
from quaere.graphs.estimate import size_of
from quaere.graphs.ports import Reply, Usage
from scripted_model import run

FILES = {
    "ascii.md": "# Badges\n\nA replacement badge costs 12 EUR. "
    + "The desk is open on weekdays from 8:00 to 16:30. " * 60,
    "cjk.md": "# バッジ\n\nA replacement badge costs 12 EUR. "
    + "受付は平日の八時から十六時半まで開いています。" * 80,
    "emoji.md": "# 🏷️\n\nA replacement badge costs 12 EUR. " + "🏷️🪪🔑🚪 badge 🙂🙃 desk 🕗➡️🕟. " * 60,
}
QUESTIONS = (
    "What does a replacement badge cost?",
    "バッジの badge はいくら and when is the desk open?",
    "🏷️ badge cost and what does the desk do?",
)


class Server:
    """Count tokens as a server does: so many a byte of all it is sent, and of what it writes."""

    def __init__(self, rate, honours=True, reports=True):
        self.rate, self.honours, self.reports = rate, honours, reports
        self.counted, self.calls, self.last = 0, 0, 0

    async def reply(self, path, request):
        self.calls += 1
        sent = "".join(message["content"] for message in request.messages)
        sent += json.dumps(request.schema) + json.dumps(request.tools)
        prompt = self.tokens(sent)
        text = json.dumps(self.object(request))
        written = self.tokens(text)
        if self.honours and written > request.max_tokens:
            text, written = text[: int(request.max_tokens / self.rate)], request.max_tokens
        self.counted += prompt + written
        self.last = prompt + written
        usage = Usage(prompt, written) if self.reports else None
        finish = "length" if written == request.max_tokens else "stop"
        return Reply(text, (), finish, usage)

    def tokens(self, text):
        return math.ceil(size_of(text).total * self.rate)

    def object(self, request):
        padding = "badge " * 2000
        return {
            "rewrite": {"route": "iterative", "standalone": padding, "needs": [], "calls": []},
            "follow": {"calls": [{"tool": "keyword_search", "need": "n1", "arguments": "badge desk"}], "why": padding},
            "grade": {"grades": [{"passage": "S1", "value": "related", "needs": []}], "why": padding},
            "write": {"claims": [{"text": "A badge is 12 EUR now.", "cites": ["S1.2", "S1.1"], "need": "n1"}], "missing": [padding]},
            "judge": {"verdicts": [{"claim": 1, "verdict": "not_found"}], "why": padding},
        }[request.schema_name]  # fmt: skip


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    (home / "docs").mkdir()
    for name, text in FILES.items():
        (home / "docs" / name).write_text(text)
    with Agent.open(home) as opened:
        opened.add(home / "docs")
        yield opened


@pytest.mark.parametrize("tokens", [2000, 8000, 32_000])
@pytest.mark.parametrize("rate", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("reports", [True, False])
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_count_of_a_server_that_honours_its_ceiling_stays_below_the_limit(
    agent, tokens, rate, reports, question
):
    server = Server(rate, reports=reports)
    ran = run(agent, server, question, budget=Budget(tokens=tokens, seconds=600), encoder=False)
    assert server.counted <= tokens
    assert server.counted <= ran.answer.spent["tokens"] <= tokens or reports
    assert not reports or ran.answer.spent["tokens"] == server.counted
    assert ran.answer.text
    assert not any("past the limit" in note for note in ran.answer.notes)


@pytest.mark.parametrize("tokens", [2000, 8000])
@pytest.mark.parametrize("question", QUESTIONS)
def test_an_overshoot_is_one_reply_at_most_charged_named_and_the_last(agent, tokens, question):
    server = Server(0.5, honours=False)
    ran = run(agent, server, question, budget=Budget(tokens=tokens, seconds=600), encoder=False)
    assert ran.answer.spent["tokens"] == server.counted
    assert server.counted - tokens <= server.last
    over = server.counted > tokens
    assert any("past the limit" in note for note in ran.answer.notes) == over
    assert over or server.calls == 0 or tokens > 2000


def test_more_tokens_let_the_model_do_more(agent):
    calls = []
    for tokens in (500, 2000, 8000, 32_000):
        server = Server(0.25)
        run(agent, server, QUESTIONS[1], budget=Budget(tokens=tokens, seconds=600), encoder=False)
        calls.append(server.calls)
    assert calls[0] == 0
    assert calls == sorted(calls)
    assert calls[-1] > 1
