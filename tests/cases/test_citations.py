"""PR-34 to PR-37: a claim is shown only as its source carries it, under its own document, with one number."""

from dataclasses import replace

import pytest
from quaere.agent.asking import Question
from quaere.graphs.policy import Decision, Draft, Writing
from quaere.graphs.rules import rules


def writes(*claims):
    """Give a policy whose writer always writes these (text, document) pairs, citing the document's first sentence
    that shares the most words with the claim."""

    async def write(view):
        drafts = [
            Draft(text, cites(view, document, text), need=view.needs[0].id) for text, document in claims
        ]
        return Decision("write", Writing(tuple(drafts)), "scripted", "script")

    return replace(rules, name="script", write=write)


def cites(view, document, text):
    words = set(text.casefold().strip('"').split())
    best = max(
        (
            (len(words & set(sentence.casefold().strip(".").split())), f"S{item.s}.{j}")
            for item in view.evidence
            if item.reading.document.path == document
            for j, sentence in enumerate(item.reading.texts, 1)
        ),
        default=(0, "S99.1"),
    )
    return (best[1],)


def ask(agent, question, *claims):
    return agent.answer(Question(question, policy=writes(*claims)))


RETURNS = {"ret.md": "Returns are not accepted after 21 days."}
VALVE = {"valve.md": "The valve may be opened only below 3 bar."}


@pytest.mark.parametrize(
    ("files", "question", "claim", "kept"),
    [
        (
            RETURNS,
            "Are returns accepted after 21 days?",
            '"Returns are accepted after 21 days"',
            "not accepted",
        ),
        (VALVE, "When may the valve be opened?", '"The valve may be opened below 3 bar"', "only below 3 bar"),
        (VALVE, "When may the valve be opened?", "The valve may be opened", "only below 3 bar"),
        (
            {"a.md": "Critics deny that the bridge is safe for trucks."},
            "Is the bridge safe for trucks?",
            "the bridge is safe for trucks",
            "deny",
        ),
        (
            {"b.md": "Guests may use the pool unless a course is running."},
            "May guests use the pool?",
            "Guests may use the pool",
            "unless a course is running",
        ),
    ],
)
def test_a_claim_that_drops_a_small_word_is_refused_and_corrected(workspace, files, question, claim, kept):
    answer = ask(workspace(files), question, (claim, next(iter(files))))
    assert kept in answer.text
    assert all(claim.strip('"') != shown.text.strip('"') for shown in answer.claims)


CARS = {
    "a.md": "Solar adds 40 miles per day. The car goes 400 miles per charge.",
    "b.md": "Top speed is 110 mph.",
}


def test_a_quote_stitched_from_two_places_is_refused(workspace):
    answer = ask(
        workspace(CARS), "How many miles does solar add?", ('"Solar adds 400 miles per charge"', "a.md")
    )
    assert "Solar adds 400" not in answer.text


def test_a_true_quote_is_never_shown_under_the_wrong_document(workspace):
    answer = ask(workspace(CARS), "What is the top speed?", ('"Top speed is 110 mph"', "a.md"))
    assert all(
        note.document == "b.md" for claim in answer.claims if "110" in claim.text for note in claim.footnotes
    )


def test_a_true_quote_under_its_document_is_accepted(workspace):
    answer = ask(workspace(CARS), "What is the top speed?", ('"Top speed is 110 mph"', "b.md"))
    assert answer.claims[0].text == '"Top speed is 110 mph"'
    assert [note.document for note in answer.footnotes] == ["b.md"]


def test_an_id_that_was_never_given_out_carries_nothing(workspace):
    answer = ask(workspace(CARS), "What is the top speed?", ("Top speed is 110 mph", "no-such-file.md"))
    assert all(note.document == "b.md" for note in answer.footnotes)


def test_a_passage_found_twice_has_one_number(workspace):
    agent = workspace({"fee.md": "The fee is 12 EUR. It is paid on the first day."})
    answer = ask(
        agent,
        "What is the fee and when is it paid?",
        ("The fee is 12 EUR.", "fee.md"),
        ("It is paid on the first day.", "fee.md"),
    )
    marks = [[note.n for note in claim.footnotes] for claim in answer.claims]
    assert marks == [[1], [1]]
    assert len(answer.footnotes) == 1
    assert answer.text.count("[1]") == 2


def test_a_citation_names_the_page_a_reader_counts(workspace):
    from pdf_files import write_pdf

    pages = ["Welcome to the house.", "Rules.\nThe deposit is", "300 EUR, paid on arrival.", ""]
    answer = workspace({"house.pdf": write_pdf(pages)}).ask("What is the deposit?")
    assert "300 EUR" in answer.text
    place = answer.footnotes[0].locator
    assert (place.page, place.last_page or place.page) in [(2, 3), (3, 3)]
