"""Keep labels and validity of stored documents what the rules say, before anything is read.

They are made anew from the stored texts, so that a rule that changes holds at once, and without the files.
"""

from __future__ import annotations

from .corpus import Corpus
from .draft import Stored
from .marks import MARKS, read_marks
from .rulebook import Rulebook
from .writer import Writer


def rules_mark(rulebook: Rulebook) -> str:
    """Return what the labels and the validity of documents depend on, beside the documents themselves."""
    return f"{MARKS} {rulebook.mark}"


def apply_rulebook(corpus: Corpus, rulebook: Rulebook) -> bool:
    """Make all labels follow the rules in one transaction, and tell whether they followed others before.

    WorkspaceError when they have to be written and cannot be, BusyError when another process keeps writing.
    """
    mark = rules_mark(rulebook)
    if corpus.rules == mark:
        return False
    with corpus.write() as writer:
        for stored in writer.stored():
            _renew(writer, stored, rulebook)
        writer.note_rules(mark)
    return True


def renew_document(writer: Writer, document: int, rulebook: Rulebook) -> None:
    """Make the labels of one document follow the rules, as after a move.

    Where the corpus follows other rules by now it gets no labels until those are applied again.
    """
    current = writer.rules == rules_mark(rulebook)
    for stored in writer.stored(document):
        if current:
            _renew(writer, stored, rulebook)
        else:
            writer.put_labels(document, {})
    if not current:
        writer.note_rules(None)


def _renew(writer: Writer, stored: Stored, rulebook: Rulebook) -> None:
    given = rulebook.given(stored.source, stored.path)
    if stored.labels != given.labels:
        writer.put_labels(stored.document, given.labels)
    validity = read_marks(writer.text_of(stored.version), stored.path, given)
    if stored.validity != validity:
        writer.put_validity(stored.version, validity)
