"""Write small real PDF files: text pages, optionally locked with the standard RC4 handler (40 bits)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

_PAD = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
_ID = b"0123456789abcdef"


def write_pdf(
    pages: Sequence[str | bytes], *, user: str | None = None, owner: str | None = None, title: str = ""
) -> bytes:
    """Return a PDF with one page a text or content stream; with a password strings and streams are encrypted.

    `user` is asked for on opening; with `owner` alone the file opens without a password.
    """
    key, entries = _lock(user or "", owner or user or "") if (user or owner) else (b"", b"")
    objects: dict[int, bytes] = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [%s] /Count %d >>"
        % (b" ".join(b"%d 0 R" % (4 + 2 * i) for i in range(len(pages))), len(pages)),
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    }
    for i, text in enumerate(pages):
        number = 4 + 2 * i
        objects[number] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
            b"/Contents %d 0 R >>" % (number + 1)
        )
        content = _sealed(text if isinstance(text, bytes) else _content(text), key, number + 1)
        objects[number + 1] = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content)
    info = max(objects) + 1
    objects[info] = b"<< /Title <%s> >>" % _sealed(title.encode("latin-1"), key, info).hex().encode()
    return _file(objects, info, entries)


def scanned(text: str) -> bytes:
    """Return the content stream of a page that shows a text as an image and holds no letter of it."""
    import pypdfium2

    page = pypdfium2.PdfDocument(write_pdf([text]))[0]
    rows = page.render(grayscale=True).to_numpy().squeeze()[30:80]
    height, width = rows.shape
    image = b"BI /W %d /H %d /BPC 8 /CS /G /F /AHx ID %s> EI" % (width, height, rows.tobytes().hex().encode())
    return b"q 595 0 0 50 0 760 cm\n%s\nQ" % image


def _content(text: str) -> bytes:
    lines = [line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") for line in text.split("\n")]
    shown = "\n".join(f"({line}) Tj T*" for line in lines)
    return f"BT /F1 11 Tf 14 TL 60 780 Td\n{shown}\nET".encode("cp1252")


def _file(objects: dict[int, bytes], info: int, entries: bytes) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places = {}
    if entries:
        objects = {**objects, max(objects) + 1: entries}
    for number, body in sorted(objects.items()):
        places[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    size = max(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    out += b"".join(b"%010d 00000 n \n" % places[number] for number in range(1, size))
    encrypt = b" /Encrypt %d 0 R" % max(objects) if entries else b""
    out += b"trailer\n<< /Size %d /Root 1 0 R /Info %d 0 R /ID [<%s> <%s>]%s >>\n" % (
        size,
        info,
        _ID.hex().encode(),
        _ID.hex().encode(),
        encrypt,
    )
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)


def _lock(user: str, owner: str) -> tuple[bytes, bytes]:
    """Return the file key and the encryption dictionary (PDF 1.4 reference, algorithms 2 to 4)."""
    permissions = -4
    sealed_owner = _rc4(hashlib.md5(_padded(owner)).digest()[:5], _padded(user))
    seed = _padded(user) + sealed_owner + permissions.to_bytes(4, "little", signed=True) + _ID
    key = hashlib.md5(seed).digest()[:5]
    sealed_user = _rc4(key, _PAD)
    return key, b"<< /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P %d >>" % (
        sealed_owner.hex().encode(),
        sealed_user.hex().encode(),
        permissions,
    )


def _padded(password: str) -> bytes:
    return (password.encode("latin-1") + _PAD)[:32]


def _sealed(data: bytes, key: bytes, number: int) -> bytes:
    if not key:
        return data
    return _rc4(hashlib.md5(key + number.to_bytes(3, "little") + b"\0\0").digest()[:10], data)


def _rc4(key: bytes, data: bytes) -> bytes:
    box = list(range(256))
    j = 0
    for i in range(256):
        j = (j + box[i] + key[i % len(key)]) % 256
        box[i], box[j] = box[j], box[i]
    out = bytearray()
    i = j = 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + box[i]) % 256
        box[i], box[j] = box[j], box[i]
        out.append(byte ^ box[(box[i] + box[j]) % 256])
    return bytes(out)
