"""Read the text layer of a PDF with pypdfium2: lines with their type, the outline, the title.

PDFium marks a word that is broken at a line end with a control character where the hyphen stood. Whether
the hyphen belongs to the word is decided by how the document spells it elsewhere.
"""

from __future__ import annotations

import ctypes
import re
import threading
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from .errors import DamagedFileError, EncryptedFileError

if TYPE_CHECKING:
    import pypdfium2

_LOCK = threading.Lock()
"""PDFium keeps state that threads may not share."""

_BREAK = "\ufffe\x02\u00ad"
_BROKEN = re.compile(rf"([\w/.-]*)[{_BREAK}]\s*([\w-]*)")
_WORD = re.compile(r"\w+(?:-\w+)+|\w+")
_LIGATURES = re.compile(r"[\ufb00-\ufb06]")
_MONOSPACED = re.compile(r"mono|courier|typewriter|consol|menlo|cmtt|nimbusmonl", re.I)
_BOLD = re.compile(r"bold|black|heavy", re.I)
_BOLD_WEIGHT = 600
_KEY = 16
"""Characters by which a line is found among the characters of its page."""

_REACH = 600
"""Characters to look ahead for a line before the whole page is searched."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page; `size` and `left` are in points, `bold` and `mono` hold for the whole line.

    A `size` of 0 says that the type of the line is unknown, and where it begins with it.
    """

    text: str
    size: float = 0.0
    bold: bool = False
    mono: bool = False
    left: float = 0.0


@dataclass(frozen=True, slots=True)
class Page:
    """A page, counted from 1, with its lines in reading order; an empty line stands for a gap."""

    number: int
    lines: tuple[Line, ...]

    @property
    def has_text(self) -> bool:
        """Tell whether a letter or digit stands on the page."""
        return any(character.isalnum() for line in self.lines for character in line.text)


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the outline; `level` counts from 1, `page` from 1 (None when it points nowhere)."""

    level: int
    title: str
    page: int | None


@dataclass(frozen=True, slots=True)
class Layer:
    """Everything that is read of a PDF."""

    pages: tuple[Page, ...]
    outline: tuple[Entry, ...]
    title: str


def read_layer(data: bytes) -> Layer:
    """Return the text layer of a PDF; EncryptedFileError or DamagedFileError when there is no way in."""
    import pypdfium2

    with _LOCK:
        document = _open(pypdfium2, data)
        try:
            raw = [_page_lines(document, i) for i in range(len(document))]
            outline = tuple(_outline(document))
            title = (document.get_metadata_dict().get("Title") or "").strip()
        except (pypdfium2.PdfiumError, ValueError) as error:
            raise DamagedFileError("not a readable PDF") from error
        finally:
            document.close()
    spelled = _spellings(raw)
    return Layer(
        tuple(Page(i, tuple(_clean(lines, spelled))) for i, lines in enumerate(raw, 1)), outline, title
    )


def _open(library: Any, data: bytes) -> pypdfium2.PdfDocument:  # noqa: ANN401  (the module)
    try:
        return library.PdfDocument(data)
    except library.PdfiumError as error:
        if "password" in str(error).casefold() or "security" in str(error).casefold():
            raise EncryptedFileError("password required") from error
        raise DamagedFileError("not a readable PDF") from error


def _outline(document: pypdfium2.PdfDocument) -> Iterator[Entry]:
    for mark in document.get_toc():
        title = " ".join((mark.get_title() or "").split())
        target = mark.get_dest()
        index = target.get_index() if target is not None else None
        if title:
            yield Entry(mark.level + 1, title, None if index is None else index + 1)


def _page_lines(document: pypdfium2.PdfDocument, index: int) -> list[Line]:
    """Return the lines of a page as PDFium gives them, with the type of each."""
    page = document[index]
    layer = page.get_textpage()
    try:
        text = str(layer.get_text_bounded())
        types = _Types(layer)
        return [types.line(line) for line in re.split(r"\r\n|\r|\n", text)]
    finally:
        layer.close()
        page.close()


class _Types:
    """Look up the type of a line by its first, middle and last character on the page."""

    def __init__(self, layer: pypdfium2.PdfTextPage) -> None:
        from pypdfium2 import raw

        self._raw = raw
        self._layer = layer
        self._characters = str(layer.get_text_range())
        self._at = 0
        self._name = ctypes.create_string_buffer(128)
        self._flags = ctypes.c_int()

    def line(self, text: str) -> Line:
        """Return a line with its type; of unknown type when its characters are not found."""
        key = re.split(rf"[{_BREAK}]", text.strip())[0][:_KEY].strip()
        start = self._find(key) if key else -1
        if start < 0:
            return Line(text)
        last = min(start + len(text.strip()), len(self._characters)) - 1
        places = {place for place in (start, (start + last) // 2, last) if self._is_ink(place)}
        types = [self._type(place) for place in sorted(places)]
        bold, mono = all(bold for _, bold, _ in types), all(mono for *_, mono in types)
        return Line(text, types[0][0], bold, mono, self._left(start))

    def _find(self, key: str) -> int:
        start = self._characters.find(key, self._at, self._at + _REACH)
        if start < 0:
            start = self._characters.find(key)
        if start >= self._at:
            self._at = start + len(key)
        return start

    def _left(self, place: int) -> float:
        left, right, bottom, top = (ctypes.c_double() for _ in range(4))
        self._raw.FPDFText_GetCharBox(self._layer, self._index(place), left, right, bottom, top)
        return left.value

    def _index(self, place: int) -> int:
        """Return the number of a character on the page, which counts those without text too."""
        return int(self._raw.FPDFText_GetCharIndexFromTextIndex(self._layer, place))

    def _is_ink(self, place: int) -> bool:
        return place < len(self._characters) and not self._characters[place].isspace()

    def _type(self, place: int) -> tuple[float, bool, bool]:
        """Return size in points, whether bold, whether monospaced of a character."""
        index = self._index(place)
        size = round(float(self._raw.FPDFText_GetFontSize(self._layer, index)) * 2) / 2
        weight = self._raw.FPDFText_GetFontWeight(self._layer, index)
        self._raw.FPDFText_GetFontInfo(self._layer, index, self._name, len(self._name), self._flags)
        name = self._name.value.decode("latin-1")
        return size, bool(weight >= _BOLD_WEIGHT or _BOLD.search(name)), bool(_MONOSPACED.search(name))


def _spellings(pages: Sequence[Sequence[Line]]) -> frozenset[str]:
    """Return the words of a document, those with hyphens as a whole and in lower case."""
    return frozenset(word.lower() for lines in pages for line in lines for word in _WORD.findall(line.text))


def _clean(lines: Sequence[Line], spelled: frozenset[str]) -> Iterator[Line]:
    """Yield lines with broken words joined, ligatures spelled out and control characters gone."""
    join: Callable[[re.Match[str]], str] = partial(_joined_word, spelled)
    carried: Line | None = None
    for line in lines:
        if carried is not None:
            line = replace(carried, text=carried.text + line.text.lstrip())
            carried = None
        if line.text.strip() and line.text.rstrip()[-1] in _BREAK:
            carried = line
            continue
        yield _spelled_out(line, join)
    if carried is not None:
        yield _spelled_out(carried, join)


def _spelled_out(line: Line, join: Callable[[re.Match[str]], str]) -> Line:
    text = _LIGATURES.sub(
        lambda match: unicodedata.normalize("NFKC", match.group(0)), _BROKEN.sub(join, line.text)
    )
    shown = text if text.isprintable() else "".join(_shown(c) for c in text)
    return replace(line, text=shown.rstrip() if line.mono else " ".join(shown.split()))


def _shown(character: str) -> str:
    return character if character.isprintable() else " " if character.isspace() else ""


def _joined_word(spelled: frozenset[str], match: re.Match[str]) -> str:
    """Join the halves of a broken word; the hyphen stays when the document writes the word only with it."""
    head, tail = match[1], match[2]
    first = re.search(r"\w*$", head)
    half = (first[0] if first else "").lower()
    with_hyphen, without = f"{half}-{tail.lower()}", f"{half}{tail.lower()}"
    keep = with_hyphen in spelled and without not in spelled
    return f"{head}-{tail}" if keep else f"{head}{tail}"
