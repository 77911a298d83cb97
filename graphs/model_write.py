"""Write claims by a model from numbered sentences that fit the budget; ids it was not shown never pass."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from .conversation import evaluate
from .fence import bytes_of, evidence_block, fitting, fold, need_lines, question_line, sentence_ids
from .model_ask import RULES, Mind, Outcome, Read, Task, ask
from .policy import Decision, Draft, Evidence, Lexicon, Need, WriteView, Writing
from .ports import Reply, Request
from .wire import TEXT, Form, fields_of, list_of, read_form, read_object

MOST_CLAIMS, MOST_CITES, LONGEST_CLAIM = 12, 8, 1000
"""Claims of an answer, sentences a claim cites and characters it has, at most."""

COMPLETION_SHARE = 4
"""Part of the room that is kept for the reply: one in so many bytes."""

SMALLEST_EVIDENCE = 600
"""Bytes of evidence that the smallest call of the writer is reserved with."""

UNANSWERED = "no sentence that was read answers it"
"""What is said of a need for which the model wrote no claim."""

_INSUFFICIENT = re.compile(r"\W*insufficient\W*", re.I)
_MARKS = re.compile(r"\s*[\[(]\s*S?\d+(?:\.\d+)?(?:\s*,\s*S?\d+(?:\.\d+)?)*\s*[\])]")
_COMPUTES = re.compile(r"\d\s*(?:\*\*|[-+*/])\s*[\d(]")


class ClaimForm(Form):
    """One claim of the reply."""

    text: str
    cites: tuple[str, ...]
    need: str = ""
    formula: str | None = None


class WriteForm(Form):
    """The reply: claims; what is missing follows from the needs they name."""

    claims: tuple[ClaimForm, ...]


async def write(mind: Mind, view: WriteView) -> Decision[Writing]:
    """Return the model's claims, with the rules' for what only local sources hold or nothing answers."""
    shown = tuple(item for item in view.evidence if not _is_local(item, mind))
    _hide(mind, view)
    if view.reply or not shown:
        return await mind.fallback.write(view)
    outcome = await _written(mind, view, shown)
    if outcome.value is None or _repeats(outcome.value, view):
        return await _by_rules(mind, view, outcome)
    writing = await _completed(mind, view, outcome.value)
    reason = f"{len(outcome.value.drafts)} claims by the model"
    return Decision("write", writing, reason, "model", rejected=outcome.rejected)


def _is_local(item: Evidence, mind: Mind) -> bool:
    return item.reading.document.source in mind.options.local


def _hide(mind: Mind, view: WriteView) -> None:
    """Remember the passages that may not leave, and say whose they are."""
    local = [item for item in view.evidence if _is_local(item, mind)]
    mind.hidden |= {item.s for item in local}
    if local:
        names = ", ".join(sorted({item.reading.document.source for item in local}))
        mind.note(f"passages of {names} were not shown to the model, for they are local; the rules read them")


async def _written(mind: Mind, view: WriteView, shown: Sequence[Evidence]) -> Outcome[Writing]:
    """Ask with as much evidence as fits, and once with half of it when the model's window is too small."""
    room = mind.model.room(write_request(view))
    most = min(room - room // COMPLETION_SHARE, mind.options.evidence_bytes)
    held = fitting(shown, most)
    if not held:
        mind.model.ledger.stop("tokens")
        return Outcome(None, RULES, "the token limit leaves no room for the smallest prompt")
    outcome = await ask(mind, _task(view, held))
    if outcome.too_large and len(held) > 1:
        held = fitting(held, sum(bytes_of(item) for item in held) // 2) or held[:1]
        outcome = await ask(mind, _task(view, held))
    if len(held) < len(shown) and most < mind.options.evidence_bytes:
        mind.note(
            f"{len(shown) - len(held)} of {len(shown)} passages did not fit the token limit of the writer"
        )
    return outcome


def write_request(view: WriteView, evidence: Sequence[Evidence] = ()) -> Request:
    """Return the request of the writer."""
    return _task(view, evidence).request


def smallest_request(question: str) -> Request:
    """Return the smallest request worth making of the writer, to keep room for."""
    view = WriteView(question, (Need("n1", question),), (), Lexicon())
    request = write_request(view)
    padding = {"role": "user", "content": "x" * SMALLEST_EVIDENCE}
    return replace(request, messages=(*request.messages, padding))


def _task(view: WriteView, evidence: Sequence[Evidence]) -> Task[Writing]:
    claim = fields_of({"need": TEXT, "cites": list_of(TEXT), "text": TEXT, "formula": TEXT})
    return Task(
        decision="write",
        role="writer",
        fields={
            "question": question_line(view.question),
            "needs": need_lines(view.needs),
            "evidence": evidence_block(evidence),
            "refused": _refused(view, sentence_ids(evidence)),
        },
        schema=fields_of({"claims": list_of(claim), "missing": list_of(TEXT)}),
        read=lambda reply: _read(reply, view, evidence),
        max_tokens=1024,
    )


def _refused(view: WriteView, shown: frozenset[str]) -> str:
    """Tell which claims were refused and why; those that rest on what was not shown are passed over."""
    told = [one for one in view.refused if one.draft.cites and shown.issuperset(one.draft.cites)]
    lines = [f"- {fold(one.draft.text, 300)} ({fold(one.reason, 200)})" for one in told]
    if not lines:
        return ""
    words = "These claims were refused. Write them in the words of their sentences, or leave them out:"
    return "\n".join([words, *dict.fromkeys(lines)])


def _read(reply: Reply, view: WriteView, evidence: Sequence[Evidence]) -> Read[Writing]:
    """Read claims whose ids were all shown; the word for insufficient alone is a reply too."""
    if _INSUFFICIENT.fullmatch(reply.text):
        return Read(Writing((), _missing(view, ())))
    form = read_form(read_object(reply.text), WriteForm)
    if isinstance(form, str):
        return Read(None, (form,))
    reader = _Reader(view, {item.s: item for item in evidence}, sentence_ids(evidence))
    drafts: list[Draft] = []
    problems: list[str] = []
    for i, claim in enumerate(form.claims[:MOST_CLAIMS], 1):
        draft = reader.draft(claim)
        if isinstance(draft, str):
            problems.append(f"claim {i} {draft}")
        elif draft not in drafts:
            drafts.append(draft)
    if problems and not drafts:
        return Read(None, tuple(problems))
    return Read(Writing(tuple(drafts), _missing(view, drafts)), tuple(problems))


@dataclass(frozen=True, slots=True)
class _Reader:
    """Hold claims against what was shown."""

    view: WriteView
    held: Mapping[int, Evidence]
    ids: frozenset[str]

    def draft(self, claim: ClaimForm) -> Draft | str:
        """Return a claim as a draft, or what is wrong with it."""
        text = fold(_MARKS.sub("", fold(claim.text, LONGEST_CLAIM)), LONGEST_CLAIM)
        cites = tuple(dict.fromkeys(cite.strip("[]() ") for cite in claim.cites))[:MOST_CITES]
        unknown = [cite for cite in cites if cite not in self.ids]
        if not any(character.isalnum() for character in text):
            return "has no text"
        if not cites:
            return "cites no sentence"
        if unknown:
            return f"cites {fold(unknown[0], 20)!r}, which is no id of the evidence"
        formula = claim.formula if claim.formula and _COMPUTES.search(claim.formula) else None
        computed = formula is not None and evaluate(formula) is not None
        return Draft(
            text,
            cites,
            kind="computed" if computed else "stated",
            formula=formula if computed else None,
            need=self._need(claim.need, cites),
        )

    def _need(self, named: str, cites: Sequence[str]) -> str:
        """Return the need a claim names, else one its passage supports, else the first."""
        ids = [need.id for need in self.view.needs]
        if named in ids:
            return named
        supported = [need for cite in cites for need in self.held[int(cite[1:].partition(".")[0])].needs]
        return next((need for need in supported if need in ids), ids[0])


def _missing(view: WriteView, drafts: Sequence[Draft]) -> dict[str, str]:
    """Return the needs that no claim answers; in what words is not left to the model."""
    answered = {draft.need for draft in drafts}
    return {need.id: UNANSWERED for need in view.needs if need.id not in answered}


def _repeats(writing: Writing, view: WriteView) -> bool:
    """Tell whether all the model wrote is what its check refused before."""
    before = {(one.draft.text, one.draft.cites) for one in view.refused}
    return bool(writing.drafts) and all((draft.text, draft.cites) in before for draft in writing.drafts)


async def _by_rules(mind: Mind, view: WriteView, outcome: Outcome[Writing]) -> Decision[Writing]:
    """Have the rules write whole sentences where the model gave nothing to use.

    What was refused were the model's words; the sentences it cited may still answer.
    """
    written = await mind.fallback.write(replace(view, refused=()))
    why = outcome.why or "the model repeated what was refused"
    by = outcome.by if outcome.value is None else RULES
    if by == RULES and outcome.value is None:
        mind.note(f"{why}; the rules wrote the answer")
    elif outcome.value is None:
        mind.note(f"the model's reply could not be used ({why}); whole sentences stand in its place")
    return replace(written, by=by, reason=f"{by}: {why}; {written.reason}", rejected=outcome.rejected)


async def _completed(mind: Mind, view: WriteView, writing: Writing) -> Writing:
    """Add what the rules write from local passages, and the nearest sentences where no need is answered."""
    local = tuple(item for item in view.evidence if _is_local(item, mind))
    unmet = tuple(need for need in view.needs if need.id in writing.missing)
    if not unmet:
        return writing
    open_ = replace(view, needs=unmet, refused=())
    own = (await mind.fallback.write(replace(open_, evidence=local))).value if local else None
    drafts = list(own.drafts if own else ())
    answered = {draft.need for draft in drafts}
    if not any(need.id in answered for need in unmet):
        nearest = (await mind.fallback.write(open_)).value.drafts
        drafts += [replace(draft, need=None) for draft in nearest[:1] if draft not in drafts]
    known = {draft.text for draft in writing.drafts}
    kept = tuple(draft for draft in drafts if draft.text not in known)
    missing = {need: why for need, why in writing.missing.items() if need not in answered}
    return Writing((*writing.drafts, *kept), missing)
