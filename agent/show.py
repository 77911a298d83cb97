"""Answers, searches and sources as text for a person or a pipe; evidence goes through `clean`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from .clock import ago
from .terminal import Paper, clean, clean_name

if TYPE_CHECKING:
    from ..tools.answer import Answer, Hit, Search
    from ..tools.corpus import SourceSummary
    from ..tools.evidence import Conflict, Footnote, Locator, Span

EXCERPT_LINES = 3
EXCERPT_WIDTH = 240
RENDERED = (".docx", ".html", ".htm", ".xhtml")
"""Formats whose text is our own rendering of the file, so that offsets do not count in the file."""


def show_answer(answer: Answer, paper: Paper) -> str:
    """Return the answer with its footnotes, what is missing and the notes, and nothing else."""
    several = _are_several(note.source for note in answer.footnotes)
    parts = [
        paper.wrap(clean(answer.text)),
        *(_conflict(conflict, paper) for conflict in answer.conflicts if not _is_told(conflict, answer)),
        _lines((f"- {option}" for option in answer.options), paper),
        "\n".join(_footnote(note, several, paper) for note in answer.footnotes),
        _lines((f"missing: {thing}" for thing in answer.missing), paper),
        _notes(answer.notes, paper),
    ]
    return "\n\n".join(part for part in parts if part.strip()) + "\n"


def status_line(answer: Answer) -> str:
    """Return the status, what was spent, the revision and the run on one line."""
    spent = answer.spent
    parts = [
        answer.status,
        f"{spent.get('steps', 0):.0f} steps",
        f"{spent.get('tool_calls', 0):.0f} tool calls",
        *_of_a_model(spent),
        f"{spent.get('seconds', 0):.1f} s",
        f"revision {answer.revision}",
        f"run {answer.run}",
    ]
    reason = "" if answer.status == "answered" or not answer.reason else f" ({answer.reason})"
    return f"{parts[0]}{reason} · " + " · ".join(parts[1:])


def _of_a_model(spent: Mapping[str, float]) -> list[str]:
    """Return what a model cost; nothing where none was asked."""
    if not spent.get("model_calls"):
        return []
    parts = [f"{spent['model_calls']:.0f} model calls", f"{spent.get('tokens', 0):,.0f} tokens"]
    return parts + ([f"{spent['usd']:.4f} USD"] if "usd" in spent else [])


def show_search(search: Search, paper: Paper) -> str:
    """Return the fused ranking with the place of each hit in both rankings."""
    several = _are_several(hit.reading.document.source for hit in search.hits)
    hits = [_hit(rank, hit, several, paper) for rank, hit in enumerate(search.hits, 1)]
    told = "vectors searched through Chroma, scored exactly" if search.engine == "chroma" else ""
    parts = [*(hits or ["nothing found"]), told, _notes(search.notes, paper)]
    return "\n\n".join(part for part in parts if part) + "\n"


def show_sources(sources: Sequence[SourceSummary], paper: Paper) -> str:
    """Return what each source holds and which of its files could not be read."""
    if not sources:
        return "no sources yet; run `quaere add FOLDER` to index one\n"
    return "\n\n".join(_source(source, paper) for source in sources) + "\n"


def place(name: str, locator: Locator, span: Span) -> str:
    """Return where a reader finds a span: document, headings, then page, element or characters."""
    path = " › ".join(clean_name(part) for part in (name, *locator.heading))
    return f"{path}, {_within(name, locator, span)}"


def _within(name: str, locator: Locator, span: Span) -> str:
    if locator.page is not None:
        last = locator.last_page or locator.page
        return f"page {locator.page}" if last == locator.page else f"pages {locator.page}–{last}"
    if locator.element is not None:
        return clean_name(locator.element)
    rendered = PurePosixPath(name).suffix.lower() in RENDERED
    return f"characters {span.start}–{span.end}{' of its text' if rendered else ''}"


def _footnote(note: Footnote, several: bool, paper: Paper) -> str:
    name = f"{note.source}/{note.document}" if several else note.document
    mark = " (changed since indexed, run `quaere sync`)" if note.changed else ""
    label = f"[{note.n}] "
    head = paper.wrap(f"{label}{place(name, note.locator, note.span)}{mark}", "", " " * len(label))
    return f"{head}\n{paper.wrap(clean(note.quote), '    ')}"


def _is_told(conflict: Conflict, answer: Answer) -> bool:
    """Tell whether the text of the answer holds every side already."""
    return all(side.text in answer.text for side in conflict.sides)


def _conflict(conflict: Conflict, paper: Paper) -> str:
    sides = [clean(side.text) + "".join(f" [{note.n}]" for note in side.footnotes) for side in conflict.sides]
    head = paper.wrap(f"The sources disagree about {clean_name(conflict.about)}:")
    return "\n".join([head, *(paper.wrap(f"- {side}", "", "  ") for side in sides)])


def _lines(items: Iterable[str], paper: Paper) -> str:
    return "\n".join(paper.wrap(clean(item), "", "  ") for item in items)


def _notes(notes: Sequence[str], paper: Paper) -> str:
    text = _lines((f"note: {note}" for note in notes), paper)
    return paper.dim(text) if text else ""


def _hit(rank: int, hit: Hit, several: bool, paper: Paper) -> str:
    reading = hit.reading
    document = reading.document
    name = f"{document.source}/{document.path}" if several else document.path
    label = f"{rank}. "
    hang = " " * len(label)
    where = place(name, reading.locator, reading.passage.span)
    ranks = f"fused {hit.score:.4f} · keyword {_ranked(hit, 'keyword')} · vector {_ranked(hit, 'vector')}"
    return "\n".join(
        [
            paper.bold(paper.wrap(label + where, "", hang)),
            paper.dim(paper.wrap(ranks, hang)),
            _excerpt(reading.text, paper),
        ]
    )


def _ranked(hit: Hit, channel: str) -> str:
    """Return the rank and the score a channel gave, or a dash where it did not find the passage."""
    rank, score = hit.ranks.get(channel), hit.scores.get(channel)
    if rank is None:
        return "–"
    if score is None:
        return str(rank)
    return f"{rank} (cosine {score:.3f})" if channel == "vector" else f"{rank} (score {score:.2f})"


def _excerpt(text: str, paper: Paper) -> str:
    """Return the first lines of a passage, indented; a pipe gets long lines cut, a terminal wrapped."""
    lines = [line.strip() for line in clean(text).split("\n") if line.strip()]
    if paper.width is None:
        cut = [line[:EXCERPT_WIDTH] + "…" * (len(line) > EXCERPT_WIDTH) for line in lines]
        shown = [f"    {line}" for line in cut]
    else:
        shown = paper.wrap("\n".join(lines), "    ").split("\n")
    more = " …" if len(shown) > EXCERPT_LINES else ""
    return "\n".join(shown[:EXCERPT_LINES]) + more


def _source(source: SourceSummary, paper: Paper) -> str:
    gone = "" if source.is_there else " (not there now; what was indexed is kept)"
    indexed = f", last indexed {ago(source.updated_at)}" if source.updated_at else ""
    kind = " (attached collection)" if source.kind == "chroma" else ""
    ready = source.vectors >= source.passages
    vectors = "all with a vector" if ready else f"{source.vectors:,} of them with a vector"
    labels = ", ".join(f"{key}={value}" for key, values in source.labels.items() for value in values)
    lines = [
        paper.bold(f"{clean_name(source.id)}  {clean_name(source.root)}{kind}{gone}"),
        f"    {count(source.documents, 'document')}, {count(source.passages, 'passage')}, {vectors}",
        f"    added {ago(source.added_at)}{indexed}",
        *([f"    labels: {clean_name(labels)}"] if labels else []),
        *(f"    {failure(path, reason)}" for path, reason in source.failures),
    ]
    return "\n".join(lines)


def failure(path: str, reason: str) -> str:
    """Return the line of a file that could not be read."""
    return f"failed: {clean_name(path)}: {clean_name(reason)}"


def count(number: int, noun: str) -> str:
    """Return a number with its noun, such as `2 files`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _are_several(sources: Iterable[str]) -> bool:
    return len(set(sources)) > 1
