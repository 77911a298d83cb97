"""PR-05 to PR-09 and PR-15: identifiers, empty collections, small corpora, boilerplate."""

import pytest
from quaere.agent.assemble import Agent

PERMIT = (
    "# Discharge permit\n\nThis permit is granted under the water act to the operator of the plant. "
    + "The operator keeps a log of all discharges and shows it to the inspector on request. " * 12
    + "\n\nPermit {name}: the discharge limit is {limit} mg/L of suspended solids.\n"
)
PERMITS = {
    f"{n}.md": PERMIT.format(name=n, limit=limit)
    for n, limit in (("S-101", 44), ("S-102", 47), ("S-103", 49))
}
BADGE = {"badge.md": "A replacement badge costs 12 EUR."}


@pytest.mark.parametrize(("name", "limit"), [("S-101", "44"), ("S-102", "47"), ("S-103", "49")])
def test_an_identifier_never_gets_the_text_of_its_twin(workspace, name, limit):
    agent = workspace(PERMITS)
    answer = agent.ask(f"What is the discharge limit in permit {name}?")
    assert limit in answer.text
    assert {note.document for note in answer.footnotes} == {f"{name}.md"}
    assert not {"44", "47", "49"} - {limit} & set(answer.text.split())
    assert (
        agent.search(f"What is the discharge limit in permit {name}?").hits[0].reading.document.path
        == f"{name}.md"
    )


def test_an_unknown_twin_is_not_answered(workspace):
    answer = workspace(PERMITS).ask("What is the discharge limit in permit S-104?")
    assert answer.status == "abstained"
    assert not {"44", "47", "49"} & set(answer.text.split())


def test_asking_before_anything_was_added_abstains(tmp_path):
    with Agent.open(tmp_path) as agent:
        answer = agent.ask("What is the fee?")
    assert answer.status == "abstained"
    assert any("holds no text" in note for note in answer.notes)
    assert not (tmp_path / ".quaere").exists()


def test_blank_files_leave_a_collection_without_text(workspace):
    answer = workspace({"empty.md": "", "blank.txt": "\n" * 20}).ask("What is the fee?")
    assert answer.status == "abstained"
    assert any("holds no text" in note for note in answer.notes)


def test_a_file_of_signs_only_abstains(workspace):
    assert workspace({"signs.md": "— … !!!"}).ask("What is the fee?").status == "abstained"


API = {"api.md": "Call get_user_by_id(uid), then parseHTMLResponse(body)."} | {
    f"{i}.md": text
    for i, text in enumerate(
        [
            "The kitchen opens at nine.",
            "Helmets are kept in the shed.",
            "The user manual is on the shelf.",
            "Parcels arrive by noon.",
            "A response is due within a week.",
        ]
    )
}


@pytest.mark.parametrize("query", ["user by id", "parse html response", "getUserById", "get_user_by_id"])
def test_identifiers_are_found_by_their_words(workspace, query):
    hits = workspace(API).search(query).hits
    best = next(hit for hit in hits if hit.ranks["keyword"] == 1)
    assert best.reading.document.path == "api.md"


def test_asking_for_more_than_there_is_gives_each_passage_once(workspace):
    agent = workspace(BADGE)
    found = agent.search("What does a badge cost?", k=20)
    assert [(hit.ranks["keyword"], hit.ranks["vector"]) for hit in found.hits] == [(1, 1)]
    answer = agent.ask("What does a badge cost?")
    assert "12 EUR" in answer.text
    assert len(answer.footnotes) == 1


def test_a_word_in_half_of_the_documents_still_counts(workspace):
    vault = {"a.md": "The vault code is heron", "b.md": "The kitchen opens at nine"}
    agent = workspace(vault)
    hits = [hit for hit in agent.search("vault heron").hits if hit.ranks["keyword"]]
    assert [hit.reading.document.path for hit in hits] == ["a.md"]
    answer = agent.ask("What is the vault code?")
    assert "heron" in answer.text
    assert answer.footnotes[0].document == "a.md"


def test_a_word_in_every_document_still_counts(workspace):
    hits = workspace({"a.md": "The vault code is heron"}).search("vault").hits
    assert [hit.ranks["keyword"] for hit in hits] == [1]


PAGE = """<html><head><title>Shop {n}</title><style>p {{color: red}}</style></head><body>
<nav>Returns Return policy Return window Refunds</nav>
<div class="cookie-banner">We use cookies for the return window of your session. Accept all cookies.</div>
<main>{body}</main><footer>Return window | Imprint</footer><script>var returnWindow = 14;</script></body></html>"""


def test_menus_and_banners_are_never_evidence(workspace):
    pages = {
        f"p{n}.html": PAGE.format(n=n, body=f"<p>Item {n} is made of oak and comes in {n} sizes.</p>")
        for n in range(29)
    }
    pages["p29.html"] = PAGE.format(n=29, body="<p>Articles may be sent back within 21 days.</p>")
    agent = workspace(pages)
    answer = agent.ask("How long is the return window?")
    assert "21 days" in answer.text
    assert [note.document for note in answer.footnotes] == ["p29.html"]
    for hit in agent.search("return window cookies returnWindow", k=50).hits:
        assert not {"cookies", "Refunds", "Imprint", "returnWindow", "color"} & set(hit.reading.text.split())
