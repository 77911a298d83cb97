"""PR-18 to PR-20 and PR-22: what is deleted, reshaped, renamed or encoded anew is right in every store."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from quaere.agent.assemble import Agent
from quaere.agent.remembered import turn_of
from quaere.tools.errors import EncoderError
from quaere.tools.evidence import NO_FILTER
from tiny_model import build_tiny_model

ENTRANCES = {
    "old.md": "The night entrance is door 9.",
    "new.md": "Visitors sign in at door 2.",
}
NIGHT = "Which door is the night entrance?"

PAIRS = [
    ({"a.md": "The spare key hangs in locker 31.", "b.md": "Bicycles stand in hall B."}, "a.md",
     "Where does the spare key hang?", "31"),
    ({"fees/2023.md": "A parking permit costs 48 EUR.", "fees/x.md": "Dogs are not allowed."}, "fees/2023.md",
     "What does a parking permit cost?", "48"),
    ({"n.txt": "The duty phone has the number 5512.", "m.txt": "The kitchen opens at nine."}, "n.txt",
     "What is the number of the duty phone?", "5512"),
]  # fmt: skip


def stores(agent):
    """Return paths and words of what each store holds: keyword index, matrix of vectors."""
    reader = agent.corpus.reader(agent.access, NO_FILTER)
    keyword = {id for id, _ in reader.keyword(["door", "key", "cost", "phone", "permit", "number"], 999)}
    vector = {id for id, _ in reader.vector(agent.encoder.encode_query("door key cost phone"), 999)}
    return {one.document.path for one in reader.readings(sorted(keyword | vector)).values()}


@pytest.mark.parametrize(("files", "gone", "question", "secret"), [(ENTRANCES, "old.md", NIGHT, "9"), *PAIRS])
def test_a_deleted_document_answers_nothing_in_any_store(workspace, tmp_path, files, gone, question, secret):
    agent = workspace(files)
    first = agent.ask(question)
    assert secret in first.text
    (tmp_path / "docs0" / gone).unlink()
    report = agent.sync()
    assert (report.deleted, report.unchanged) == (1, len(files) - 1)
    later = agent.ask(question, history=[turn_of(question, first)])
    assert later.status == "abstained"
    assert secret not in later.text
    assert later.footnotes == ()
    assert gone not in stores(agent)
    with Agent.open(tmp_path / "home0") as restarted:
        assert gone not in stores(restarted)
        assert restarted.ask(question).status == "abstained"
        assert gone not in {hit.reading.document.path for hit in restarted.search(question, k=50).hits}


def test_a_folder_that_is_not_there_deletes_nothing(workspace, tmp_path):
    agent = workspace(ENTRANCES)
    (tmp_path / "docs0").rename(tmp_path / "unmounted")
    report = agent.sync()
    assert (report.deleted, report.missing) == (0, ("docs0",))
    assert any("what was indexed is kept" in warning for warning in report.warnings)
    for _ in range(2):
        answer = agent.ask(NIGHT)
        assert "door 9" in answer.text
        assert any("'docs0' is not there now" in note for note in answer.notes)
        (tmp_path / "docs0").mkdir(exist_ok=True)  # what is left where a disk was mounted
        assert agent.sync().deleted == 0


PAGES = {
    f"page{n}.md": f"# Page {n}\n\n"
    + "\n\n".join(
        f"Paragraph {i} of page {n} says that shelf {n}{i} holds {i + 3} crates of apples, pears and plums."
        for i in range(40)
    )
    for n in range(3)
}


@pytest.mark.parametrize(("before", "after"), [(100, 200), (200, 60), (200, 100)])
def test_changed_settings_shape_every_unchanged_file_anew(tmp_path, before, after):
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "docs").mkdir()
    for name, text in PAGES.items():
        (tmp_path / "docs" / name).write_text(text)
    with Agent.open(home, overrides={"corpus.passage_tokens": before}) as agent:
        cut = agent.add(tmp_path / "docs").passages
    with Agent.open(home, overrides={"corpus.passage_tokens": after}) as agent:
        report = agent.sync()
        assert (report.changed, report.unchanged, report.vectors_missing) == (3, 0, 0)
        assert (report.passages < cut) == (after > before)
        assert len({one.mark for one in agent.corpus.known("docs").values()}) == 1
        assert agent.sync().unchanged == 3
        answer = agent.ask("How many crates does shelf 217 hold?")
    assert "20 crates" in answer.text


DELIVERY = {"terms_may.md": "Delivery takes 4 days.", "other.md": "Visitors sign in at door 2."}


@pytest.mark.parametrize("to", ["terms_june.md", "archive/2024/terms.md", "terms_may.markdown"])
def test_a_renamed_document_is_one_document_under_its_new_name(workspace, tmp_path, to):
    agent = workspace(DELIVERY)
    target = tmp_path / "docs0" / to
    target.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "docs0" / "terms_may.md").rename(target)
    report = agent.sync()
    assert (report.renamed, report.new, report.deleted) == (1, 0, 0)
    answer = agent.ask("How long is delivery?")
    assert "4 days" in answer.text
    assert [note.document for note in answer.footnotes] == [to]
    hits = agent.search("delivery days", k=50).hits
    assert [hit.reading.document.path for hit in hits].count(to) == 1
    assert "terms_may.md" not in {hit.reading.document.path for hit in hits}
    reader = agent.corpus.reader(agent.access, NO_FILTER)
    assert int(reader.allowed.sum()) == 2


@pytest.fixture(scope="module")
def other_encoder(tmp_path_factory):
    """The folder of a small model of another dimension than the default one's 384."""
    return build_tiny_model(tmp_path_factory.mktemp("tiny"))


BADGE = "What does a badge cost?"


def rows(home):
    """Return everything `corpus.db` holds, table by table."""
    with closing(sqlite3.connect(home / ".quaere" / "corpus.db")) as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {table: db.execute(f"SELECT * FROM {table}").fetchall() for table in sorted(tables)}


def test_another_encoder_than_the_index_has_is_one_sentence_and_changes_nothing(
    workspace, tmp_path, other_encoder
):
    agent, home = workspace({"badge.md": "A replacement badge costs 12 EUR."}), tmp_path / "home0"
    before = rows(home)
    with Agent.open(home, overrides={"encoder.model": str(other_encoder)}) as other:
        for call in (lambda: other.ask(BADGE), lambda: other.search(BADGE)):
            with pytest.raises(EncoderError) as caught:
                call()
            said = str(caught.value)
            assert "\n" not in said
            assert "all-MiniLM-L6-v2 (384 dimensions)" in said
            assert f"{other_encoder} (32 dimensions)" in said
            assert "`quaere sync`" in said
    assert rows(home) == before
    with Agent.open(home) as back:
        assert "12 EUR" in back.ask(BADGE).text
    assert agent.sync().unchanged == 1


def test_a_sync_builds_the_space_of_the_new_encoder_and_of_the_old_one_again(
    workspace, tmp_path, other_encoder
):
    agent, home = workspace({"badge.md": "A replacement badge costs 12 EUR."}), tmp_path / "home0"
    with Agent.open(home, overrides={"encoder.model": str(other_encoder)}) as other:
        report = other.sync()
        assert (report.vectors_ready, report.vectors_missing) == (1, 0)
        assert "12 EUR" in other.ask(BADGE).text
    with pytest.raises(EncoderError, match="built with"):
        agent.ask(BADGE)
    assert agent.sync().vectors_missing == 0
    assert "12 EUR" in agent.ask(BADGE).text


@pytest.mark.parametrize(
    ("text", "question", "words"),
    [
        ("# Badges\n\nA replacement badge costs 12 EUR.\n", BADGE, "12 EUR"),
        ("# Doors\n\n- Visitors: door 2\n- Night shift: door 9\n", "Which door is for the night shift?", "9"),
    ],
)
def test_a_citation_opens_the_text_it_was_made_from_whatever_became_of_the_file(
    workspace, tmp_path, other_encoder, text, question, words
):
    agent = workspace({"a.md": text, "b.md": "Parcels arrive by noon."})
    notes = agent.ask(question).footnotes
    assert any(words in note.quote for note in notes)
    (tmp_path / "docs0" / "a.md").write_text("# Other\n\nNothing of it is left.\n")
    assert agent.sync().changed == 1
    with Agent.open(tmp_path / "home0", overrides={"encoder.model": str(other_encoder)}) as other:
        other.sync()
    (tmp_path / "docs0" / "a.md").rename(tmp_path / "docs0" / "c.md")
    assert agent.sync().renamed == 1
    reader = agent.corpus.reader(agent.access, NO_FILTER)
    for note in notes:
        assert reader.cut(note.span) == note.quote
        assert reader.locate(note.span) == note.locator
    assert words not in " ".join(hit.reading.text for hit in agent.search(question).hits)
    (tmp_path / "docs0" / "c.md").unlink()
    agent.sync()
    assert {agent.corpus.reader(agent.access, NO_FILTER).cut(note.span) for note in notes} == {""}


def test_answers_say_how_many_vectors_are_ready_until_a_sync_brings_the_rest(tmp_path, monkeypatch):
    monkeypatch.setattr("quaere.tools.index.BATCH", 2)
    (tmp_path / "home").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "badge.md").write_text("A replacement badge costs 12 EUR.")
    for n in range(9):
        (tmp_path / "docs" / f"p{n}.md").write_text(
            f"# Shelf {n}\n\nShelf {n} holds {n + 3} crates of pears."
        )

    def stop(stage, done, total, detail):
        if stage == "encode" and done >= 6:
            raise KeyboardInterrupt

    with Agent.open(tmp_path / "home") as agent:
        report = agent.add(tmp_path / "docs", stop)
        assert (report.interrupted, report.vectors_ready, report.vectors_missing) == (True, 6, 4)
        answer = agent.ask(BADGE)
        assert "12 EUR" in answer.text
        assert "vectors 60 % ready: run `quaere sync`" in answer.notes
        assert agent.sync().vectors_missing == 0
        assert not any("ready" in note for note in agent.ask(BADGE).notes)
