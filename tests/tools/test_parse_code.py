"""Source code is read by its definitions, each under the signatures it stands in, whole even with faults."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quaere.tools.evidence import Parsed
from quaere.tools.grammars import language_of
from quaere.tools.parse import parse
from quaere.tools.split import Limits, split

PYTHON = '''"""Fees of é."""
import os

# What is charged.
@cached
def fee(
    nights: int,
) -> int:
    """Return the fee."""
    def inner():
        return 1
    return inner() * nights


class Desk(Place):
    """Where keys are."""
    open = 9

    # Rings once.
    @property
    def bell(self):
        return 1

    def key(self): return 2

tail = 1
'''


def read(text: str, name: str = "fees.py") -> Parsed:
    return parse(text.encode(), name)


def parts(parsed: Parsed) -> list[tuple[tuple[str, ...], int | None, str]]:
    """Give (names of scopes, line, first line) of each block."""
    return [
        (tuple(scope.name for scope in b.within), b.line, parsed.text[b.start : b.end].splitlines()[0])
        for b in parsed.blocks
    ]


def units(parsed: Parsed):
    return split(parsed, lambda texts: [len(text) // 3 + 2 for text in texts], Limits()).sentences


def uncovered(parsed: Parsed) -> str:
    inside = {place for block in parsed.blocks for place in range(block.start, block.end)}
    return "".join(c for place, c in enumerate(parsed.text) if c.isalnum() and place not in inside)


def test_definitions_take_their_comments_and_decorators_along():
    assert parts(read(PYTHON)) == [
        ((), 1, '"""Fees of é."""'),
        (("def fee",), 4, "# What is charged."),
        (("class Desk",), 15, "class Desk(Place):"),
        (("class Desk", "def bell"), 19, "# Rings once."),
        (("class Desk",), 24, "def key(self): return 2"),
        ((), 26, "tail = 1"),
    ]


def test_whole_signatures_govern_and_lines_place_what_stands_below():
    body = "".join(f"        step_{n} = {n}\n" for n in range(20))
    parsed = read(
        f"class Desk:\n\n    def bell(\n        self, times: int\n    ) -> int:\n{body}        return 3\n"
    )
    last = units(parsed)[-1]
    assert parsed.text[last.start : last.end].endswith("return 3")
    assert [parsed.text[a:b] for a, b in last.governed_by] == [
        "class Desk:",
        "def bell(\n        self, times: int\n    ) -> int:",
    ]
    assert last.locator.heading == ("class Desk", "def bell")
    assert last.locator.element == "lines 19–26"


SAMPLES = {
    "a.js": ("class Foo {\n  fee(a) {\n    return 30;\n  }\n}\n", ("class Foo", "fee"), "fee(a)"),
    "b.js": ("export const fee = (a,\n  b) => {\n  return 30;\n};\n", ("const fee",), "const fee = (a,\n  b) =>"),
    "a.ts": ("namespace N {\n  export function fee(): void {\n    return 30;\n  }\n}\n", ("namespace N", "function fee"), "function fee(): void"),
    "a.tsx": ("export function Fee() {\n  return <b>30;</b>;\n}\n", ("function Fee",), "function Fee()"),
    "A.java": ("class Foo {\n  @Override\n  public int fee(int a) {\n    return 30;\n  }\n}\n", ("class Foo", "public int fee"), "@Override\n  public int fee(int a)"),
    "a.go": ("// Fee.\nfunc (s *Desk) Fee(a int) int {\n\treturn 30;\n}\n", ("func (s *Desk) Fee",), "func (s *Desk) Fee(a int) int"),
    "a.rs": ("impl Show for Foo {\n  /// Fee.\n  fn fee(&self) -> R {\n    return 30;\n  }\n}\n", ("impl Show for Foo", "fn fee"), "fn fee(&self) -> R"),
    "a.c": ("static int\nfee(int a)\n{\n  return 30;\n}\n", ("fee",), "static int\nfee(int a)"),
    "a.cpp": ("namespace n {\ntemplate <class T>\nclass Foo {\n  int fee(T a) const {\n    return 30;\n  }\n};\n}\n", ("namespace n", "class Foo", "int fee"), "int fee(T a) const"),
    "a.cs": ("namespace N {\n  class Foo {\n    [Test]\n    public int Fee(int a) {\n      return 30;\n    }\n  }\n}\n", ("namespace N", "class Foo", "public int Fee"), "[Test]\n    public int Fee(int a)"),
    "a.rb": ("module M\n  # doc\n  class Foo\n    def fee(a)\n      return 30;\n    end\n  end\nend\n", ("module M", "class Foo", "def fee"), "def fee(a)"),
    "a.php": ("<?php\nclass Foo {\n  public function fee($a): int {\n    return 30;\n  }\n}\n", ("class Foo", "public function fee"), "public function fee($a): int"),
    "a.sh": ("# doc\nfee() {\n  return 30;\n}\nfee\n", ("fee",), "fee()"),
}  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_each_language_gives_its_definitions(name: str):
    text, path, signature = SAMPLES[name]
    parsed = read(text, name)
    block = next(b for b in parsed.blocks if "30;" in parsed.text[b.start : b.end])
    assert tuple(scope.name for scope in block.within) == path
    assert parsed.text[block.within[-1].start : block.within[-1].end] == signature
    assert uncovered(parsed) == ""


def test_a_file_with_faults_is_read_whole():
    parsed = read(
        "def f(:\n  x = = 1\n\nclass A\n  def g(self):\n    return 3\n@@@\ndef h():\n    return 1\n"
    )
    assert uncovered(parsed) == ""
    assert (("def h",), 8, "def h():") in parts(parsed)


def test_a_language_without_grammar_is_cut_at_blank_lines():
    parsed = read("fun fee() {\n\n  return 1\n}\n\nfun key() {\n}\n", "a.kt")
    assert language_of(".kt") is None
    assert parts(parsed) == [((), 1, "fun fee() {"), ((), 6, "fun key() {")]
    assert units(parsed)[0].locator.element == "lines 1–4"


def test_a_long_function_is_read_by_what_is_defined_in_it():
    inner = "    def handle():\n        return 1\n\n"
    parsed = read("def app():\n" + "    x = 1\n" * 90 + inner + "    return handle\n")
    assert ("def app", "def handle") in [names for names, *_ in parts(parsed)]


PIECES = r"""def f():|class A:|    x = 1|function g() {|}|fn h() {|# né|// é|/*|*/|'''|"|end|int k(int a) {
|  return 1;"""


@pytest.mark.parametrize("name", ["a.py", "a.js", "a.rs", "a.rb", "a.c"])
@given(st.lists(st.sampled_from([*PIECES.split("|"), "", "\t", "\r", "\x0c"]), max_size=25).map("\n".join))
def test_every_letter_of_any_code_lies_in_one_block(name: str, text: str):
    parsed = read(f"word\n{text}", name)
    assert uncovered(parsed) == ""
    assert all(one.end <= two.start for one, two in zip(parsed.blocks, parsed.blocks[1:], strict=False))
    for block in parsed.blocks:
        assert all(scope.start < scope.end <= len(parsed.text) for scope in block.within)
