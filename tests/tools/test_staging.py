"""A space built beside the one that is searched: nothing is lost meanwhile, and the switch is one step."""

import numpy as np
import pytest
from counting_encoder import CountingEncoder
from quaere.tools.analyze import terms
from quaere.tools.corpus import Corpus
from quaere.tools.errors import EncoderError
from quaere.tools.evidence import OWNER, Filter
from quaere.tools.reader import Ranking
from quaere.tools.spaces import fit_space
from quaere.tools.sync import IndexSettings, add_source, sync_all, sync_source

SETTINGS = IndexSettings()
WORDS = ["amber", "basin", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "jetty", "knoll"]
WORDS += ["ledge", "marsh"]
QUERIES = [["amber"], ["cedar", "fjord"], ["marsh", "page3"], ["ledge"]]


def old(**given):
    return CountingEncoder("old", max_tokens=60, dimension=4, **given)


def new(**given):
    return CountingEncoder("new", max_tokens=30, dimension=9, **given)


def page(n, extra=""):
    lines = [f"{' '.join(WORDS[(n + i) % 13] for i in range(j % 9 + 4))} page{n}." for j in range(12)]
    return f"# Page {n}\n\n{extra}\n\n" + "\n\n".join(lines) + "\n"


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr("quaere.tools.index.BATCH", 2)


@pytest.fixture
def docs(tmp_path):
    root = tmp_path / "docs"
    root.mkdir()
    for n in range(6):
        (root / f"p{n}.md").write_text(page(n))
    return root


@pytest.fixture
def corpus(tmp_path, docs):
    opened = Corpus.create(tmp_path / ".quaere")
    add_source(opened, str(docs))
    sync_all(opened, old(), SETTINGS)
    yield opened
    opened.close()


def seen(corpus, encoder):
    """Return everything an encoder's reader sees: texts by path, keyword and vector rankings."""
    reader = corpus.reader(OWNER, Filter(), ranking=Ranking(space=encoder.fingerprint))
    ids = np.flatnonzero(reader.allowed).tolist()
    places = {i: (one.document.path, one.text) for i, one in reader.readings(ids).items()}
    keyword = [[(places[i], score) for i, score in reader.keyword(query, 99)] for query in QUERIES]
    vector = reader.vector(encoder.encode_query("amber page3"), 99)
    return sorted(places.values()), keyword, [(places[i], score) for i, score in vector]


def fresh(tmp_path, docs, encoder):
    """Return what is seen of the same files, indexed by nothing but this encoder."""
    made = Corpus.create(tmp_path / f"fresh-{len(list(tmp_path.iterdir()))}")
    add_source(made, str(docs))
    sync_all(made, encoder, SETTINGS)
    found = seen(made, encoder)
    made.close()
    return found


def same(found, wanted):
    """Compare rankings whose ties are ordered by ids, which differ between two indexes."""
    assert found[0] == wanted[0]
    assert [sorted(one, key=repr) for one in found[1]] == [sorted(one, key=repr) for one in wanted[1]]
    assert sorted(found[2], key=repr) == sorted(wanted[2], key=repr)


def part_way(corpus, after=4):
    report = sync_all(corpus, new(stop_after=after), SETTINGS)
    assert report.interrupted
    assert report.vectors_missing > 0
    return report


def test_while_a_space_is_built_the_old_one_is_whole(corpus):
    before = seen(corpus, old())
    revision = corpus.revision
    report = part_way(corpus)
    assert report.changed == 6
    assert corpus.revision > revision
    assert corpus.space == "old"
    assert seen(corpus, old()) == before
    assert corpus.vectors_ready("old") == (len(before[0]), len(before[0]))
    assert corpus.vectors_ready("new") == (
        report.vectors_ready,
        report.vectors_ready + report.vectors_missing,
    )


def test_the_next_sync_goes_on_and_switches(tmp_path, corpus, docs):
    report = part_way(corpus)
    going_on = new()
    done = sync_all(corpus, going_on, SETTINGS)
    assert (done.changed, done.unchanged, done.vectors_missing) == (0, 6, 0)
    assert len(going_on.encoded) == report.vectors_missing
    assert (corpus.space, corpus.pending_marks) == ("new", set())
    same(seen(corpus, new()), fresh(tmp_path, docs, new()))
    assert sync_all(corpus, new(), SETTINGS).unchanged == 6


def test_vectors_of_the_old_space_go_after_the_switch(corpus, monkeypatch):
    monkeypatch.setattr("quaere.tools.index.WINDOW", 3)
    sync_all(corpus, new(), SETTINGS)
    assert not corpus.has_other_vectors("new")
    assert corpus.vectors_ready("old")[0] == 0


def test_a_reader_from_before_the_switch_sees_what_it_saw(corpus):
    reader = corpus.reader(OWNER, Filter(), ranking=Ranking(space="old"))
    ids = np.flatnonzero(reader.allowed).tolist()
    before = reader.readings(ids), reader.keyword(terms("amber fjord"), 50)
    sync_all(corpus, new(), SETTINGS)
    assert (reader.readings(ids), reader.keyword(terms("amber fjord"), 50)) == before
    assert not set(np.flatnonzero(corpus.reader(OWNER, Filter()).allowed).tolist()) & set(ids)


def test_the_switch_is_one_revision_and_documents_stay_the_same(corpus):
    ids = {one.path: one.id for one in corpus.reader(OWNER, Filter()).documents()}
    part_way(corpus)
    sync_all(corpus, new(), SETTINGS)
    now = corpus.reader(OWNER, Filter())
    assert {one.path: one.id for one in now.documents()} == ids
    (switch,) = {now.version(id).born for id in ids.values()}
    before = corpus.reader(OWNER, Filter(), switch - 1)
    assert {before.version(id).died for id in ids.values()} == {switch}


def test_going_back_needs_no_sync_and_a_sync_drops_what_was_begun(corpus):
    before = seen(corpus, old())
    part_way(corpus)
    fit_space(corpus, old())
    back = old()
    report = sync_all(corpus, back, SETTINGS)
    assert (report.unchanged, report.vectors_missing, back.encoded) == (6, 0, [])
    assert corpus.pending_marks == set()
    assert not corpus.has_other_vectors("old")
    assert seen(corpus, old()) == before


def test_what_was_begun_for_a_third_encoder_is_dropped(tmp_path, corpus, docs):
    part_way(corpus)
    third = CountingEncoder("third", max_tokens=40)
    sync_all(corpus, third, SETTINGS)
    assert (corpus.space, corpus.pending_marks) == ("third", set())
    same(seen(corpus, third), fresh(tmp_path, docs, third))


def test_a_document_deleted_meanwhile_is_gone_at_once_and_stays_gone(tmp_path, corpus, docs):
    part_way(corpus)
    (docs / "p2.md").unlink()
    part_way(corpus, after=1)
    paths = {path for path, _ in seen(corpus, old())[0]}
    assert (corpus.space, len(paths), "p2.md" in paths) == ("old", 5, False)
    sync_all(corpus, new(), SETTINGS)
    same(seen(corpus, new()), fresh(tmp_path, docs, new()))


def test_a_document_changed_or_renamed_meanwhile_is_right_at_once_and_after(tmp_path, corpus, docs):
    part_way(corpus)
    (docs / "p2.md").write_text(page(2, "Something quite new stands here."))
    (docs / "p3.md").rename(docs / "moved.md")
    (docs / "p9.md").write_text(page(9))
    part_way(corpus, after=1)
    texts = seen(corpus, old())[0]
    assert corpus.space == "old"
    assert any(path == "p2.md" and "quite new" in text for path, text in texts)
    assert {path for path, _ in texts} == {"p0.md", "p1.md", "p2.md", "moved.md", "p4.md", "p5.md", "p9.md"}
    sync_all(corpus, new(), SETTINGS)
    same(seen(corpus, new()), fresh(tmp_path, docs, new()))


def test_a_file_touched_meanwhile_keeps_its_last_look(corpus, docs):
    part_way(corpus)
    (docs / "p2.md").touch()
    sync_all(corpus, new(), SETTINGS)
    stamp = (docs / "p2.md").stat()
    assert corpus.known("docs")["p2.md"].observed.stamp.mtime_ns == stamp.st_mtime_ns


def test_documents_whose_files_are_away_are_searchable_in_the_new_space_as_they_are(corpus, docs):
    before = seen(corpus, old())
    docs.rename(docs.with_name("away"))
    report = sync_all(corpus, new(), SETTINGS)
    assert (report.missing, report.vectors_missing, corpus.space) == (("docs",), 0, "new")
    after = seen(corpus, new())
    assert after[:2] == before[:2]
    assert len(after[2]) == len(before[0])


def test_passages_cut_alike_are_only_encoded(corpus):
    ids = np.flatnonzero(corpus.reader(OWNER, Filter()).allowed).tolist()
    alike = CountingEncoder("alike", max_tokens=60, dimension=7)
    report = sync_all(corpus, alike, SETTINGS)
    assert (report.vectors_missing, corpus.space) == (0, "alike")
    assert len(alike.encoded) == len(ids)
    assert np.flatnonzero(corpus.reader(OWNER, Filter()).allowed).tolist() == ids
    assert sync_all(corpus, alike, SETTINGS).unchanged == 6


def test_settings_changed_with_the_encoder_are_followed_too(tmp_path, corpus, docs):
    settings = IndexSettings(passage_tokens=20)
    before = seen(corpus, old())
    sync_all(corpus, new(stop_after=3), settings)
    assert seen(corpus, old()) == before
    sync_all(corpus, new(), settings)
    assert len({one.mark for one in corpus.known("docs").values()}) == 1
    assert all("target=20 " in one.mark for one in corpus.known("docs").values())


def test_a_sync_of_one_source_builds_the_space_of_all(tmp_path, corpus):
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.md").write_text(page(11))
    add_source(corpus, str(other))
    report = sync_source(corpus, "other", new(), SETTINGS)
    assert (report.seen, report.vectors_missing, corpus.space) == (7, 0, "new")
    assert len({one.mark for one in corpus.known("docs").values()}) == 1


def test_merging_the_keyword_index_keeps_what_is_pending(tmp_path, corpus, docs):
    for n in range(20, 34):
        (docs / f"p{n}.md").write_text(page(n))
    part_way(corpus)
    sync_all(corpus, new(), SETTINGS)
    same(seen(corpus, new()), fresh(tmp_path, docs, new()))


def test_another_encoder_is_refused_in_one_sentence_that_names_both(corpus):
    fit_space(corpus, old())
    fit_space(corpus, None)
    with pytest.raises(EncoderError) as caught:
        fit_space(corpus, new())
    said = str(caught.value)
    assert "old (4 dimensions)" in said
    assert "new (9 dimensions)" in said
    assert "`quaere sync`" in said
    assert "\n" not in said
    assert caught.value.exit_code == 1


def test_an_empty_collection_switches_too(tmp_path, corpus, docs):
    for file in docs.iterdir():
        file.unlink()
    sync_all(corpus, new(), SETTINGS)
    fit_space(corpus, new())
