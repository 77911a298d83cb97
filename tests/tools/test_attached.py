"""Attached Chroma collections: documents like any other, never written to, refused where they do not fit."""

import http.server
import os
import shutil
import threading
import time
from hashlib import blake2b

import numpy as np
import pytest
from chroma_servers import chroma_server, write_folder, write_server
from hashing_encoder import HashingEncoder
from quaere.agent.assemble import Agent
from quaere.tools import attached, attached_standing, attached_sync
from quaere.tools.attached_location import read_location
from quaere.tools.attached_sync import attach_source
from quaere.tools.corpus import Corpus
from quaere.tools.errors import EncoderError, QuaereError, SourceUnavailableError
from quaere.tools.evidence import NO_FILTER, OWNER, Access, Span
from quaere.tools.rulebook import Rule, Rulebook
from quaere.tools.sync import IndexSettings, sync_all
from quaere.tools.writer import input_key

SETTINGS = IndexSettings()
TEXTS = {
    "badge": "A replacement badge costs 12 EUR.",
    "notice.md": "# The notice period is three months.",
    "canteen": "The canteen opens at 11.",
    "rooms": " ".join(f"Room {n} has {n} chairs." for n in range(100)),
}


@pytest.fixture
def encoder():
    return HashingEncoder()


@pytest.fixture
def corpus(tmp_path):
    opened = Corpus.create(tmp_path / ".quaere")
    yield opened
    opened.close()


@pytest.fixture
def store(tmp_path, encoder):
    folder = tmp_path / "store"
    write_folder(folder, "notes", {**TEXTS, "blank": None}, encoder)
    return folder


def settle(folder):
    """Make the files of a folder look as if nobody wrote them just now."""
    for path in [folder, *folder.rglob("*")]:
        os.utime(path, ns=(10**18, 10**18))


def bytes_of(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path: (blake2b(path.read_bytes()).digest(), path.stat().st_mtime_ns) for path in files}


def attach(corpus, location, encoder, settings=SETTINGS):
    attach_source(corpus, location, encoder, settings)
    return sync_all(corpus, encoder, settings)


def texts_in(corpus, access=OWNER):
    """Return the stored texts a principal sees, by path."""
    reader = corpus.reader(access, NO_FILTER)
    versions = {one.path: reader.version(one.id) for one in reader.documents()}
    return {path: reader.cut(Span(one.id, 0, 10**6)) for path, one in versions.items()}


class RoundedEncoder(HashingEncoder):
    """The same encoder as another library runs it: a little off."""

    def encode_query(self, text):
        row = super().encode_query(text).round(2)
        return row / np.linalg.norm(row)


def test_records_are_documents_with_the_vectors_they_came_with(corpus, tmp_path, encoder):
    store, theirs = tmp_path / "store", RoundedEncoder()
    write_folder(store, "notes", {**TEXTS, "blank": None}, theirs)
    report = attach(corpus, f"chroma:{store}#notes", encoder)
    assert (report.new, report.skipped, report.failed) == (4, 1, 0)
    assert texts_in(corpus) == TEXTS
    with corpus.reading() as db:
        kept = dict(db.execute("SELECT key, vector FROM vectors"))
    for id in ("badge", "notice.md", "canteen"):
        assert kept[input_key("", TEXTS[id])] == theirs.encode_query(TEXTS[id]).tobytes()
    assert sum(vector == encoder.encode_query(TEXTS["rooms"]).tobytes() for vector in kept.values()) == 0
    assert report.vectors_missing == 0
    assert report.warnings == ("source 'notes': 1 record holds no document text; skipped",)


def test_a_folder_is_read_without_changing_a_byte_and_only_when_it_changed(
    corpus, store, encoder, monkeypatch
):
    settle(store)
    before = bytes_of(store)
    attach(corpus, f"chroma:{store}#notes", encoder)
    reader = corpus.reader(OWNER, NO_FILTER)
    assert set(reader.standing([one.id for one in reader.documents()]).values()) == {"same"}
    assert bytes_of(store) == before
    if not corpus.sources()[0].detail["mark"]:  # files changed within two seconds are read once more
        time.sleep(2.1)
        sync_all(corpus, encoder, SETTINGS)
    monkeypatch.setattr(attached_sync, "attached", lambda *given: pytest.fail("the folder was opened"))
    monkeypatch.setattr(attached_standing, "attached", lambda *given: pytest.fail("the folder was opened"))
    again = sync_all(corpus, encoder, SETTINGS)
    assert (again.unchanged, again.new, again.skipped, again.missing) == (4, 0, 1, ())
    assert set(reader.standing([one.id for one in reader.documents()]).values()) == {"same"}


def test_what_changed_or_went_is_seen_before_it_is_cited_and_after_a_sync(corpus, store, encoder):
    attach(corpus, f"chroma:{store}#notes", encoder)
    reader = corpus.reader(OWNER, NO_FILTER)
    ids = {one.path: one.id for one in reader.documents()}
    write_folder(
        store, "notes", {"badge": "A replacement badge costs 15 EUR.", "new": "New."}, encoder, ["canteen"]
    )
    standing = reader.standing(ids.values())
    assert {path: standing[id] for path, id in ids.items()} == {
        "badge": "changed",
        "canteen": "gone",
        "notice.md": "same",
        "rooms": "same",
    }
    report = sync_all(corpus, encoder, SETTINGS)
    assert (report.new, report.changed, report.deleted, report.unchanged) == (1, 1, 1, 2)
    assert texts_in(corpus)["badge"] == "A replacement badge costs 15 EUR."
    assert "canteen" not in texts_in(corpus)


def test_what_does_not_fit_the_encoder_is_refused_with_the_way_out(corpus, store, encoder):
    write_folder(store, "wide", TEXTS, HashingEncoder(dimension=8))
    write_folder(store, "other", TEXTS, HashingEncoder("other"))
    with pytest.raises(
        EncoderError, match=r"'wide' holds vectors of 8 dimensions .* \(24 dimensions\); set encoder.model"
    ):
        attach_source(corpus, f"chroma:{store}#wide", encoder, SETTINGS)
    with pytest.raises(
        EncoderError, match=r"'other' are not those of .* hashing: .* median cosine is .*; set encoder.model"
    ):
        attach_source(corpus, f"chroma:{store}#other", encoder, SETTINGS)
    assert corpus.sources() == []
    attach(corpus, f"chroma:{store}#notes", encoder)
    write_folder(store, "notes", TEXTS, HashingEncoder("other"))
    report = sync_all(corpus, encoder, SETTINGS)  # measured again: somebody encoded it anew
    assert (report.missing, report.deleted) == (("notes",), 0)
    assert len(texts_in(corpus)) == 4


def test_another_encoder_encodes_the_stored_texts_of_a_collection_it_does_not_fit(corpus, store, encoder):
    attach(corpus, f"chroma:{store}#notes", encoder)
    other = HashingEncoder("other", dimension=16)
    report = sync_all(corpus, other, SETTINGS)
    assert (report.missing, report.vectors_missing, corpus.space) == (("notes",), 0, "other")
    assert "set encoder.model to the model that made them; what was indexed is kept" in report.warnings[0]
    assert texts_in(corpus) == TEXTS
    again = sync_all(corpus, encoder, SETTINGS)
    assert (again.missing, again.vectors_missing, corpus.space) == ((), 0, "hashing")
    assert texts_in(corpus) == TEXTS


def test_a_collection_that_is_away_or_was_made_anew_deletes_nothing(corpus, store, encoder, tmp_path):
    attach(corpus, f"chroma:{store}#notes", encoder)
    shutil.move(store, tmp_path / "away")
    reader = corpus.reader(OWNER, NO_FILTER)
    assert set(reader.standing([one.id for one in reader.documents()]).values()) == {"same"}
    assert reader.away() == ["notes"]
    assert not corpus.overview()[0].is_there
    write_folder(store, "else", {"x": "y"}, encoder)
    for _ in range(2):
        report = sync_all(corpus, encoder, SETTINGS)
        assert (report.missing, report.deleted) == (("notes",), 0)
        assert report.warnings[0].endswith("what was indexed is kept")
        write_folder(store, "notes", {}, encoder)  # there again, but empty and another one
    assert len(texts_in(corpus)) == 4


def test_rules_give_one_set_of_labels_whatever_the_ids_are(corpus, store, encoder):
    write_folder(store, "notes", {"public/bonus": "The bonus pool is 90,000 EUR."}, encoder)
    rules = (Rule(path="public/**", labels={"class": "open"}), Rule(source="notes", labels={"team": "hr"}))
    attach(corpus, f"chroma:{store}#notes", encoder, IndexSettings(rulebook=Rulebook(rules)))
    assert texts_in(corpus, Access("guest", allowed={"class": frozenset({"open"})})) == {}
    assert len(texts_in(corpus, Access("hr", allowed={"team": frozenset({"hr"})}))) == 5
    other = Rulebook((*rules, Rule(source="notes", labels={"team": "all"})))
    sync_all(corpus, encoder, IndexSettings(rulebook=other))
    assert texts_in(corpus, Access("hr", allowed={"team": frozenset({"hr"})})) == {}
    assert texts_in(corpus, Access("guest", allowed={"class": frozenset({"open"})})) == {}


WRONG = {
    "chroma:store": "names no collection",
    "chroma:missing#notes": "there is no Chroma database",
    "chroma:store#note": "did you mean 'notes'",
    "chroma:store#": "is no name of a Chroma collection",
    "chroma+http://user:secret@127.0.0.1:8000#notes": "no user and no password",
    "chroma+http://127.0.0.1:99999#notes": "has no port",
    "chroma+http://127.0.0.1:9/path#notes": "is no address",
    "chroma+http://127.0.0.1:9?table=x#notes": "not 'table'",
    "chroma+http://127.0.0.1:9#notes": "no Chroma server answers",
    "chroma+ftp://127.0.0.1#notes": "is no kind of location",
}


@pytest.mark.parametrize(("location", "said"), WRONG.items())
def test_a_wrong_location_makes_nothing_and_says_why(tmp_path, store, monkeypatch, encoder, location, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("quaere.tools.embed.open_encoder", lambda *given: encoder)
    with Agent.open(tmp_path) as agent:
        with pytest.raises(QuaereError, match=said) as caught:
            agent.add(location)
        assert agent.sources() == []
    assert "secret" not in str(caught.value)
    assert not (tmp_path / "missing").exists()


def test_locations_have_one_spelling():
    spelled = "chroma+http://[::1]:8123?tenant=acme&database=docs#notes"
    assert read_location(spelled).text == spelled
    assert (
        read_location("chroma+http://localhost#notes?tenant=acme").text
        == "chroma+http://localhost:8000?tenant=acme#notes"
    )
    assert read_location("chroma:~/a#b/store#notes").text.endswith("/a#b/store#notes")


def test_a_server_is_read_page_by_page_and_kept_when_it_is_away(corpus, encoder, tmp_path, monkeypatch):
    many = {f"item {n}": f"Item {n} weighs {n} g." for n in range(250)}
    with chroma_server(tmp_path / "served") as (port, process):
        write_server(port, "items", many, encoder)
        report = attach(corpus, f"chroma+http://127.0.0.1:{port}#items", encoder)
        assert (report.new, report.vectors_missing) == (250, 0)
        assert len(encoder.encoded) <= 2 * attached_sync.MERGE_EVERY * 16  # the samples alone
        write_server(port, "items", {"item 7": "Item 7 weighs 70 g."}, encoder, delete=("item 8", "item 9"))
        reader = corpus.reader(OWNER, NO_FILTER)
        ids = {one.path: one.id for one in reader.documents()}
        standing = reader.standing(ids.values())
        assert [standing[ids[f"item {n}"]] for n in (6, 7, 8)] == ["same", "changed", "gone"]
        report = sync_all(corpus, encoder, SETTINGS)
        assert (report.changed, report.deleted, report.unchanged) == (1, 2, 247)
        assert corpus.overview()[0].is_there
        process.kill()
        process.wait()
        report = sync_all(corpus, encoder, SETTINGS)
        assert (report.missing, report.deleted) == (("items",), 0)
        assert "no Chroma server answers" in report.warnings[0]
        assert reader.standing([ids["item 6"]]) == {ids["item 6"]: "same"}
        assert not corpus.overview()[0].is_there


def test_a_token_travels_in_a_header_and_never_in_the_open(monkeypatch):
    heard = []

    class Deaf(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            heard.append(self.headers.get("Authorization"))
            self.send_error(401)

        def log_message(self, *told):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Deaf) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        location = read_location(f"chroma+http://127.0.0.1:{server.server_port}#notes")
        with (
            pytest.raises(SourceUnavailableError, match="Unauthorized") as caught,
            attached.attached(location, "s3cret"),
        ):
            pass
    assert heard == ["Bearer s3cret"]
    assert "s3cret" not in str(caught.value)
    with (
        pytest.raises(SourceUnavailableError, match=r"chroma\+https"),
        attached.attached(read_location("chroma+http://example.org#notes"), "s3cret"),
    ):
        pass


def test_a_collection_that_is_just_being_filled_is_asked_again():
    asked = iter([RuntimeError("Error creating hnsw segment reader: Nothing found on disk")] * 2 + [None])

    def call():
        error = next(asked)
        if error:
            raise error
        return "filled"

    assert attached._patient(call) == "filled"
