"""What every search tool promises: a closed schema, access, filter, order, limits, spans, errors as observations."""

from __future__ import annotations

import asyncio
import dataclasses
import json

import pytest
from quaere.agent.assemble import Agent
from quaere.agent.toolbox import Toolbox, schema_of
from quaere.tools.evidence import OWNER, Access, Filter
from quaere.tools.search_tools import Seat, build_tools

FILES = {
    "badge.md": "# Badges\n\nA replacement badge costs 12 EUR. It is paid at the desk.\n\n## Visitors\n\nVisitor badges are blue.",
    "gates/gate.md": "# Gates\n\nGate 4 opens at 7:30 with a badge.\n\n"
    + "The guard checks each badge at the gate. " * 60,
    "lift.txt": "The lift is serviced in May. No badge is needed for the lift.",
}
TOOLS = ("keyword_search", "vector_search", "expand")
SEARCHES = TOOLS[:2]


@pytest.fixture(scope="module")
def agent(tmp_path_factory):
    folder = tmp_path_factory.mktemp("conformance")
    for name, text in FILES.items():
        path = folder / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with Agent.open(folder) as opened:
        opened.add(folder / "docs")
        yield opened


def seated(agent, access=OWNER, narrow=None):
    reader = agent.corpus.reader(access, narrow or Filter())
    return reader, Toolbox(build_tools(Seat(reader, agent.encoder)))


def call(toolbox, name, seen=frozenset(), **arguments):
    return asyncio.run(toolbox.call("r1.search.1", name, arguments, seen))


def arguments_for(toolbox, name, **more):
    if name == "expand":
        first = call(toolbox, "keyword_search", query="badge").candidates[0].passage.id
        return {"passage": first, "reach": "document", **more}
    return {"query": "badge", **more}


@pytest.mark.parametrize("name", TOOLS)
def test_schema_is_closed_plain_and_described(agent, name):
    tool = next(tool for tool in build_tools(Seat(seated(agent)[0], agent.encoder)) if tool.name == name)
    schema = schema_of(tool)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert "$ref" not in json.dumps(schema)
    assert "anyOf" not in schema
    assert all(field.get("description") for field in schema["properties"].values())
    assert not {"access", "principal", "seen", "revision"} & set(schema["properties"])


@pytest.mark.parametrize("name", TOOLS)
def test_description_is_written_for_a_model_and_short(agent, name):
    card = next(card for card in seated(agent)[1].cards() if card.name == name)
    assert 40 < len(card.description) <= 600


@pytest.mark.parametrize("name", SEARCHES)
def test_description_names_what_the_corpus_holds(agent, name):
    card = next(card for card in seated(agent)[1].cards() if card.name == name)
    assert "3 documents" in card.description
    assert "Badges" in card.description


@pytest.mark.parametrize("name", TOOLS)
def test_ranks_count_from_one_without_gaps_and_scores_fall(agent, name):
    _, toolbox = seated(agent)
    found = call(toolbox, name, **arguments_for(toolbox, name)).candidates
    assert found
    assert [candidate.rank for candidate in found] == list(range(1, len(found) + 1))
    scores = [candidate.score for candidate in found]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("name", TOOLS)
def test_the_same_call_gives_the_same_answer(agent, name):
    first = seated(agent)[1]
    again = seated(agent)[1]
    arguments = arguments_for(first, name)
    assert call(first, name, **arguments) == call(again, name, **arguments)


@pytest.mark.parametrize("name", TOOLS)
def test_every_span_resolves_to_the_text_of_its_passage(agent, name):
    reader, toolbox = seated(agent)
    found = call(toolbox, name, **arguments_for(toolbox, name)).candidates
    readings = reader.readings([candidate.passage.id for candidate in found])
    for candidate in found:
        reading = readings[candidate.passage.id]
        assert reader.cut(candidate.passage.span) == reading.text
        for sentence, text in zip(reading.sentences, reading.texts, strict=True):
            assert candidate.passage.span.covers(sentence.source)
            assert reader.cut(sentence.source) == text


@pytest.mark.parametrize("name", TOOLS)
def test_nothing_is_shown_to_someone_who_may_not_read_it(agent, name):
    _, owners = seated(agent)
    arguments = arguments_for(owners, name)
    stranger = seated(agent, Access("stranger"))[1]
    seen = call(stranger, name, **arguments)
    assert seen.candidates == ()
    assert "badge costs" not in seen.text
    assert "Badges" not in "".join(card.description for card in stranger.cards())


@pytest.mark.parametrize("name", TOOLS)
def test_a_filter_only_narrows(agent, name):
    reader, toolbox = seated(agent, narrow=Filter(paths=("gates/**",)))
    arguments = arguments_for(toolbox, name)
    paths = {document.id: document.path for document in reader.documents()}
    found = call(toolbox, name, **arguments).candidates
    assert {paths[candidate.passage.origin] for candidate in found} == {"gates/gate.md"}


@pytest.mark.parametrize(
    ("name", "limit"), [("keyword_search", "k"), ("vector_search", "k"), ("expand", "limit")]
)
def test_no_more_is_returned_than_asked_for(agent, name, limit):
    _, toolbox = seated(agent)
    arguments = arguments_for(toolbox, name, **{limit: 1})
    assert len(call(toolbox, name, **arguments).candidates) == 1


@pytest.mark.parametrize("name", SEARCHES)
def test_pages_follow_each_other_without_overlap(agent, name):
    _, toolbox = seated(agent)
    whole = [c.passage.id for c in call(toolbox, name, query="badge", k=4).candidates]
    pages = [
        c.passage.id for page in (1, 2) for c in call(toolbox, name, query="badge", k=2, page=page).candidates
    ]
    assert pages == whole
    assert call(toolbox, name, query="badge", k=50, page=20).status == "ok"


@pytest.mark.parametrize("name", SEARCHES)
def test_seen_passages_are_left_out_on_request(agent, name):
    _, toolbox = seated(agent)
    first = call(toolbox, name, query="badge").candidates[0].passage.id
    rest = call(toolbox, name, seen=frozenset({first}), query="badge", exclude_seen=True).candidates
    assert rest
    assert first not in {candidate.passage.id for candidate in rest}


@pytest.mark.parametrize("name", SEARCHES)
def test_a_phrase_must_stand_as_it_is(agent, name):
    reader, toolbox = seated(agent)
    found = call(toolbox, name, query="badge", phrase="costs 12  EUR").candidates
    readings = reader.readings([candidate.passage.id for candidate in found])
    assert readings
    assert all("costs 12 EUR" in reading.text for reading in readings.values())


@pytest.mark.parametrize("name", SEARCHES)
def test_within_takes_sources_folders_and_globs(agent, name):
    reader, toolbox = seated(agent)
    paths = {document.id: document.path for document in reader.documents()}
    for within, expected in (
        (["gates"], {"gates/gate.md"}),
        (["*.txt"], {"lift.txt"}),
        (["docs"], set(FILES)),
    ):
        found = call(toolbox, name, query="badge", within=within, k=50).candidates
        assert {paths[candidate.passage.origin] for candidate in found} == expected


@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize(
    "wrong",
    [
        {"query": 5, "passage": "x"},
        {"surprise": 1},
        {},
        {"query": "", "passage": None},
        {"k": -1, "limit": -1},
    ],
)
def test_bad_arguments_are_refused_in_one_sentence(agent, name, wrong):
    seen = call(seated(agent)[1], name, **wrong)
    assert seen.status == "refused"
    assert seen.candidates == ()
    assert "\n" not in seen.text


def test_an_unknown_tool_names_the_nearest(agent):
    seen = call(seated(agent)[1], "keyword_serch", query="badge")
    assert seen.status == "refused"
    assert "keyword_search" in seen.text


def test_an_unknown_passage_is_a_failure_not_an_empty_result(agent):
    assert call(seated(agent)[1], "expand", passage=10**6).status == "failed"


@pytest.mark.parametrize("query", ["—", "¿?", "\x00\u202e", "x" * 8000, "日本語", "badge " * 1000])
@pytest.mark.parametrize("name", SEARCHES)
def test_odd_queries_are_answered(agent, name, query):
    assert call(seated(agent)[1], name, query=query).status == "ok"


@pytest.mark.parametrize("name", TOOLS)
def test_a_cancelled_call_leaves_the_reader_usable(agent, name):
    _, toolbox = seated(agent)
    arguments = arguments_for(toolbox, name)

    async def cancel():
        task = asyncio.create_task(toolbox.call("r1.search.1", name, arguments, frozenset()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert call(toolbox, name, **arguments).candidates


def test_candidates_are_frozen(agent):
    candidate = call(seated(agent)[1], "keyword_search", query="badge").candidates[0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        candidate.rank = 2
