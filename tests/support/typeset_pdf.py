"""Write PDF pages whose lines have a size and a face, with an outline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

FACES = {"roman": b"Helvetica", "bold": b"Helvetica-Bold", "mono": b"Courier"}


@dataclass(frozen=True)
class Set:
    """A line of type; `left` and `size` are in points."""

    text: str
    size: int = 11
    face: str = "roman"
    left: int = 60


def typeset_pdf(pages: Sequence[Sequence[Set]], outline: Sequence[tuple[str, int]] = ()) -> bytes:
    """Return a PDF of the given pages; `outline` holds title and page (from 1) of each entry."""
    fonts = b" ".join(b"/%s %d 0 R" % (face.encode(), 3 + i) for i, face in enumerate(FACES))
    first = 3 + len(FACES)
    objects = {3 + i: _font(name) for i, name in enumerate(FACES.values())}
    for i, page in enumerate(pages):
        number = first + 2 * i
        content = _content(page)
        objects[number] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << %s >> >> "
            b"/Contents %d 0 R >>" % (fonts, number + 1)
        )
        objects[number + 1] = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content)
    kids = b" ".join(b"%d 0 R" % (first + 2 * i) for i in range(len(pages)))
    objects[2] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(pages))
    root = first + 2 * len(pages)
    objects |= _outline(outline, root, first)
    marks = b" /Outlines %d 0 R" % root if outline else b""
    objects[1] = b"<< /Type /Catalog /Pages 2 0 R%s >>" % marks
    return _file(objects)


def _font(name: bytes) -> bytes:
    return b"<< /Type /Font /Subtype /Type1 /BaseFont /%s /Encoding /WinAnsiEncoding >>" % name


def _content(page: Sequence[Set]) -> bytes:
    shown, height = [], 800
    for line in page:
        height -= round(1.4 * line.size)
        text = line.text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        shown.append(f"BT /{line.face} {line.size} Tf {line.left} {height} Td ({text}) Tj ET")
    return "\n".join(shown).encode("cp1252")


def _outline(entries: Sequence[tuple[str, int]], root: int, first: int) -> dict[int, bytes]:
    if not entries:
        return {}
    last = root + len(entries)
    objects = {root: b"<< /First %d 0 R /Last %d 0 R /Count %d >>" % (root + 1, last, len(entries))}
    for i, (title, page) in enumerate(entries, 1):
        links = (b" /Next %d 0 R" % (root + i + 1) if i < len(entries) else b"") + (
            b" /Prev %d 0 R" % (root + i - 1) if i > 1 else b""
        )
        objects[root + i] = b"<< /Title (%s) /Parent %d 0 R /Dest [%d 0 R /Fit]%s >>" % (
            title.encode("latin-1"),
            root,
            first + 2 * (page - 1),
            links,
        )
    return objects


def _file(objects: dict[int, bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places = {}
    for number, body in sorted(objects.items()):
        places[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start, size = len(out), max(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    out += b"".join(b"%010d 00000 n \n" % places[number] for number in range(1, size))
    return bytes(out + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, start))
