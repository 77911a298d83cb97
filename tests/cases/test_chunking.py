"""PR-10 to PR-12 and PR-21: marks of models are plain text; tables, functions and records keep what governs them."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest
from quaere.agent.asking import Question
from quaere.agent.assemble import Agent
from quaere.graphs.policy import Decision, Draft, Grades, Writing
from quaere.graphs.rules import rules
from quaere.tools.corpus import Corpus
from quaere.tools.evidence import NO_FILTER, OWNER
from quaere.tools.sources import add_source
from quaere.tools.sync import IndexSettings, sync_all

TOKENS = ["<|endoftext|>", "<|im_start|>", "<s>", "[CLS]", "<|eot_id|>", "[/INST]", "\x1b[31m"]


@pytest.mark.parametrize("token", TOKENS[:-1])
def test_a_control_token_of_a_model_is_plain_text(workspace, token):
    agent = workspace({"train.md": f"Each sample ends with `{token}`. Turns start with <|im_start|>system."})
    assert agent.sync().unchanged == 1
    answer = agent.ask("Which marker ends each sample?")
    assert token in answer.text
    (note,) = answer.footnotes
    assert token in note.quote


def test_the_control_tokens_of_a_file_do_not_keep_it_out(workspace):
    text = "Each sample ends with <|endoftext|>. Turns start with <|im_start|>system."
    agent = workspace({"train.md": text, "all.txt": " ".join(TOKENS) + " are marks of models."})
    answer = agent.ask("Which marker ends each sample?")
    assert "<|endoftext|>" in answer.text
    assert [note.quote for note in answer.footnotes] == ["Each sample ends with <|endoftext|>."]


NAMES = ("station", "max load kN", "max load kg")
LOADS = [(f"ST-{n:03}", str(100 + n), str(10200 + 114 * n)) for n in range(1, 121)]


def bars(rows):
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|---|---|---|", *lines[1:]]) + "\n"


def grid(rows):
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows[1:])
    head = "".join(f"<th>{cell}</th>" for cell in rows[0])
    return f"<html><body><h1>Loads</h1><table><tr>{head}</tr>{body}</table></body></html>"


def separated(rows):
    out = io.StringIO()
    csv.writer(out, delimiter=";").writerows(rows)
    return out.getvalue()


TABLES = {"loads.md": bars, "loads.csv": separated, "loads.html": grid}


@pytest.mark.parametrize("name", TABLES)
def test_each_row_of_a_long_table_is_read_under_its_header(workspace, name):
    text = TABLES[name]([NAMES, *LOADS])
    agent = workspace({name: text})
    answer = agent.ask("What is the max load of ST-090 in kN?")
    assert "190" in answer.text
    assert "max load kN: 190" in answer.text
    (note,) = answer.footnotes
    assert note.quote.strip("| ").startswith("ST-090")
    if not name.endswith(".html"):
        assert text[note.span.start : note.span.end] == note.quote
    reader = agent.corpus.reader(agent.access, NO_FILTER)
    ids = [i for i, allowed in enumerate(reader.allowed.tolist()) if allowed]
    for reading in reader.readings(ids).values():
        for sentence, above in zip(reading.texts, reading.governing, strict=True):
            assert not sentence.strip("| ").startswith("ST-") or any("max load kN" in line for line in above)


BODY = "".join(f"    delay = min(delay * {n} + 0.25, 90.0)  # step {n}\n" for n in range(2, 68))
FUNCTION = (
    "def retry_delay(attempt):\n    if attempt == 0:\n        return 0.25\n    delay = 0.25\n"
    f"{BODY}    return min(delay, 30.0)\n"
)


def reads_code():
    """Give a policy that reads as a model would: the last return, with the signature it was given along."""
    seen = []

    async def grade(view):
        return Decision(
            "grade", Grades({}, tuple(need.id for need in view.needs), "sufficient"), "read", "script"
        )

    async def write(view):
        drafts = []
        for item in view.evidence:
            for j, text in enumerate(item.reading.texts):
                if "30.0" in text:
                    seen.append((item.reading, j))
                    draft = Draft("return min(delay, 30.0)", (f"S{item.s}.{j + 1}",), need=view.needs[0].id)
                    drafts.append(draft)
        return Decision("write", Writing(tuple(drafts[:1])), "read", "script")

    return replace(rules, name="script", grade=grade, write=write), seen


@pytest.mark.parametrize("name", ["retry.md", "retry.py"])
def test_the_last_line_of_a_long_function_is_read_under_its_signature(workspace, name):
    text = f"# Retries\n\n```python\n{FUNCTION}```\n" if name.endswith(".md") else FUNCTION
    agent = workspace({name: text, "other.md": "Visitors sign in at door 2."})
    policy, seen = reads_code()
    answer = agent.answer(Question("What is the largest value retry_delay can return?", policy=policy))
    assert answer.text == "return min(delay, 30.0) [1]"
    (note,) = answer.footnotes
    assert note.quote.endswith("return min(delay, 30.0)")
    assert text[note.span.start : note.span.end] == note.quote
    reading, j = seen[0]
    assert "def retry_delay(attempt):" in reading.governing[j]
    assert "```" not in reading.text


@pytest.mark.parametrize("name", ["retry.md", "retry.py"])
def test_half_a_function_is_never_told_as_the_whole(workspace, name):
    text = f"# Retries\n\n```python\n{FUNCTION}```\n" if name.endswith(".md") else FUNCTION
    agent = workspace({name: text, "other.md": "Visitors sign in at door 2."})
    answer = agent.ask("What is the largest value retry_delay can return?")
    assert answer.status == "abstained" or "30.0" in answer.text
    hits = agent.search("the last return of retry_delay", k=3).hits
    assert any("30.0" in hit.reading.text for hit in hits)


def test_six_thousand_lines_are_six_thousand_records(tmp_path):
    lines = [json.dumps({"text": f"Item {n:04} weighs {n} g."}) for n in range(1, 6001)]
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "items.jsonl").write_text("\n".join(lines) + "\n")
    corpus = Corpus.create(tmp_path / ".quaere")
    add_source(corpus, str(docs))
    report = sync_all(corpus, None, IndexSettings())
    assert (report.seen, report.new, report.failed) == (1, 1, 0)
    reader = corpus.reader(OWNER, NO_FILTER)
    ids = [i for i, allowed in enumerate(reader.allowed.tolist()) if allowed]
    texts = [text for one in reader.readings(ids).values() for text in one.texts]
    assert sorted(texts) == lines
    corpus.close()
    with Agent.open(tmp_path) as agent:
        answer = agent.ask("What does item 5999 weigh?")
    assert "5999 g" in answer.text
    (note,) = answer.footnotes
    assert (note.quote, note.locator.element) == (lines[5998], "record 5999")


YEARS = [("Entity", "Year", "Deaths"), *[(e, str(y), str(n)) for n, (e, y) in enumerate(
    [(e, y) for e in ("Drought", "Earthquake", "Flood") for y in range(1970, 1980)], 1200)]]  # fmt: skip


@pytest.mark.parametrize("name", ["deaths.csv", "deaths.md", "deaths.jsonl"])
def test_rows_of_one_table_with_other_keys_do_not_disagree(workspace, name):
    records = "\n".join(json.dumps(dict(zip(YEARS[0], row, strict=True))) for row in YEARS[1:])
    agent = workspace(
        {name: {"csv": separated, "md": bars}.get(name.split(".")[1], lambda rows: records)(YEARS)}
    )
    answer = agent.ask("How many deaths by earthquake in 1976?")
    assert (answer.status, answer.conflicts) == ("answered", ())
    assert answer.text.startswith("Entity: Earthquake; Year: 1976; Deaths: 1216")


def test_two_tables_that_differ_in_what_is_asked_disagree(workspace):
    agent = workspace(
        {"a.csv": "item,fee\nbadge,12 EUR\nkey,5 EUR\n", "b.csv": "item,fee\nbadge,15 EUR\nkey,5 EUR\n"}
    )
    answer = agent.ask("What is the fee of a badge?")
    assert answer.status == "conflicting"
    assert {note.document for note in answer.footnotes} == {"a.csv", "b.csv"}
    assert agent.ask("What is the fee of a key?").status == "answered"


def test_a_short_command_is_told_with_the_sentence_that_leads_it_in(workspace):
    agent = workspace(
        {
            "tool.rst": "Tool\n====\n\nYou can install the tool with Homebrew::\n\n    brew install tool\n\nThen run it.\n"
        }
    )
    answer = agent.ask("How can I install the tool with Homebrew?")
    assert answer.text.startswith("You can install the tool with Homebrew: brew install tool [1]")
    assert [note.quote for note in answer.footnotes][-1] == "brew install tool"


def test_the_beginning_of_a_long_listing_is_not_told_as_if_it_were_whole(workspace):
    agent = workspace(
        {
            "retry.md": f"# Retries\n\nThe delay of a retry is computed by this function:\n\n```python\n{FUNCTION}```\n"
        }
    )
    answer = agent.ask("How is the delay of a retry computed?")
    assert "min(delay" not in answer.text
