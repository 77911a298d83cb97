"""Earlier turns of a conversation, and what of them may still be told.

An answer carries words of documents into the questions after it. When one of them may not be read any more,
or is gone, those words go too: what the turn claimed, and how later questions were completed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..graphs.earlier import turn_after
from ..graphs.policy import Turn
from ..tools.answer import Answer
from ..tools.reader import Reader


def turn_of(question: str, answer: Answer) -> Turn:
    """Return a question with its answer as a turn that later questions may refer to."""
    spans = tuple(note.span for note in answer.footnotes)
    return replace(turn_after(question, answer), spans=spans)


def readable_turns(turns: Iterable[Turn], reader: Reader, is_owner: bool) -> tuple[Turn, ...]:
    """Return the turns without the words that come from what may not be read now.

    Claims that do not tell where they come from are kept for the owner alone.
    """
    kept: list[Turn] = []
    tainted = False
    for turn in turns:
        sourced = bool(turn.spans) or not turn.claims or is_owner
        readable = sourced and all(reader.cut(span) or not len(span) for span in turn.spans)
        tainted = tainted or not readable
        turn = turn if readable else replace(turn, claims=(), spans=(), grounds=())
        kept.append(replace(turn, standalone=turn.question) if tainted else turn)
    return tuple(kept)
