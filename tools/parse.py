"""Read a file's bytes as canonical text with structure; no I/O happens here.

Markdown, text and code keep the decoded file untouched, so a span can be cut out of the file. PDF pages and
the blocks of HTML and DOCX are laid out one after another, with pages or elements on the blocks.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from .errors import BinaryFileError, EmptyFileError
from .evidence import Parsed

Parser = Callable[[bytes, str], Parsed]

_FORMATS = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".mdown": "markdown",
    ".mkd": "markdown",
    ".mdx": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".docx": "docx",
    ".docm": "docx",
}
_MEDIA_TYPES = {
    "markdown": "text/markdown",
    "html": "text/html",
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
_TEXT_SUFFIXES = frozenset(
    re.findall(
        r"\.\w+",
        """.txt .text .rst .log .csv .tsv .json .jsonl .ndjson .ini .cfg .conf .toml .yaml .yml .tex .org
        .adoc .py .pyi .js .jsx .ts .tsx .java .kt .c .h .cc .cpp .hpp .cs .go .rs .rb .php .swift .sh .sql
        .css .xml .properties .env .eml .srt""",
    )
)
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

_VERSIONS = {"markdown": 1, "html": 1, "pdf": 1, "docx": 1, "text": 1}


def parse(data: bytes, path: str) -> Parsed:
    """Return the canonical text of a file; UnreadableError when there is none to be had."""
    if not data:
        raise EmptyFileError("empty")
    name = format_of(path)
    if name in ("text", "markdown", "html") and data.startswith(_BINARY):
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
    suffix = PurePosixPath(path).suffix.lower()
    if suffix in _TEXT_SUFFIXES:
        return "text/plain"
    return _MEDIA_TYPES.get(format_of(path))


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
    else:
        from .parse_text import parse_text as parser
    return parser
