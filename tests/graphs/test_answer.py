from hypothesis import given
from hypothesis import strategies as st
from quaere.graphs.answer import pack
from quaere.graphs.policy import Evidence
from quaere.tools.evidence import Document, Locator, Passage, Reading, Sentence, Span


def evidence(s, document, ordinal, text, score, grade, needs):
    span = Span(document, ordinal * 100, ordinal * 100 + len(text))
    reading = Reading(
        passage=Passage(s, span, ordinal, (), (0, 1), span, document),
        document=Document(document, "docs", f"{document}.md", "Title"),
        text=text,
        sentences=(Sentence(0, span, (), "prose"),),
        texts=(text,),
        governing=((),),
        locator=Locator(),
    )
    return Evidence(s, reading, score, grade=grade, needs=needs)


passages = st.lists(
    st.tuples(
        st.integers(1, 4),
        st.integers(0, 9),
        st.sampled_from(["badge costs", "gate opens", "lift is serviced"]),
        st.floats(0, 1),
        st.sampled_from(["supports", "related", "off", "ungraded"]),
        st.sampled_from([(), ("n1",), ("n2",), ("n1", "n2")]),
    ),
    max_size=14,
)


@given(passages, st.integers(1, 8))
def test_packing_keeps_the_best_of_each_need_and_nothing_that_is_off(rows, limit):
    held = [evidence(s, *row) for s, row in enumerate(rows, 1)]
    packed = pack(held, ["n1", "n2"], limit)
    assert len(packed) == len({item.s for item in packed}) <= limit
    assert all(item.grade != "off" for item in packed)
    usable = [item for item in held if item.grade != "off"]
    if limit >= 2:
        for need in ("n1", "n2"):
            best = min((e for e in usable if need in e.needs), key=lambda e: (-e.score, e.s), default=None)
            assert best is None or best in packed
    assert len(packed) == min(limit, len(usable))


@given(passages)
def test_inside_a_document_passages_come_in_reading_order(rows):
    held = [evidence(s, *row) for s, row in enumerate(rows, 1)]
    packed = pack(held, ["n1"], 12)
    for document in {item.reading.document.id for item in packed}:
        places = [i for i, item in enumerate(packed) if item.reading.document.id == document]
        ordinals = [packed[i].reading.passage.ordinal for i in places]
        assert ordinals == sorted(ordinals)
        assert places == list(range(places[0], places[-1] + 1))
