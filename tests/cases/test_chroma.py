"""Reported cases of vector stores: PR-21 (more records than a batch holds), PR-22 (another encoder)."""

from hashlib import blake2b

import pytest
from hashing_encoder import HashingEncoder
from quaere.agent.assemble import Agent
from quaere.tools import chroma
from quaere.tools.chroma_check import compare
from quaere.tools.chroma_stamp import read_stamp
from quaere.tools.errors import EncoderError

RECORDS = 6000
"""More than Chroma takes at once (5,461 where this was written)."""


@pytest.fixture
def encoder(monkeypatch):
    """Give the list whose first item is the encoder that is configured."""
    installed = [HashingEncoder()]
    monkeypatch.setattr("quaere.tools.embed.open_encoder", lambda *given: installed[0])
    return installed


def opened(folder):
    return Agent.open(folder, overrides={"search.vector_engine": "auto"})


def test_pr21_six_thousand_records_go_in_and_are_found(tmp_path, encoder, monkeypatch):
    monkeypatch.setattr(chroma, "BATCH", 2 * RECORDS)  # so that the limit of the store itself counts
    encoder[0] = HashingEncoder(max_tokens=10)  # a passage a line
    docs, home = tmp_path / "docs", tmp_path / "home"
    docs.mkdir()
    home.mkdir()
    lines = (f"Item {n:04} weighs {n} g." for n in range(1, RECORDS + 1))
    (docs / "items.txt").write_text("\n\n".join(lines))
    with opened(home) as agent:
        report = agent.add(docs)
        assert (report.passages, report.vectors_ready, report.warnings) == (RECORDS, RECORDS, ())
        assert read_stamp(home / ".quaere").count == RECORDS
        assert compare(home / ".quaere") == ()
        found = agent.search("What does item 5999 weigh?")
        best = next(hit for hit in found.hits if hit.ranks["keyword"] == 1)
        assert (found.engine, best.reading.text) == ("chroma", "Item 5999 weighs 5999 g.")
        answer = agent.ask("What does item 5999 weigh?")
    assert (answer.status, "5999 g" in answer.text) == ("answered", True)


def test_pr22_another_encoder_is_one_sentence_and_changes_nothing(tmp_path, encoder):
    docs, home = tmp_path / "docs", tmp_path / "home"
    docs.mkdir()
    home.mkdir()
    (docs / "badge.md").write_text("A replacement badge costs 12 EUR.\n")
    with opened(home) as agent:
        agent.add(docs)
    before = contents(home)
    first, encoder[0] = encoder[0], HashingEncoder("wider", dimension=32)
    with opened(home) as agent:
        for act in (agent.ask, agent.search):
            with pytest.raises(EncoderError) as caught:
                act("What does a badge cost?")
            said = str(caught.value)
            assert "\n" not in said
            assert all(part in said for part in ("hashing", "24", "wider", "32", "`quaere sync`"))
    assert contents(home) == before
    encoder[0] = first
    with opened(home) as agent:
        assert agent.search("badge").engine == "chroma"
        assert agent.ask("What does a replacement badge cost?").status == "answered"
    encoder[0] = HashingEncoder("wider", dimension=32)
    with opened(home) as agent:
        agent.sync()  # the way out: the collection of the first encoder gives way to one of the second
        assert agent.search("badge").engine == "chroma"
    assert compare(home / ".quaere") == ()


def contents(home):
    """Return the files of a workspace by hash, but for what SQLite keeps beside a database that is open."""
    files = [path for path in (home / ".quaere").rglob("*") if path.is_file()]
    kept = [path for path in files if not path.name.endswith(("-shm", "-wal"))]
    return {path: blake2b(path.read_bytes()).hexdigest() for path in kept}
