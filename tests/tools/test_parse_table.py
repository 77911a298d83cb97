"""Tables of separated values are read row by row, as the csv module reads them, over the untouched file."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.tools.evidence import Parsed
from quaere.tools.parse import parse
from quaere.tools.split import Limits, split

CELLS = st.text(st.sampled_from('ab1 ,;|\t"\n\r\u00e9'), max_size=8)
TABLES = st.integers(2, 4).flatmap(
    lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=12)
)


def read(text: str, name: str = "drinks.csv") -> Parsed:
    return parse(text.encode(), name)


def shape(parsed: Parsed) -> list[tuple[str, str | None, str]]:
    return [(b.kind, b.element, parsed.text[b.start : b.end]) for b in parsed.blocks]


def units(parsed: Parsed):
    cut = split(parsed, lambda texts: [len(text) // 3 + 2 for text in texts], Limits())
    return [(parsed.text[one.start : one.end], one) for one in cut.sentences]


def test_rows_stand_under_their_header_over_quoted_line_breaks():
    parsed = read('name,note\ntea,"hot\nand ""very"" sweet"\nmilk,cold\n')
    assert shape(parsed) == [
        ("header", "row 1", "name,note"),
        ("row", "row 2", 'tea,"hot\nand ""very"" sweet"'),
        ("row", "row 3", "milk,cold"),
    ]
    header = parsed.blocks[0]
    assert [one.governed_by for _, one in units(parsed)] == [(), *[((header.start, header.end),)] * 2]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_the_one_that_cuts_all_rows_alike(separator: str):
    rows = ["station", "load", "remark"], ["ST-1", "12,5; about", "a, b"], ["ST-2", "9,75; about", "c"]
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\n").writerows(rows)
    assert [kind for kind, *_ in shape(read(out.getvalue()))] == ["header", "row", "row"]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Country,1990,1991\nA,12,13\nB,14,15\n", "header"),
        ("id,name\n1,tea\n", "header"),
        ("1,2,3\n4,5,6\n", "row"),
        ("2024-01-01,tea\n2024-01-02,milk\n", "row"),
        ("Mon,open\nTue,open\n", "row"),
        ("a@example.org,12\nb@example.org,13\n", "row"),
        ("word\nother\nthird\n", "row"),
        ("count\n12\n13\n", "header"),
        ("year,year\n1990,1991\n", "row"),
    ],
)
def test_a_first_row_is_a_header_when_it_names_what_is_below(text: str, first: str):
    assert read(text).blocks[0].kind == first


def test_a_title_above_the_header_governs_the_rows():
    parsed = read("Prices of 2024\n\ndrink;price\ntea;1,20\nmilk;2,30\n")
    assert [(kind, place) for kind, place, _ in shape(parsed)] == [
        ("caption", "row 1"),
        ("header", "row 3"),
        ("row", "row 4"),
        ("row", "row 5"),
    ]
    _, milk = units(parsed)[-1]
    assert [parsed.text[a:b] for a, b in milk.governed_by] == ["Prices of 2024", "drink;price"]


def test_what_excel_writes_to_name_the_separator_is_no_row():
    assert [text for *_, text in shape(read("\ufeffsep=;\r\nx;y\r\n1;a\r\n"))] == ["x;y", "1;a"]


def test_ragged_rows_and_blank_lines_keep_their_numbers():
    parsed = read("a,b,c\r\n1,2\r\n1,2,3,4\r\n\r\n5,6,7")
    assert shape(parsed)[1:] == [
        ("row", "row 2", "1,2"),
        ("row", "row 3", "1,2,3,4"),
        ("row", "row 5", "5,6,7"),
    ]


def test_an_open_quote_ends_with_its_line():
    assert [text for *_, text in shape(read('a,b\n1,"open\n2,3\n4,5\n'))] == ["a,b", '1,"open', "2,3", "4,5"]
    assert [text for *_, text in shape(read('a\tb\n5" pipe\t"x\nc\t"y" z\n', "x.tsv"))] == [
        "a\tb",
        '5" pipe\t"x',
        'c\t"y" z',
    ]


def test_a_row_is_one_unit_whatever_its_sentences():
    parsed = read('id,note\n7,"He came. He saw. He went."\n')
    assert [text for text, _ in units(parsed)] == ["id,note", '7,"He came. He saw. He went."']


def test_what_is_cut_off_a_wide_row_keeps_its_beginning_and_the_header():
    wide = ",".join(f"value {n}" for n in range(120))
    parsed = read("name," + ",".join(f"c{n}" for n in range(120)) + f"\npump,{wide}\n")
    rows = [one for text, one in units(parsed) if "value" in text]
    assert len(rows) > 2
    assert all(one.end - one.start <= 500 for one in rows)
    for one in rows[1:]:
        above = [parsed.text[a:b] for a, b in one.governed_by]
        assert above[0].startswith("pump,")
        assert above[-1].startswith("name,c0")


@given(TABLES, st.sampled_from([",", ";", "\t", "|"]), st.sampled_from(["\n", "\r\n"]))
def test_each_record_that_was_written_is_one_block(rows, separator: str, end: str):
    rows = [["head" + str(i) for i in range(len(rows[0]))], *rows]
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([[cell.replace("\r", "") for cell in row] for row in rows])
    parsed = read(f"sep={separator}{end}{out.getvalue()}")
    filled = [row for row in rows if any(cell.strip() for cell in row)]
    assert len(parsed.blocks) == len(filled)
    for block, row in zip(parsed.blocks, filled, strict=True):
        cut = io.StringIO(parsed.text[block.start : block.end], newline="")
        (cells,) = csv.reader(cut, delimiter=separator)
        wanted = [cell.replace("\r", "") for cell in row]
        assert cells == wanted


@given(st.text(st.sampled_from('ab1,;|\t"\n\r \u00e9'), max_size=60))
def test_every_letter_of_any_file_lies_in_a_row(text: str):
    parsed = read(f"word,{text}")
    inside = {place for block in parsed.blocks for place in range(block.start, block.end)}
    assert not [place for place, sign in enumerate(parsed.text) if sign.isalnum() and place not in inside]


def test_a_file_of_open_quotes_takes_little_time():
    lines = (
        "".join(f'{n},"open {n}\n' for n in range(3000)) + 'x,"\n' + "".join(f"{n},y\n" for n in range(3000))
    )
    assert len(read(f"id,name\n{lines}").blocks) == 6001
