from quaere.graphs.telling import Told, arrange, conflicts_of, text_of, worded
from quaere.tools.evidence import Claim, Footnote, Locator, Span


def told(index, text, against=None, older="", need="n1"):
    note = Footnote(index + 1, f"{index}.md", "docs", Span(index, 0, 4), "quote", Locator())
    return Told(
        Claim(text, (f"S{index}.1",), need=None if older else need, footnotes=(note,)), index, against, older
    )


STATE = {
    "needs": [{"id": "n1", "text": "What is the fee?"}],
    "standalone": "What is the fee?",
    "ladder": "sufficient",
}
OLDER = "An older version, 2.md (superseded), says"


def test_what_is_against_a_claim_is_told_behind_it():
    arranged = arrange(
        [
            told(0, "It is 12."),
            told(1, "It is red."),
            told(2, "It was 10.", 0, OLDER),
            told(3, "It is 15.", 0),
        ]
    )
    assert [one.index for one in arranged] == [0, 3, 2, 1]


def test_what_is_older_falls_with_its_claim_and_a_rival_stands_alone():
    arranged = arrange([told(2, "It was 10.", 0, OLDER), told(3, "It is 15.", 0)])
    assert [(one.index, one.against) for one in arranged] == [(3, None)]
    assert conflicts_of(arranged, STATE) == ()


def test_sides_are_listed_and_older_versions_quoted_with_their_marks():
    arranged = worded(
        arrange([told(0, "It is 12."), told(2, "It was 10.", 0, OLDER), told(3, "It is 15.", 0)])
    )
    conflicts = conflicts_of(arranged, STATE)
    assert [(one.about, [side.text for side in one.sides]) for one in conflicts] == [
        ("What is the fee?", ["It is 12.", "It is 15."])
    ]
    assert text_of(arranged, conflicts) == (
        "The sources disagree:\n\n- It is 12. [1]\n- It is 15. [4]\n\n"
        "An older version, 2.md (superseded), says: “It was 10.” [3]"
    )


def test_what_a_policy_calls_conflicting_is_told_as_such():
    claims = [told(0, "It is low."), told(1, "It is high.")]
    assert conflicts_of(claims, STATE) == ()
    (conflict,) = conflicts_of(claims, {**STATE, "ladder": "conflicting"})
    assert [side.text for side in conflict.sides] == ["It is low.", "It is high."]
    assert conflicts_of(claims[:1], {**STATE, "ladder": "conflicting"}) == ()
