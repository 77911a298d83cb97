"""A watched policy decides as before and tells why."""

from __future__ import annotations

from pathlib import Path

from quaere.agent.assemble import Agent, Question
from quaere.agent.watch import watched
from quaere.graphs.rules import rules


def test_watching_tells_every_decision_and_changes_none(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "permits.md").write_text("# Permits\n\nPermit S-101 allows 12 docks.\n", "utf-8")
    told: list[str] = []
    question = "How many docks does permit S-101 allow?"
    with Agent.open(tmp_path) as agent:
        agent.add(str(docs))
        plain = agent.answer(Question(question))
        watching = agent.answer(Question(question, policy=watched(rules, told.append)))
    assert watching.text == plain.text
    assert [line.partition(":")[0] for line in told][:4] == ["route", "rewrite", "grade", "write"]
    assert all("by rules" in line and "\n" not in line for line in told)
    assert any(question in line for line in told)
