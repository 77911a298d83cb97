"""Make the corpus equal to an attached Chroma collection: each record with a document is a document of ours.

Its text is the record's document, its path the record's id. The stored embedding is the vector of a record
that is one passage; longer ones are cut and encoded as files are.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .analyze import terms
from .attached import Attached, Record, attached, folder_mark
from .attached_fit import Fit, check_fit
from .attached_location import KIND, Location, read_location
from .corpus import Corpus, Known, Source
from .draft import Draft, Failure, File
from .embed import Encoder
from .errors import DamagedFileError, UnreadableError
from .index import IndexSettings, Progress, Shaping
from .lock import writer_lock
from .marks import read_marks
from .parse import parse, parser_mark
from .plan import AwayError
from .relabel import rules_mark
from .sources import free_name
from .split import Split, split
from .standing import RACY_NS, Observation, Stamp, content_hash
from .writer import Writer, encoder_input, input_key

RECORD = "record.txt"
"""The name under which the parser sees every record: an id is no file name, whatever it looks like."""

NO_PATH = ""
"""What rules see as the path of a record: whoever fills a collection chooses ids, and so no labels."""

MERGE_EVERY = 5
"""Pages after which the keyword index is merged on the way."""


@dataclass(slots=True)
class Bringing:
    """What it takes to bring a collection up to date, and what was done: counts, failures and warnings."""

    corpus: Corpus
    source: Source
    encoder: Encoder | None
    settings: IndexSettings
    shape: Shaping
    building: bool
    progress: Progress
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    failed_before: dict[str, Failure] = field(default_factory=dict)

    def serves(self, known: Known) -> bool:
        """Tell whether nothing has to be made of a record that holds what is known of it."""
        mine = replace(known, file=replace(known.file, path=RECORD))
        return self.shape.is_fresh(mine) or (self.building and self.shape.is_staged(mine))


def attach_source(corpus: Corpus, location: str, encoder: Encoder | None, settings: IndexSettings) -> Source:
    """Register a collection that can be read and fits the encoder; the same one again is returned.

    UsageError, EncoderError or SourceUnavailableError say why it cannot be; nothing is registered then.
    """
    wanted = read_location(location)
    with writer_lock(corpus.folder):
        known = [one for one in corpus.sources() if one.location == wanted.text]
        if known:
            return known[0]
        detail = {"token_variable": settings.chroma_token_variable}
        with attached(wanted, _token(settings)) as collection:
            if encoder is not None:
                check_fit(collection, encoder, wanted.name)
        name = free_name(wanted.name, {source.id for source in corpus.sources()})
        with corpus.write() as writer:
            writer.attach_source(name, KIND, wanted.text, detail)
        return next(one for one in corpus.sources() if one.id == name)


def bring_collection(run: Bringing) -> None:
    """Bring a collection up to date; AwayError, EncoderError or SourceUnavailableError leave it as it is."""
    location = read_location(run.source.location)
    known = run.corpus.known(run.source.id)
    mark = _mark(location)
    run.failed_before = run.corpus.failures(run.source.id)
    if _is_untouched(run, mark, known.values()):
        return
    with attached(location, _token(run.settings)) as collection:
        _check_place(run, collection, known)
        fit = check_fit(collection, run.encoder, location.name) if run.encoder else None
        seen, without_text = _take_all(run, collection, known, fit)
        _delete(run, collection, [one for path, one in known.items() if path not in seen])
    _merge(run)
    _note(run, collection, {"mark": mark, "without_text": without_text}, fit)


def _token(settings: IndexSettings) -> str:
    variable = settings.chroma_token_variable
    return os.environ.get(variable, "") if variable else ""


def _mark(location: Location) -> str:
    """Return the mark of a folder, or nothing where it may change without one: a server, a fresh file."""
    folder = location.folder
    if folder is None or not folder.is_dir():
        return ""
    newest = max((path.stat().st_mtime_ns for path in folder.rglob("*")), default=0)
    return folder_mark(folder) if newest + RACY_NS < time.time_ns() else ""


def _is_untouched(run: Bringing, mark: str, known: Iterable[Known]) -> bool:
    """Tell whether the folder is as it was when all of it was taken, and count its records if so."""
    detail = run.source.detail
    fresh = [run.serves(one) for one in known]
    fits = run.encoder is None or detail.get("space") == run.encoder.fingerprint
    if not mark or mark != detail.get("mark") or not all(fresh) or not fits:
        return False
    failed = run.failed_before
    run.counts.update(unchanged=len(fresh), failed=len(failed), seen=len(fresh) + len(failed))
    run.failures += [(path, one.reason) for path, one in failed.items()]
    _tell_skipped(run, detail.get("without_text", 0))
    return True


def _check_place(run: Bringing, collection: Attached, known: dict[str, Known]) -> None:
    if known and run.source.detail.get("collection") not in (None, collection.id) and not collection.count():
        raise AwayError("is empty and not the collection that was added")


def _take_all(
    run: Bringing, collection: Attached, known: dict[str, Known], fit: Fit | None
) -> tuple[set[str], int]:
    """Take every record, a transaction a page, and return the ids with a text and how many have none."""
    seen: set[str] = set()
    without_text = 0
    count = collection.count()
    for number, page in enumerate(collection.pages(), 1):
        records = [one for one in page if one.text is not None and one.text.strip()]
        without_text += len(page) - len(records)
        seen.update(one.id for one in records)
        _take(run, records, known, fit)
        run.progress("read", min(len(seen) + without_text, count), count, page[-1].id)
        if number % MERGE_EVERY == 0:
            _merge(run)
    _tell_skipped(run, without_text)
    return seen, without_text


def _take(run: Bringing, records: Sequence[Record], known: dict[str, Known], fit: Fit | None) -> None:
    drafts: list[tuple[Record, Draft]] = []
    for record in records:
        run.counts["seen"] += 1
        before = known.get(record.id)
        try:
            data = _data(record)
            if before is not None and _is_same(before, data) and run.serves(before):
                run.counts["unchanged"] += 1
            else:
                drafts.append((record, _draft(run, record.id, data)))
        except UnreadableError as error:
            _fail(run, record, error.reason)
    if drafts:
        with run.corpus.write() as writer:
            for record, new in drafts:
                run.counts[_put(run, writer, new, known.get(record.id))] += 1
                _lend(writer, record, new, fit)


def _data(record: Record) -> bytes:
    """Return the document of a record as the bytes of a file; UnreadableError when it is no text."""
    try:
        record.id.encode()
        return (record.text or "").encode()
    except UnicodeEncodeError as error:
        raise DamagedFileError("holds broken characters (lone surrogates)") from error


def _is_same(known: Known, data: bytes) -> bool:
    return known.observed.content_hash == content_hash(data)


def _put(run: Bringing, writer: Writer, new: Draft, known: Known | None) -> str:
    """Store a draft, or keep it for the encoder to come, and return the count it belongs to."""
    same = known is not None and known.observed.content_hash == new.observed.content_hash
    if known is not None and same and run.building:
        mine = replace(known, file=replace(known.file, path=RECORD))
        if not (run.shape.may_share(mine) and writer.reuse(known.document, new)):
            writer.stage_document(new, known.document)
    else:
        writer.put_document(new)
    return "changed" if known else "new"


def _lend(writer: Writer, record: Record, new: Draft, fit: Fit | None) -> None:
    """Take the stored embedding for the vector of a record that is one passage."""
    cuts, text = new.split.passages, new.parsed.text
    if fit is None or record.vector is None or len(cuts) != 1 or len(record.vector) != fit.dimension:
        return
    if not cuts[0].prefix:
        key = input_key("", text[cuts[0].start : cuts[0].end])
        writer.offer_vectors(fit.space, [(key, record.vector)])


def _draft(run: Bringing, id: str, data: bytes) -> Draft:
    shape = run.shape
    parsed = replace(parse(data, RECORD), title="")
    cut = _whole(split(parsed, shape.count, shape.limits), parsed.text)
    if not cut.passages:
        raise UnreadableError("no text to search in it")
    given = shape.rulebook.given(run.source.id, NO_PATH)
    return Draft(
        file=File(run.source.id, id, id.encode()),
        observed=Observation(Stamp(len(data), 0, 0), time.time_ns(), content_hash(data)),
        parsed=replace(parsed, title=id),
        split=cut,
        parser=parser_mark(RECORD),
        mark=shape.mark,
        terms=[terms(encoder_input(one.prefix, parsed.text[one.start : one.end])) for one in cut.passages],
        labels=given.labels,
        validity=read_marks(parsed.text, NO_PATH, given),
        rules=rules_mark(shape.rulebook),
    )


def _whole(cut: Split, text: str) -> Split:
    """Leave out the prefix of a passage that is the whole record: the stored embedding has none."""
    first, *more = cut.passages or [None]
    if first is None or more or text[first.start : first.end] != text.strip():
        return cut
    return replace(cut, passages=(replace(first, prefix=""),))


def _fail(run: Bringing, record: Record, reason: str) -> None:
    id = record.id.encode("utf-8", "replace").decode()
    run.counts["failed"] += 1
    run.failures.append((id, reason))
    failure = Failure(id, reason, Stamp(len(record.text or ""), 0, 0), parser_mark(RECORD))
    if run.failed_before.get(id) != failure:
        with run.corpus.write() as writer:
            writer.put_failure(run.source.id, failure)


def _delete(run: Bringing, collection: Attached, gone: Sequence[Known]) -> None:
    """Put tombstones on the records that are not there when they are asked for by id."""
    texts = collection.texts([one.file.path for one in gone])
    for one in gone:
        if not (texts.get(one.file.path) or "").strip():
            with run.corpus.write() as writer:
                writer.delete_document(one.document)
            run.counts["deleted"] += 1


def _merge(run: Bringing) -> None:
    if any(run.counts[name] for name in ("new", "changed", "deleted")):
        with run.corpus.write() as writer:
            writer.merge()


def _tell_skipped(run: Bringing, without_text: int) -> None:
    run.counts["skipped"] += without_text
    if without_text:
        told = "1 record holds" if without_text == 1 else f"{without_text:,} records hold"
        run.warnings.append(f"{told} no document text; skipped")


def _note(run: Bringing, collection: Attached, found: dict[str, Any], fit: Fit | None) -> None:
    """Note with the source what was measured and seen, where it is new; makes no revision."""
    detail = {
        "token_variable": run.settings.chroma_token_variable,
        "collection": collection.id,
        **found,
        **(fit.detail() if fit else {}),
    }
    if detail != run.source.detail:
        with run.corpus.write() as writer:
            writer.put_detail(run.source.id, detail)
