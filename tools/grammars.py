"""Find the definitions of source code with tree-sitter: which lines each takes and how its signature reads.

A grammar a language comes from the packages tree-sitter-…; they know no suffixes and no notion of what
defines something, so both stand here. Code with faults still gives the definitions around them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Parser, Query

_SUFFIXES = {
    "python": ".py .pyi .pyw",
    "javascript": ".js .jsx .mjs .cjs",
    "typescript": ".ts .mts .cts",
    "tsx": ".tsx",
    "java": ".java",
    "go": ".go",
    "rust": ".rs",
    "c": ".c .h",
    "cpp": ".cc .cpp .cxx .hpp .hh .hxx",
    "c_sharp": ".cs",
    "ruby": ".rb",
    "php": ".php",
    "bash": ".sh .bash",
}
_LANGUAGES = {suffix: name for name, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}

_FUNCTION_VALUE = "[(arrow_function) (function_expression) (generator_function)]"
_JAVASCRIPT = f"""function_declaration generator_function_declaration class_declaration method_definition
    |(lexical_declaration (variable_declarator value: {_FUNCTION_VALUE}))
    |(variable_declaration (variable_declarator value: {_FUNCTION_VALUE}))
    |(expression_statement (assignment_expression right: {_FUNCTION_VALUE}))"""
_TYPESCRIPT = f"""abstract_class_declaration interface_declaration enum_declaration type_alias_declaration
    internal_module {_JAVASCRIPT} |(public_field_definition value: {_FUNCTION_VALUE})"""
_C = """function_definition type_definition preproc_function_def
    |(struct_specifier body: (_)) |(union_specifier body: (_)) |(enum_specifier body: (_))"""
_DEFINITIONS = {
    "python": "function_definition class_definition",
    "javascript": f"{_JAVASCRIPT} |(field_definition value: {_FUNCTION_VALUE})",
    "typescript": _TYPESCRIPT,
    "tsx": _TYPESCRIPT,
    "java": """class_declaration interface_declaration enum_declaration record_declaration
        annotation_type_declaration method_declaration constructor_declaration
        compact_constructor_declaration""",
    "go": "function_declaration method_declaration type_declaration",
    "rust": """function_item impl_item struct_item enum_item union_item trait_item mod_item
        macro_definition""",
    "c": _C,
    "cpp": f"namespace_definition concept_definition {_C} |(class_specifier body: (_))",
    "c_sharp": """namespace_declaration class_declaration interface_declaration struct_declaration
        record_declaration enum_declaration method_declaration constructor_declaration
        destructor_declaration operator_declaration conversion_operator_declaration property_declaration
        indexer_declaration""",
    "ruby": "module class method singleton_method",
    "php": """namespace_definition function_definition class_declaration interface_declaration
        trait_declaration enum_declaration method_declaration""",
    "bash": "function_definition",
}
"""Kinds of nodes that define something, and behind bars patterns of such nodes."""

_FUNCTIONS = {"typescript": "language_typescript", "tsx": "language_tsx", "php": "language_php"}
_MODULES = {"tsx": "typescript"}
_WRAPPERS = frozenset(
    ["decorated_definition", "export_statement", "ambient_declaration", "template_declaration", "declaration"]
)
_OPENERS = frozenset(["attribute_item", "decorator", "attribute_list"])
_CONTAINERS = frozenset(
    ["class", "interface", "struct", "enum", "impl", "trait", "mod", "module", "namespace", "record", "union"]
)
"""Words in the kinds of nodes that are read by the definitions inside them, however short they are."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition by its lines [first, last], from 0, comments above it included.

    `signature` and `name_end` are (line, byte column): [signature, signature_end) governs the body.
    """

    first: int
    last: int
    signature: tuple[int, int]
    signature_end: tuple[int, int]
    name_end: tuple[int, int] | None
    holds_others: bool


def language_of(suffix: str) -> str | None:
    """Return the language whose grammar reads files of a suffix, or None."""
    return _LANGUAGES.get(suffix)


def definitions(data: bytes, language: str) -> list[Definition]:
    """Return the definitions in UTF-8 text that take more than a line, outer ones before those in them."""
    from tree_sitter import QueryCursor

    parser, query = _tools(language)
    tree = parser.parse(data)
    lines = data.split(b"\n")
    nodes = QueryCursor(query).captures(tree.root_node).get("definition", [])
    found = [_definition(node, lines) for node in nodes if node.start_point.row < node.end_point.row]
    return sorted(found, key=lambda one: (one.first, -one.last, one.name_end is None))


@lru_cache(maxsize=len(_DEFINITIONS))
def _tools(language: str) -> tuple[Parser, Query]:
    """Return the parser of a language and the query for what defines something in it."""
    from tree_sitter import Language, Parser, Query

    module = import_module(f"tree_sitter_{_MODULES.get(language, language)}")
    grammar: Language = Language(getattr(module, _FUNCTIONS.get(language, "language"))())
    kinds, *patterns = _DEFINITIONS[language].split("|")
    wanted = [*(f"({kind})" for kind in kinds.split()), *patterns]
    return Parser(grammar), Query(grammar, "[" + "\n".join(wanted) + "] @definition")


def _definition(node: Node, lines: Sequence[bytes]) -> Definition:
    name = _name(node)
    begin = node.start_point
    end = _signature_end(node) or (begin.row, len(lines[begin.row]))
    return Definition(
        first=_first_line(node, lines),
        last=_last_line(node),
        signature=(begin.row, begin.column),
        signature_end=end,
        name_end=(name.end_point.row, name.end_point.column) if name else None,
        holds_others=bool(_CONTAINERS.intersection(node.type.split("_"))),
    )


def _signature_end(node: Node) -> tuple[int, int] | None:
    """Return where the body of a definition begins, or a comment before it."""
    body = _body(node)
    if body is None:
        return None
    notes = (one for one in node.children if "comment" in one.type and one.start_byte < body.start_byte)
    end = next(notes, body).start_point
    return end.row, end.column


def _last_line(node: Node) -> int:
    """Return the last line a node has signs in; some nodes take the line break behind them along."""
    end = node.end_point
    return end.row if end.column else max(node.start_point.row, end.row - 1)


def _first_line(node: Node, lines: Sequence[bytes]) -> int:
    """Return the line a definition begins on with its decorators, attributes and the comment right above."""
    while node.parent and node.parent.type in _WRAPPERS:
        node = node.parent
    first = node.start_point.row
    above = node.prev_sibling
    while above and ("comment" in above.type or above.type in _OPENERS):
        begin = above.start_point
        if _last_line(above) < first - 1 or lines[begin.row][: begin.column].strip():
            break
        first = min(first, begin.row)
        above = above.prev_sibling
    return first


def _body(node: Node) -> Node | None:
    """Return the body of a definition, which may be that of the function it gives a name to."""
    body = node.child_by_field_name("body")
    if body or node.type in ("type_definition", "type_declaration"):
        return body
    return next((one for one in map(_body, _inner(node)) if one), None)


def _name(node: Node) -> Node | None:
    """Return the node that holds the name of a definition, such as the declarator of a function of C."""
    for field in ("name", "left", "declarator"):
        named = node.child_by_field_name(field)
        if named:
            return _name(named) or named
    return next((one for one in map(_name, _inner(node)) if one), None)


def _inner(node: Node) -> Iterator[Node]:
    kinds = ("variable_declarator", "assignment_expression", *_FUNCTION_VALUE.strip("[]()").split(") ("))
    return (child for child in node.named_children if child.type in kinds)
