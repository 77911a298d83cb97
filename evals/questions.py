"""Ask a set of questions of an indexed workspace and count right, wrong and abstained answers.

`python -m quaere.evals.questions WORKSPACE QUESTIONS.jsonl` prints a row a question and the totals. A
question is a JSON line with id, question, answerable and, where answerable, file and evidence (a phrase).
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..agent.assemble import Agent
from ..tools.answer import Answer
from ..tools.plain import plain

ANSWERING = ("answered", "partial", "conflicting")


@dataclass(frozen=True, slots=True)
class Case:
    """A question with the file and the phrase that must be cited, or neither where it has no answer."""

    id: str
    question: str
    file: str | None
    evidence: str | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a question ended: `right`, `wrong file`, `wrong phrase`, `abstained`, `answered`."""

    case: Case
    answer: Answer
    verdict: str

    @property
    def is_right(self) -> bool:
        """Tell whether the answer is what the case asks for."""
        return self.verdict == ("right" if self.case.file else "abstained")


def read_cases(path: Path) -> list[Case]:
    """Read the questions of a JSON Lines file."""
    rows = (json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip())
    return [
        Case(row["id"], row["question"], row["file"] if row["answerable"] else None, row.get("evidence"))
        for row in rows
    ]


def ask_all(agent: Agent, cases: Sequence[Case]) -> list[Outcome]:
    """Ask every question and judge what is cited."""
    outcomes = []
    for case in cases:
        answer = agent.ask(case.question)
        outcomes.append(Outcome(case, answer, judge(case, answer)))
    return outcomes


def judge(case: Case, answer: Answer) -> str:
    """Return how an answer ended, by the text it cites."""
    if answer.status not in ANSWERING:
        return "abstained"
    if case.file is None:
        return "answered"
    cited = [note for note in answer.footnotes if note.document == case.file]
    if not cited:
        return "wrong file"
    phrase = plain(case.evidence or "")
    return "right" if any(phrase in plain(note.quote) for note in cited) else "wrong phrase"


def summary(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return counts of right answers and abstentions, claims an answer, longest citation in characters."""
    answered = [one for one in outcomes if one.answer.status in ANSWERING]
    claims = [len(one.answer.claims) for one in answered]
    quotes = [len(note.quote) for one in answered for note in one.answer.footnotes]
    return {
        "answerable": sum(one.case.file is not None for one in outcomes),
        "right": sum(one.is_right for one in outcomes if one.case.file),
        "unanswerable": sum(one.case.file is None for one in outcomes),
        "abstained": sum(one.is_right for one in outcomes if not one.case.file),
        "claims mean": round(sum(claims) / max(1, len(claims)), 2),
        "claims most": max(claims, default=0),
        "longest citation": max(quotes, default=0),
    }


def main(arguments: Sequence[str]) -> int:
    """Print a row a question and the totals."""
    with Agent.open(arguments[0]) as agent:
        outcomes = ask_all(agent, read_cases(Path(arguments[1])))
    for one in outcomes:
        mark = "ok " if one.is_right else "BAD"
        print(f"{mark} {one.case.id:14} {one.verdict:13} {one.answer.status:10} {one.case.question}")
        if "-v" in arguments or not one.is_right:
            print(f"      {one.answer.text[:600]!r}")
            print(f"      {[(note.document, note.locator.page) for note in one.answer.footnotes]}")
    print(dict(Counter(one.verdict for one in outcomes)), summary(outcomes))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
