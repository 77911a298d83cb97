from hypothesis import given
from hypothesis import strategies as st
from quaere.tools.evidence import Locator, Span
from quaere.tools.split import SentenceCut
from quaere.tools.units import joint_locator, pack, unpack

pairs = st.tuples(st.integers(0, 50), st.integers(50, 99))
locators = st.builds(
    Locator,
    page=st.none() | st.integers(1, 9),
    heading=st.lists(st.text(max_size=4), max_size=2).map(tuple),
    element=st.none() | st.text(max_size=4),
)
cuts = st.builds(
    lambda span, kind, governors, place: SentenceCut(*span, kind, governors, place),
    pairs,
    st.sampled_from(["prose", "row", "code"]),
    st.lists(pairs, max_size=2).map(tuple),
    locators,
)


@given(st.lists(cuts, max_size=6), st.integers(0, 9))
def test_sentences_come_back_as_they_were_stored(sentences, first):
    units = unpack(pack(sentences), 7, first)
    assert [unit.sentence.ordinal for unit in units] == list(range(first, first + len(sentences)))
    assert [unit.sentence.source for unit in units] == [Span(7, cut.start, cut.end) for cut in sentences]
    assert [unit.sentence.kind for unit in units] == [cut.kind for cut in sentences]
    assert [unit.locator for unit in units] == [cut.locator for cut in sentences]
    assert [unit.sentence.governed_by for unit in units] == [
        tuple(Span(7, *pair) for pair in cut.governed_by) for cut in sentences
    ]


@given(st.lists(locators, min_size=1, max_size=5))
def test_joint_locator_covers_all_pages(places):
    pages = [place.page for place in places if place.page is not None]
    joint = joint_locator(places)
    assert joint.page == min(pages, default=None)
    assert (joint.last_page or joint.page) == max(pages, default=None)
    assert joint.heading == places[0].heading
