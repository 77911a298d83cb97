"""Find a quote again with a reader that is not ours: the file itself, pdftotext, the DOCX's XML, lxml."""

from __future__ import annotations

import io
import re
import subprocess
import unicodedata
import zipfile
from pathlib import Path

from ..tools.decode import decode
from ..tools.evidence import Footnote

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def finds_quote(note: Footnote, file: Path) -> bool:
    """Tell whether the quote of a footnote stands where it says, by an independent reader."""
    suffix = file.suffix.lower()
    if suffix == ".pdf":
        return squeezed(note.quote) in squeezed(_pdf_pages(file, note))
    if suffix == ".docx":
        return _in_pieces(note.quote, _docx_text(file))
    if suffix in (".html", ".htm"):
        return _in_pieces(note.quote, _element_text(file, note.locator.element))
    return decode(file.read_bytes())[note.span.start : note.span.end] == note.quote


def squeezed(text: str) -> str:
    """Return letters and digits only, in compatibility form: readers differ in hyphens and spaces."""
    folded = unicodedata.normalize("NFKC", text)
    return "".join(character for character in folded if character.isalnum())


def _in_pieces(quote: str, text: str) -> bool:
    """Tell whether every line and cell of a quote stands in a text, white space collapsed."""
    whole = " ".join(text.split())
    pieces = (" ".join(piece.split()) for line in quote.splitlines() for piece in line.split(" | "))
    return all(piece in whole for piece in pieces)


def _pdf_pages(file: Path, note: Footnote) -> str:
    first, last = note.locator.page or 1, note.locator.last_page or note.locator.page or 1
    command = ["pdftotext", "-f", str(first), "-l", str(last), str(file), "-"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def _docx_text(file: Path) -> str:
    """Return the text of a Word file from its XML; lines and tabs are white space."""
    from lxml import etree

    with zipfile.ZipFile(io.BytesIO(file.read_bytes())) as archive:
        names = [
            name
            for name in archive.namelist()
            if re.fullmatch(r"word/(?:document|footnotes|endnotes)\.xml", name)
        ]
        roots = [etree.fromstring(archive.read(name)) for name in sorted(names)]
    paragraphs = [
        "".join(
            node.text or "" if node.tag == f"{_W}t" else " "
            for node in paragraph.iter(f"{_W}t", f"{_W}tab", f"{_W}br")
        )
        for root in roots
        for paragraph in root.iter(f"{_W}p")
    ]
    return "\n".join(paragraphs)


def _element_text(file: Path, element: str | None) -> str:
    """Return the text of the element a path names, read by lxml."""
    from lxml import html

    node = html.fromstring(file.read_bytes())
    for step in (element or "body").split(" > "):
        place = re.fullmatch(r"(\w+)(?::nth-of-type\((\d+)\))?", step)
        named = re.fullmatch(r"#(.+)|\[id=\"(.+)\"\]", step)
        if named:
            found = node.xpath("//*[@id=$name]", name=named[1] or named[2])
        else:
            found = (
                node.xpath(f"{'//' if step == 'body' else ''}{place[1]}[{place[2] or 1}]") if place else []
            )
        if not found and step.startswith("tbody"):
            continue  # HTML puts every row into a body, written or not; lxml keeps what is written
        if not found:
            return ""
        node = found[0]
    for line_break in node.iter("br"):
        line_break.tail = f"\n{line_break.tail or ''}"
    return str(node.text_content())
