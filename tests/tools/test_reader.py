import os
import tempfile
import threading
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quaere.tools.corpus import Corpus
from quaere.tools.draft import Draft, File
from quaere.tools.errors import QuaereError, SourceUnavailableError
from quaere.tools.evidence import OWNER, Access, Block, Filter, Locator, Parsed, Span, Validity
from quaere.tools.reader import Ranking
from quaere.tools.split import PassageCut, SentenceCut, Split
from quaere.tools.standing import Observation, Stamp, content_hash
from quaere.tools.writer import input_key

GUESTS = Access(
    "ana", frozenset({"staff"}), {"level": frozenset({"open", "staff"}), "team": frozenset({"red"})}
)


@dataclass(frozen=True)
class Case:
    """A document of a random corpus, with `lines` that become one passage each."""

    source: str = "docs"
    path: str = "a.md"
    labels: tuple[tuple[str, str], ...] = ()
    lines: tuple[str, ...] = ("alpha beta",)
    valid_from: str | None = None
    valid_until: str | None = None


def draft_of(case):
    text, sentences, passages = "", [], []
    for at, line in enumerate(case.lines):
        start = len(text)
        text += f"{line}\n\n"
        place = Locator(page=at + 1, heading=("H", str(at // 2)))
        sentences.append(SentenceCut(start, start + len(line), "prose", ((0, 1),), place))
        section = (0, 10_000) if at < 2 else (1, 10_000)
        passages.append(PassageCut(start, start + len(line), ("H",), at, at + 1, section, "P"))
    return Draft(
        file=File(case.source, case.path, case.path.encode()),
        observed=Observation(Stamp(len(text), 1, 1), 10**18, content_hash(text.encode())),
        parsed=Parsed(text, (Block("paragraph", 0, len(text)),), f"T {case.path}", "text/plain", "text/1"),
        split=Split(tuple(sentences), tuple(passages)),
        parser="text/1",
        mark="split/1",
        terms=[line.split() for line in case.lines],
        labels=dict(case.labels),
        validity=Validity(case.valid_from, case.valid_until),
    )


def put(corpus, case):
    with corpus.write() as writer:
        return writer.put_document(draft_of(case))


def delete(corpus, document):
    with corpus.write() as writer:
        writer.delete_document(document)


@pytest.fixture
def corpus(tmp_path):
    opened = Corpus.create(tmp_path / ".quaere")
    yield opened
    opened.close()


def visible(reader):
    return sorted(np.flatnonzero(reader.allowed).tolist())


cases = st.builds(
    Case,
    source=st.sampled_from(["docs", "wiki"]),
    path=st.sampled_from(["a.md", "b.md", "guide/a.md", "guide/deep/c.txt", "x.txt"]),
    labels=st.dictionaries(
        st.sampled_from(["level", "team"]), st.sampled_from(["open", "secret", "red", "staff"]), max_size=2
    ).map(lambda labels: tuple(sorted(labels.items()))),
    lines=st.lists(st.sampled_from(["alpha", "beta gamma", "alpha alpha"]), min_size=1, max_size=3).map(
        tuple
    ),
    valid_from=st.none() | st.sampled_from(["2024-01-01", "2025-06-01"]),
    valid_until=st.none() | st.sampled_from(["2024-12-31", "2025-12-31"]),
)
accesses = st.sampled_from(
    [OWNER, Access("nobody"), GUESTS, Access("bo", allowed={"team": frozenset({"red"})})]
)
filters = st.builds(
    Filter,
    sources=st.sampled_from([(), ("docs",), ("wiki", "none")]),
    paths=st.sampled_from([(), ("*.md",), ("guide",), ("guide/*.md", "x.txt"), ("**/c.txt",)]),
    labels=st.sampled_from([{}, {"level": ("open",)}, {"level": ("open", "staff"), "team": ("red",)}]),
    valid_at=st.none() | st.just(date(2025, 1, 1)),
)
PATHS = {
    (): lambda path: True,
    ("*.md",): lambda path: path.endswith(".md"),
    ("guide",): lambda path: path.startswith("guide/"),
    ("guide/*.md", "x.txt"): lambda path: path in ("guide/a.md", "x.txt"),
    ("**/c.txt",): lambda path: path == "guide/deep/c.txt",
}


def expected(case, access, narrow):
    labels = dict(case.labels)
    readable = access.principal == "owner" or (
        bool(labels) and all(value in access.allowed.get(key, ()) for key, value in labels.items())
    )
    return (
        readable
        and (not narrow.sources or case.source in narrow.sources)
        and PATHS[narrow.paths](case.path)
        and all(labels.get(key) in values for key, values in narrow.labels.items())
        and (narrow.valid_at is None or not case.valid_from or case.valid_from <= "2025-01-01")
        and (narrow.valid_at is None or not case.valid_until or case.valid_until >= "2025-01-01")
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(cases, max_size=8), st.sets(st.integers(0, 7), max_size=3), accesses, filters)
def test_reader_sees_exactly_what_access_and_filter_admit(documents, deleted, access, narrow):
    with tempfile.TemporaryDirectory() as folder:
        corpus = Corpus.create(Path(folder) / ".quaere")
        standing = {}
        for case in documents:
            standing[(case.source, case.path)] = (case, put(corpus, case))
        for at, key in enumerate(list(standing)):
            if at in deleted:
                document = corpus.known(key[0])[key[1]].document
                delete(corpus, document)
                del standing[key]
        reader = corpus.reader(access, narrow)
        seen = [case for case, _ in standing.values() if expected(case, access, narrow)]
        assert {(d.source, d.path) for d in reader.documents()} == {(c.source, c.path) for c in seen}
        ids = visible(reader)
        assert len(ids) == sum(len(case.lines) for case in seen)
        everything = list(range(-1, 40))
        assert sorted(reader.passages(everything)) == ids
        assert sorted(reader.readings(everything)) == ids
        found = {id for id, _ in reader.keyword(["alpha"], 50)}
        assert found == {id for id, reading in reader.readings(ids).items() if "alpha" in reading.text}
        assert reader.document_frequency(["alpha"])["alpha"] == len(found)
        assert set(reader.titles(50)) == {f"T {case.path}" for case in seen}
        corpus.close()


def test_reading_carries_texts_governing_texts_and_place(corpus):
    put(corpus, Case(lines=("first line", "second line")))
    reading = corpus.reader(OWNER, Filter()).readings([2])[2]
    assert reading.text == "second line"
    assert reading.texts == ("second line",)
    assert reading.governing == (("f",),)
    assert reading.locator == Locator(page=2, heading=("H", "0"))
    assert reading.passage.sentences == (1, 2)
    assert reading.sentences[0].ordinal == 1
    assert reading.document.title == "T a.md"


def test_passages_come_in_the_order_asked_and_once(corpus):
    put(corpus, Case(lines=("a", "b", "c")))
    assert list(corpus.reader(OWNER, Filter()).passages([3, 1, 3, 99])) == [3, 1]


def test_neighbours_stay_inside_the_document(corpus):
    put(corpus, Case(path="a.md", lines=("a", "b", "c")))
    put(corpus, Case(path="b.md", lines=("d", "e")))
    reader = corpus.reader(OWNER, Filter())
    assert reader.neighbours(2, 5, 5) == [1, 3]
    assert reader.neighbours(3, 1, 1) == [2]
    assert reader.neighbours(4, 1, 1) == [5]
    assert reader.neighbours(99, 1, 1) == []
    assert reader.section(1) == [1, 2]
    assert reader.section(3) == [3]
    assert reader.document_passages(2) == [4, 5]


def test_locate_finds_the_place_of_any_span(corpus):
    version = put(corpus, Case(lines=("aaaa", "bbbb", "cccc")))
    reader = corpus.reader(OWNER, Filter())
    assert reader.locate(Span(version, 6, 8)) == Locator(page=2, heading=("H", "0"))
    assert reader.locate(Span(version, 2, 14)) == Locator(page=1, last_page=3, heading=("H", "0"))
    assert reader.locate(Span(version, 500, 501)) == Locator()
    assert reader.cut(Span(version, 6, 10)) == "bbbb"


def test_what_may_not_be_read_cannot_be_cut_or_located(corpus):
    version = put(corpus, Case(labels=(("level", "secret"),)))
    reader = corpus.reader(GUESTS, Filter())
    assert reader.cut(Span(version, 0, 5)) == ""
    assert reader.locate(Span(version, 0, 5)) == Locator()
    assert reader.version(1) is None
    assert reader.standing([1]) == {1: "gone"}
    assert reader.neighbours(1, 1, 1) == reader.section(1) == reader.document_passages(1) == []


def test_a_pinned_reader_keeps_a_replaced_version_and_sees_nothing_newer(corpus):
    put(corpus, Case(lines=("old",)))
    reader = corpus.reader(OWNER, Filter())
    put(corpus, Case(lines=("new",)))
    put(corpus, Case(path="other.md", lines=("new",)))
    assert [reading.text for reading in reader.readings([1, 2, 3]).values()] == ["old"]
    later = corpus.reader(OWNER, Filter(), reader.revision)
    assert visible(later) == visible(reader) == [1]


def test_a_tombstone_overrides_the_pin_at_once(corpus):
    put(corpus, Case(lines=("old",)))
    reader = corpus.reader(OWNER, Filter())
    assert reader.keyword(["old"], 5)
    delete(corpus, 1)
    assert visible(reader) == []
    assert reader.readings([1]) == {}
    assert reader.keyword(["old"], 5) == []
    assert reader.cut(Span(1, 0, 3)) == ""
    assert reader.standing([1]) == {1: "gone"}


def test_an_empty_corpus_reads_as_empty(corpus):
    reader = corpus.reader(OWNER, Filter())
    assert visible(reader) == []
    assert reader.keyword(["word"], 5) == []
    assert reader.vector(np.ones(4, np.float32), 5) == []
    assert reader.documents() == []


def test_vector_search_keeps_to_the_mask(corpus):
    put(corpus, Case(path="a.md", lines=("one",), labels=(("level", "open"),)))
    put(corpus, Case(path="b.md", lines=("two",)))
    with corpus.write() as writer:
        writer.put_vectors(
            "s",
            [
                (input_key("P", "one"), np.array([0.6, 0.8], np.float32)),
                (input_key("P", "two"), np.array([1, 0], np.float32)),
            ],
        )
    ranking = Ranking(space="s")
    query = np.array([1, 0], np.float32)
    owned = corpus.reader(OWNER, Filter(), ranking=ranking).vector(query, 5)
    assert [id for id, _ in owned] == [2, 1]
    assert owned[1][1] == pytest.approx(0.6, abs=1e-3)
    assert [id for id, _ in corpus.reader(GUESTS, Filter(), ranking=ranking).vector(query, 5)] == [1]


def file_version(tmp_path, corpus, text="alpha\n"):
    root = tmp_path / "docs"
    root.mkdir()
    (root / "a.md").write_text(text)
    case = draft_of(Case(lines=("alpha",)))
    stamp = Stamp.of(os.stat(root / "a.md"))
    observed = Observation(stamp, stamp.mtime_ns, content_hash(text.encode()))
    with corpus.write() as writer:
        writer.put_source("docs", os.fsencode(root), root.stat().st_ino)
        writer.put_document(
            Draft(case.file, observed, case.parsed, case.split, case.parser, case.mark, case.terms)
        )
    return root / "a.md"


def test_standing_follows_the_file_on_disk(tmp_path, corpus):
    file = file_version(tmp_path, corpus)
    reader = corpus.reader(OWNER, Filter())
    assert reader.standing([1, 7]) == {1: "same", 7: "gone"}
    file.write_text("omega\n")
    assert reader.standing([1]) == {1: "changed"}
    file.write_text("alpha\n")
    os.utime(file, ns=(1, 1))
    assert reader.standing([1]) == {1: "same"}
    file.unlink()
    assert reader.standing([1]) == {1: "gone"}


def test_files_of_a_folder_that_is_away_are_not_gone(tmp_path, corpus):
    root = file_version(tmp_path, corpus).parent
    reader = corpus.reader(OWNER, Filter())
    assert reader.away() == []
    root.rename(tmp_path / "elsewhere")
    assert (reader.standing([1]), reader.away()) == ({1: "same"}, ["docs"])
    root.mkdir()  # what is left where a disk was mounted
    assert (reader.standing([1]), reader.away()) == ({1: "same"}, ["docs"])
    (root / "b.md").write_text("beta\n")
    assert (reader.standing([1]), reader.away()) == ({1: "gone"}, [])


def test_what_is_away_is_not_told_to_those_who_see_nothing_of_it(tmp_path, corpus):
    file_version(tmp_path, corpus).parent.rename(tmp_path / "elsewhere")
    assert corpus.reader(GUESTS, Filter()).away() == []


def test_a_change_within_the_same_clock_tick_is_seen(tmp_path, corpus):
    file = file_version(tmp_path, corpus)
    before = file.stat()
    file.write_text("gamma\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert corpus.reader(OWNER, Filter()).standing([1]) == {1: "changed"}


def test_interrupt_stops_a_running_call_with_one_sentence(corpus):
    put(corpus, Case(lines=("alpha",)))
    reader = corpus.reader(OWNER, Filter())
    caught, running = [], threading.Event()

    def run():
        try:
            with reader._reading() as db:
                running.set()
                db.execute(
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
                ).fetchone()
        except QuaereError as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    running.wait()
    while thread.is_alive():
        reader.interrupt()
        thread.join(0.05)
    assert isinstance(caught[0], SourceUnavailableError)
    assert reader.keyword(["alpha"], 1)
