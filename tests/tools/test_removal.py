import numpy as np
import pytest
from quaere.tools.analyze import terms
from quaere.tools.corpus import Corpus
from quaere.tools.errors import UsageError
from quaere.tools.evidence import OWNER, Filter
from quaere.tools.index import IndexSettings
from quaere.tools.removal import Choice, remove
from quaere.tools.sync import add_source, sync_all

SETTINGS = IndexSettings()


@pytest.fixture
def docs(tmp_path):
    root = tmp_path / "docs"
    (root / "old").mkdir(parents=True)
    (root / "badge.md").write_text("# Badge\n\nA badge costs 12 EUR.\n")
    (root / "old" / "badge.md").write_text("# Badge\n\nA badge costs 10 EUR.\n")
    (root / "old" / "empty.md").write_text("")
    return root


@pytest.fixture
def corpus(tmp_path, docs):
    with_corpus = Corpus.create(tmp_path / ".quaere")
    add_source(with_corpus, str(docs))
    sync_all(with_corpus, None, SETTINGS)
    yield with_corpus
    with_corpus.close()


def found(corpus):
    reader = corpus.reader(OWNER, Filter())
    ids = np.flatnonzero(reader.allowed).tolist()
    assert sorted(ids) == sorted(id for id, _ in reader.keyword(terms("badge"), 9))
    return {reading.document.path for reading in reader.readings(ids).values()}


def test_a_removed_source_is_gone_from_every_search_at_once(corpus):
    before = corpus.reader(OWNER, Filter())
    removal = remove(corpus, Choice("docs"), SETTINGS)
    assert (removal.documents, removal.failures, removal.is_whole) == (2, 1, True)
    assert before.keyword(terms("badge"), 9) == []
    assert found(corpus) == set()
    assert corpus.sources() == []
    assert corpus.failures("docs") == {}


def test_a_source_that_went_away_can_be_removed(corpus, docs):
    docs.rename(docs.with_name("elsewhere"))
    assert remove(corpus, Choice("docs"), SETTINGS).documents == 2
    assert corpus.sources() == []


def test_a_removed_source_can_be_added_again(corpus, docs):
    remove(corpus, Choice("docs"), SETTINGS)
    add_source(corpus, str(docs))
    assert sync_all(corpus, None, SETTINGS).new == 2
    assert found(corpus) == {"badge.md", "old/badge.md"}


def test_by_path_only_what_is_gone_from_the_folder_goes(corpus, docs):
    (docs / "old" / "badge.md").unlink()
    removal = remove(corpus, Choice("docs", ("*.md",)), SETTINGS)
    assert (removal.documents, removal.kept, removal.is_whole) == (1, ("badge.md",), False)
    assert found(corpus) == {"badge.md"}
    assert [source.id for source in corpus.sources()] == ["docs"]


def test_by_path_what_is_excluded_goes_with_its_failures_and_stays_away(corpus):
    settings = IndexSettings(exclude=("old/**",))
    removal = remove(corpus, Choice("docs", ("old/**",)), settings)
    assert (removal.documents, removal.failures, removal.kept) == (1, 1, ())
    sync_all(corpus, None, settings)
    assert found(corpus) == {"badge.md"}


def test_what_would_come_back_is_refused_with_the_way_out(corpus):
    revision = corpus.revision
    with pytest.raises(UsageError, match=r"old/badge.md of 'docs' would come back.*corpus\.exclude"):
        remove(corpus, Choice("docs", ("old/badge.md",)), SETTINGS)
    with pytest.raises(UsageError, match=r"badge.md and 1 more of 'docs' would come back"):
        remove(corpus, Choice("docs", ("**",)), SETTINGS)
    assert corpus.revision == revision


def test_of_a_folder_that_is_away_nothing_counts_as_gone_but_what_is_excluded(corpus, docs):
    docs.rename(docs.with_name("elsewhere"))
    with pytest.raises(UsageError, match="would come back"):
        remove(corpus, Choice("docs", ("old/badge.md",)), SETTINGS)
    assert remove(corpus, Choice("docs", ("old/**",)), IndexSettings(exclude=("old",))).documents == 1


def test_what_fits_nothing_and_a_source_that_never_was_are_refused(corpus):
    with pytest.raises(UsageError, match=r"no document of 'docs' fits 'new/\*\*'"):
        remove(corpus, Choice("docs", ("new/**",)), SETTINGS)
    with pytest.raises(UsageError, match="there is no source 'dogs'"):
        remove(corpus, Choice("dogs"), SETTINGS)


def test_a_source_of_one_file_can_be_removed(tmp_path, corpus):
    (tmp_path / "note.txt").write_text("A badge is lost.\n")
    add_source(corpus, str(tmp_path / "note.txt"))
    sync_all(corpus, None, SETTINGS)
    assert remove(corpus, Choice("note.txt"), SETTINGS).documents == 1
    assert found(corpus) == {"badge.md", "old/badge.md"}
