import re

from quaere.tools.evidence import Parsed
from quaere.tools.parse import parse
from quaere.tools.split import Limits, split


def count(texts):
    return [len(text.split()) + 2 for text in texts]


def passages(text, name="notes.md", **limits):
    parsed = parse(text.encode(), name)
    cut = split(parsed, count, Limits(**(limits or {"tokens": 60, "target": 40})))
    return [(one, re.sub(r"^#+ ", "", parsed.text[one.start : one.end], flags=re.M)) for one in cut.passages]


def prose(n, start=0):
    return " ".join(f"The pump number {i} is hot." for i in range(start, start + n))


def test_passage_does_not_run_into_the_next_section():
    found = passages(f"# A\n\n{prose(2)}\n\n# B\n\n{prose(2)}\n")
    assert [one.heading for one, _ in found] == [("A",), ("B",)]


def test_heading_without_text_opens_the_first_section_below_it():
    found = passages("# A\n\n## B\n\nOne.\n\n# C\n\n## D\n\nTwo.\n\n# E\n")
    assert [text for _, text in found] == ["A\n\nB\n\nOne.", "C\n\nD\n\nTwo.", "E"]


def test_heading_without_text_stays_out_of_the_section_beside_it():
    found = passages("# A\n\n## B\n\n## C\n\nTwo.\n")
    assert [text for _, text in found] == ["A\n\nB", "C\n\nTwo."]


def test_list_moves_on_whole_with_what_leads_it_in():
    items = "\n".join(f"- Take part number {i} out of it." for i in range(3))
    found = passages(f"# A\n\n{prose(4)}\n\nDo this now:\n\n{items}\n")
    assert [text for _, text in found][1] == f"Do this now:\n\n{items}"


def test_long_list_keeps_its_lead_in_with_its_first_item():
    items = "\n".join(f"- Take part number {i} out of it and away." for i in range(12))
    found = passages(f"# A\n\n{prose(6)}\n\nDo this now:\n\n{items}\n")
    assert any("Do this now:\n\n- Take part number 0" in text for _, text in found)


def test_paragraph_is_not_cut_where_it_fits_into_a_passage_of_its_own():
    found = passages(f"# A\n\n{prose(4)}\n\n{prose(5, 4)}\n")
    assert [text for _, text in found] == [f"A\n\n{prose(4)}", prose(5, 4)]


def test_prefix_is_title_and_heading_path_each_once():
    (first, _), (second, _) = passages("# Guide\n\nOne.\n\n## Fine tuning\n\nTwo.\n")
    assert first.prefix == "Guide"
    assert second.prefix == "Guide > Fine tuning"


def test_prefix_of_many_tokens_is_shortened():
    parsed = parse(b"One.", "a.txt")
    titled = Parsed(parsed.text, parsed.blocks, "word " * 30, "text/plain", "text/1")
    (passage,) = split(titled, count, Limits(60, 40)).passages
    assert 0 < len(passage.prefix.split()) <= 15


def test_header_stands_in_the_prefix_of_later_rows_only():
    rows = "\n".join(f"st{i}, {i}" for i in range(60))
    found = passages(f"station, load\n{rows}\n", "loads.csv")
    assert "station" not in found[0][0].prefix
    assert all(one.prefix.endswith("station, load") for one, _ in found[1:])


def test_parent_is_the_section():
    found = passages(f"# A\n\n{prose(20)}\n\n# B\n\nTwo.\n")
    parents = [one.parent for one, _ in found if one.heading == ("A",)]
    assert len(parents) > 1
    assert len(set(parents)) == 1
    assert parents[0] == (found[0][0].start, found[-2][0].end)


def test_tokens_are_counted_in_few_batches():
    batches = []

    def counting(texts):
        batches.append(len(texts))
        return count(texts)

    parsed = parse(f"# A\n\n{prose(400)}\n".encode(), "a.md")
    cut = split(parsed, counting, Limits(60, 40))
    assert len(cut.passages) > 40
    assert len(batches) <= 4
