"""Read a file's bytes as canonical text with structure; no I/O happens here.

Markdown, text, tables, JSON and code keep the decoded file untouched, so a span can be cut out of the file.
PDF pages and the blocks of HTML and DOCX are laid out one after another, with their pages or elements.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from .errors import BinaryFileError, EmptyFileError
from .evidence import Parsed

Parser = Callable[[bytes, str], Parsed]

_SUFFIXES = {
    "markdown": ".md .markdown .mdown .mkd .mdx",
    "html": ".html .htm .xhtml",
    "pdf": ".pdf",
    "docx": ".docx .docm",
    "rst": ".rst .rest",
    "table": ".csv .tsv .tab",
    "json": ".json .jsonl .ndjson .geojson",
    "log": ".log",
    "code": """.py .pyi .pyw .js .jsx .mjs .cjs .ts .mts .cts .tsx .java .kt .kts .scala .c .h .cc .cpp .cxx
        .hpp .hh .hxx .cs .go .rs .rb .php .swift .lua .pl .pm .r .jl .hs .ex .exs .erl .clj .el .lisp .sh
        .bash .zsh .fish .ps1 .bat .sql .css .scss .less .toml .yaml .yml .ini .cfg .conf .properties .env
        .xml .xsd .svg .gradle .cmake .mk .tf .proto .graphql .diff .patch .dockerfile""",
    "text": ".txt .text .tex .org .adoc .eml .srt",
}
_FORMATS = {suffix: name for name, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}
_MEDIA_TYPES = {
    "markdown": "text/markdown",
    "html": "text/html",
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "rst": "text/plain",
    "table": "text/csv",
    "json": "application/json",
    "log": "text/plain",
    "code": "text/plain",
    "text": "text/plain",
}
_BINARY = (
    b"%PDF-",
    b"PK\x03\x04",
    b"\x7fELF",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"\x1f\x8b",
    b"\xd0\xcf\x11\xe0",
)
"""First bytes of formats that are not text, whatever the name says."""

_LAID_OUT = frozenset(["pdf", "docx"])
_VERSIONS = dict.fromkeys(_SUFFIXES, 1)


def parse(data: bytes, path: str) -> Parsed:
    """Return the canonical text of a file; UnreadableError when there is none to be had."""
    if not data:
        raise EmptyFileError("empty")
    name = format_of(path)
    if name not in _LAID_OUT and data.startswith(_BINARY):
        raise BinaryFileError("binary, not text")
    parsed = _parser(name)(data, path)
    if not any(character.isalnum() for character in parsed.text):
        raise EmptyFileError("empty: no letter or digit in it")
    return parsed


def format_of(path: str) -> str:
    """Return the format a path's suffix names; everything else is read as text, if it is text."""
    return _FORMATS.get(PurePosixPath(path).suffix.lower(), "text")


def media_type(path: str) -> str | None:
    """Return the media type by a path's suffix, or None when only its bytes can tell."""
    return _MEDIA_TYPES.get(_FORMATS.get(PurePosixPath(path).suffix.lower(), ""))


def parser_mark(path: str) -> str:
    """Return name and version of the parser that reads a path; it changes when its output does."""
    name = format_of(path)
    return f"{name}/{_VERSIONS[name]}"


def _parser(name: str) -> Parser:
    """Return a format's parser; its library is imported only now."""
    if name == "markdown":
        from .parse_markdown import parse_markdown as parser
    elif name == "html":
        from .parse_html import parse_html as parser
    elif name == "pdf":
        from .parse_pdf import parse_pdf as parser
    elif name == "docx":
        from .parse_docx import parse_docx as parser
    elif name == "rst":
        from .parse_rst import parse_rst as parser
    elif name == "table":
        from .parse_table import parse_table as parser
    elif name == "json":
        from .parse_json import parse_json as parser
    elif name == "code":
        from .parse_code import parse_code as parser
    else:
        from .parse_text import parse_text as parser
    return parser
