"""HTML pages give their main content, block by block, each block in the words of its element."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html as independent
from quaere.tools.errors import UnreadableError
from quaere.tools.evidence import Parsed
from quaere.tools.parse import parse

NAV = "<nav>Returns Return policy Return window Refunds</nav>"
BANNER = (
    "<div class='cookie-banner'><p>We use cookies to improve your visit.</p><button>Accept all</button></div>"
)


def read(body: str, head: str = "") -> Parsed:
    return parse(f"<!doctype html><html><head>{head}</head><body>{body}</body></html>".encode(), "page.html")


def shape(parsed: Parsed) -> list[tuple[str, int, str]]:
    return [(b.kind, b.level, parsed.text[b.start : b.end]) for b in parsed.blocks]


def element(page: str, path: str) -> str:
    """Return the text of the element at a path as another parser reads it."""
    found = independent.fromstring(page)
    for step in path.split(" > "):
        if step == "body":
            found = found.xpath("//body")[0]
        elif match := re.fullmatch(r"#(.+)|\[id=\"(.+)\"\]", step):
            found = found.xpath(f'//*[@id="{match[1] or match[2]}"]')[0]
        else:
            tag, place = re.fullmatch(r"(\w+):nth-of-type\((\d+)\)", step).groups()
            found = found.xpath(f"./{tag}[{place}]")[0]
    return " ".join(" ".join(found.itertext()).split())


def test_menus_banners_scripts_and_footers_are_left_out():
    parsed = read(
        f"{NAV}{BANNER}<header>Shop</header><main>Articles may be sent back within 21 days.</main>"
        "<aside>Also read: Refunds</aside><footer>Imprint</footer><script>var a = 'tracking';</script>",
        "<style>p { color: red }</style><title>Sending back</title>",
    )
    assert parsed.text == "Articles may be sent back within 21 days."
    assert parsed.title == "Sending back"


def test_a_page_without_main_loses_its_menus_too():
    parsed = read(
        f"{NAV}{BANNER}<div><h1>Help</h1><p>Within 21 days.</p></div><div class='footer-nav'></div>"
    )
    assert shape(parsed) == [("heading", 1, "Help"), ("paragraph", 0, "Within 21 days.")]


def test_a_menu_by_its_class_goes_and_a_menu_of_dishes_stays():
    links = "<ul class='menu'><li><a href='/'>Home</a></li><li><a href='/b'>Bookings</a></li></ul>"
    dishes = "<div class='menu'><p>Pizza with olives, 9 EUR</p><p>Soup of the day, 5 EUR</p></div>"
    parsed = read(links + dishes)
    assert [text for *_, text in shape(parsed)] == ["Pizza with olives, 9 EUR", "Soup of the day, 5 EUR"]


def test_a_text_about_cookies_is_no_banner():
    parsed = read("<section id='cookies'><h2>Cookies</h2><p>Pass cookies with each request.</p></section>")
    assert shape(parsed)[-1] == ("paragraph", 0, "Pass cookies with each request.")


def test_a_page_of_links_or_inside_a_form_is_kept():
    links = "<li><a href='a'>One</a></li><li><a href='b'>Two, three, four</a></li>"
    contents = f"<div class='toc'><ul>{links}</ul></div>"
    assert [text for *_, text in shape(read(f"<h1>Index</h1>{contents}"))] == [
        "Index",
        "One",
        "Two, three, four",
    ]
    assert read("<form><h1>Rules</h1><p>The fee is 12 EUR.</p></form>").text.endswith("The fee is 12 EUR.")


def test_the_header_of_an_article_belongs_to_it():
    parsed = read(
        "<header>Site</header><article><header><h1>Fees</h1></header><p>They are 12 EUR.</p></article>"
    )
    assert shape(parsed) == [("heading", 1, "Fees"), ("paragraph", 0, "They are 12 EUR.")]


def test_a_term_and_its_definition_are_one_item():
    jobs = "<dt>-j <i>n</i><br>--jobs</dt><dd><p>Run in parallel.</p><p>Or not.</p></dd>"
    page = f"<dl>{jobs}<dt>-v</dt><dd>Talk.</dd></dl>"
    parsed = read(page)
    assert shape(parsed) == [
        ("item", 1, "-j n --jobs\nRun in parallel."),
        ("item", 1, "Or not."),
        ("item", 1, "-v\nTalk."),
    ]
    assert parsed.blocks[0].element == "body > dl:nth-of-type(1)"
    assert parsed.blocks[1].element == "body > dl:nth-of-type(1) > dd:nth-of-type(1) > p:nth-of-type(2)"


def test_terms_without_definitions_are_items_of_their_own():
    page = "<dl><dt>1. Start</dt><dd><dl><dt>1.1 Keys</dt><dt>1.2 Map</dt></dl></dd><dt>2. End</dt></dl>"
    assert [(level, text) for _, level, text in shape(read(page))] == [
        (1, "1. Start"),
        (2, "1.1 Keys"),
        (2, "1.2 Map"),
        (1, "2. End"),
    ]


def test_an_item_without_a_list_is_a_paragraph():
    assert shape(read("<li>The fee</li><dd>12 EUR</dd>")) == [
        ("paragraph", 0, "The fee"),
        ("paragraph", 0, "12 EUR"),
    ]


def test_lists_nest_and_share_a_group():
    parsed = read("<ul><li>a<ul><li>b</li></ul>c</li><li><p>d</p></li></ul><ol><li>e</li></ol>")
    assert [(b.level, b.group) for b in parsed.blocks] == [(1, 1), (2, 1), (1, 1), (1, 1), (1, 2)]


def test_tables_have_header_and_rows_and_those_for_layout_are_walked_through():
    page = (
        "<table><caption>Fees</caption><thead><tr><th>guest</th><th>fee</th></tr></thead>"
        "<tbody><tr><td>adult</td><td>12 <b>EUR</b></td></tr><tr><td></td><td>5</td></tr></tbody></table>"
    )
    parsed = read(page)
    assert shape(parsed) == [
        ("caption", 0, "Fees"),
        ("header", 0, "guest | fee"),
        ("row", 0, "adult | 12 EUR"),
        ("row", 0, " | 5"),
    ]
    assert {block.group for block in parsed.blocks} == {1}
    layout = read("<table><tr><td><h2>A</h2><p>One.</p></td><td><p>Two.</p></td></tr></table>")
    assert [kind for kind, *_ in shape(layout)] == ["heading", "paragraph", "paragraph"]


def test_code_keeps_its_lines_and_captions_are_captions():
    parsed = read(
        "<pre>\nfee = 12\n  print(fee)\n</pre><figure><img alt='x'><figcaption>A house</figcaption></figure>"
    )
    assert shape(parsed) == [("code", 0, "fee = 12\n  print(fee)"), ("caption", 0, "A house")]


def test_headings_nest_by_the_sections_around_them():
    parsed = read(
        "<div class='chapter'><h2>4. Modules</h2><div class='section'><h2>4.1 Names</h2></div>"
        "<div class='section'><h2>4.2 Paths</h2></div></div>"
        "<section><h1>A</h1><section><h1>B</h1></section></section>"
    )
    assert [level for _, level, _ in shape(parsed)] == [2, 3, 3, 1, 2]


def test_the_heading_of_a_note_does_not_end_the_list_around_it():
    note = "<div class='note'><h3>Note</h3><p>Only once.</p></div>"
    parsed = read(
        f"<h2>Options</h2><dl><dt>-e</dt><dd><p>Match.</p>{note}</dd><dt>-f</dt><dd>File.</dd></dl>"
    )
    assert [kind for kind, *_ in shape(parsed)] == ["heading", "item", "item", "item", "item"]


def test_words_are_parted_by_blocks_and_not_by_inline_tags():
    assert read("<p>a<b>b</b>c<br>d</p><div>e<div>f</div></div>").text == "abc d\n\ne\n\nf"


def test_a_declared_encoding_is_read():
    page = "<html><head><meta charset='windows-1251'></head><body><p>Привет, мир</p></body></html>"
    assert parse(page.encode("cp1251"), "x.html").text == "Привет, мир"


INLINE = st.sampled_from(["fee ", "<b>12</b>", " EUR. ", "<br>", "<code>x</code>", "&amp;", "ä "])
LEAF = st.lists(INLINE, min_size=1, max_size=4).map("".join)
BLOCK = st.recursive(
    st.one_of(
        LEAF.map(lambda s: f"<p>{s}</p>"),
        LEAF.map(lambda s: f"<h2>{s}</h2>"),
        LEAF.map(lambda s: f"<pre>{s}</pre>"),
    ),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda b: f"<div>{''.join(b)}</div>"),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda b: "<ul>" + "".join(f"<li>{one}</li>" for one in b) + "</ul>"
        ),
        st.lists(inner, min_size=1, max_size=2).map(
            lambda b: "<dl>" + "".join(f"<dt>t</dt><dd>{one}</dd>" for one in b) + "</dl>"
        ),
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(BLOCK, min_size=1, max_size=4).map("".join))
def test_every_block_is_found_in_the_element_it_names(body: str):
    page = f"<!doctype html><html><head></head><body>{body}</body></html>"
    try:
        parsed = parse(page.encode(), "page.html")
    except UnreadableError:
        return
    for block in parsed.blocks:
        words = "".join(parsed.text[block.start : block.end].split())
        assert words in "".join(element(page, block.element).split())
