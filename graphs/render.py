"""Node: write status, text, footnotes, what is missing and what was spent; absence is stated only here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from langgraph.runtime import Runtime

from ..tools.answer import Answer
from ..tools.evidence import Claim, ClaimKind, Status, Verdict
from .footnotes import add_footnotes
from .policy import Evidence
from .sides import notes_on_standing
from .state import DraftState, NeedState, Run, RunState, all_needs, split_id
from .telling import Told, arrange, conflicts_of, text_of, with_marks, worded
from .views import held_evidence

REPLIES = {
    "empty": "Ask a question: a sentence about what your sources hold.",
    "greeting": "Hello. Ask me something about your sources.",
    "thanks": "You are welcome.",
    "task": "I answer questions from your sources; writing something new needs a model.",
    "conversation": "The conversation does not hold that.",
    "arithmetic": "I cannot compute that.",
}
_LIMITS = {
    "steps": "step limit",
    "model_calls": "model call limit",
    "tool_calls": "tool call limit",
    "tokens": "token limit",
    "seconds": "time limit",
    "usd": "money limit",
}
_NOTHING_SAID = "The sources do not say."


async def render(state: RunState, runtime: Runtime[Run]) -> RunState:
    """Return the answer as JSON."""
    run = runtime.context
    path = run.step("render", state)
    held = {item.s: item for item in await held_evidence(state, run, path)}
    told = await _told(state, held, run, path)
    claims = tuple(one.claim for one in told)
    answer = _quiet(state, claims) if state["route"] == "none" else _searched(state, told, run)
    answer = replace(answer, notes=(*answer.notes, *_standing(told, state, held)))
    if answer.status in ("abstained", "partial") and held:
        documents = {item.reading.document.id for item in held.values()}
        unread = await run.ports.library.unread(f"{path}.unread", documents)
        answer = replace(answer, notes=(*answer.notes, *unread))
    answer = replace(
        answer,
        notes=(*state.get("notes", []), *answer.notes, *run.ledger.notes),
        spent=run.ledger.spent(),
        revision=run.ports.library.revision,
        run=state["run"],
        question=state["standalone"],
    )
    return {"answer": answer.to_json()}


async def _told(state: RunState, held: Mapping[int, Evidence], run: Run, path: str) -> list[Told]:
    """Return the claims that passed their check, with footnotes; those of withdrawn files are gone."""
    told = arrange(
        [
            Told(_claim(draft), i, draft["against"], draft["older"])
            for i, draft in enumerate(state["drafts"])
            if draft["verdict"] == "supported" and all(_readable(cite, held) for cite in draft["cites"])
        ]
    )
    noted = await add_footnotes([one.claim for one in told], held, run, f"{path}.quotes")
    changed = {held[s].reading.document.path for s in held if held[s].reading.document.id in state["changed"]}
    # What was forbidden between reading the evidence and quoting it has an empty quote, and is not told.
    quoted = [
        replace(one, claim=_mark_changed(claim, changed))
        for one, claim in zip(told, noted, strict=True)
        if all(note.quote for note in claim.footnotes)
    ]
    return worded(arrange(quoted))


def _readable(cite: str, held: Mapping[int, Evidence]) -> bool:
    """Tell whether a cited sentence is the user's own words or of a passage still held."""
    s, _ = split_id(cite)
    return s == 0 or s in held


def _claim(draft: DraftState) -> Claim:
    return Claim(
        text=draft["text"],
        cites=tuple(draft["cites"]),
        kind=cast(ClaimKind, draft["kind"]),
        formula=draft["formula"],
        need=draft["need"],
        qualifies=draft["qualifies"],
        verdict=cast(Verdict, draft["verdict"]),
        reason=draft["reason"],
    )


def _mark_changed(claim: Claim, changed: set[str]) -> Claim:
    notes = tuple(replace(note, changed=note.document in changed) for note in claim.footnotes)
    return replace(claim, footnotes=notes)


def _standing(told: Sequence[Told], state: RunState, held: Mapping[int, Evidence]) -> tuple[str, ...]:
    """Tell of claims whose versions do not hold at the time the question is about."""
    needs = {need.id: need for need in all_needs(state)}
    open_ = next((needs[need["id"]] for need in state["needs"] if not need["met"]), None)
    cited = []
    for one in told:
        need = None if one.older else needs.get(one.claim.need or "", open_)
        if need is not None:
            sentences = [_sentence(cite, held) for cite in one.claim.cites if split_id(cite)[0] in held]
            cited.append((need, sentences))
    return notes_on_standing(cited, tuple(held.values()))


def _sentence(cite: str, held: Mapping[int, Evidence]) -> tuple[Evidence, str]:
    s, j = split_id(cite)
    return held[s], held[s].reading.texts[j - 1]


def _quiet(state: RunState, claims: tuple[Claim, ...]) -> Answer:
    """Answer from the user's own words, or say in one sentence what is wanted."""
    reply = state["reply"]
    if claims:
        return Answer("answered", _text_of(claims), f"from the conversation ({reply})", claims)
    status: Status = (
        "asks" if reply == "empty" else "answered" if reply in ("greeting", "thanks") else "abstained"
    )
    return Answer(status, REPLIES.get(reply, REPLIES["task"]), f"no sources needed ({reply})")


def _searched(state: RunState, told: Sequence[Told], run: Run) -> Answer:
    """Answer from the sources with a status that tells how much of the question they carry."""
    claims = tuple(one.claim for one in told)
    answering = tuple(claim for claim in claims if claim.need is not None)
    nearest = tuple(one.claim for one in told if one.claim.need is None and not one.older)
    conflicts = conflicts_of(told, state)
    unmet = [need for need in state["needs"] if not _is_answered(need, state, answering)]
    status = _status(state, answering, unmet, run)
    if conflicts and status in ("answered", "partial"):
        status = "conflicting"
    missing = [*(_missing(need, state) for need in unmet), *_unasked(state)]
    absence = _absence(state, unmet, answering, nearest)
    if status == "stopped" and unmet:
        absence = _stopped_text(absence, state, run)
    said = text_of([one for one in told if one.claim not in nearest], conflicts)
    text = "\n\n".join(part for part in (said, absence) if part)
    return Answer(
        status=status,
        text=text,
        reason=_reason(status, unmet, run),
        claims=claims,
        missing=tuple(dict.fromkeys(missing)),
        conflicts=conflicts,
        notes=_file_notes(state, claims),
    )


def _is_answered(need: NeedState, state: RunState, claims: Sequence[Claim]) -> bool:
    """Tell whether a claim answers a need: its own, or one that rests on the same sentences."""
    carried = {cite for claim in claims for cite in claim.cites}
    drafted = [draft for draft in state["drafts"] if draft["need"] == need["id"]]
    if any(claim.need == need["id"] for claim in claims):
        return True
    shared = any(need["id"] in item["needs"] and _cited_in(item["s"], carried) for item in state["evidence"])
    return need["met"] and shared and not drafted and need["id"] not in state["missing"]


def _cited_in(s: int, cites: set[str]) -> bool:
    return any(cite.startswith(f"S{s}.") for cite in cites)


def _status(state: RunState, answering: Sequence[Claim], unmet: Sequence[NeedState], run: Run) -> Status:
    open_ = unmet or not all(need["met"] for need in state["needs"])
    if open_ and run.ledger.stopped_by:
        return "stopped"
    if not answering:
        return "abstained"
    return "partial" if unmet else "answered"


def _text_of(claims: Sequence[Claim]) -> str:
    """Return one paragraph a claim, each with the marks of its footnotes."""
    return "\n\n".join(map(with_marks, claims))


def _absence(
    state: RunState, unmet: Sequence[NeedState], answering: Sequence[Claim], nearest: Sequence[Claim]
) -> str:
    """Say plainly what was not found, and what comes nearest to it."""
    if not unmet:
        return ""
    if answering:
        plainly = "The sources do not say: " + " ".join(need["text"] for need in unmet)
    else:
        reasons = [reason for need in unmet if (reason := _why_unmet(need, state))]
        plainly = f"{_NOTHING_SAID[:-1]} ({reasons[0]})." if reasons else _NOTHING_SAID
    if nearest:
        plainly += "\n\nWhat they do say:\n\n" + _text_of(nearest)
    return plainly


def _missing(need: NeedState, state: RunState) -> str:
    reason = _why_unmet(need, state) or state["missing"].get(need["id"], "")
    return f"{need['text']} ({reason})" if reason else need["text"]


def _why_unmet(need: NeedState, state: RunState) -> str:
    """Return what kept a need unmet; where every search failed, nothing was read that could miss it."""
    return need["missing"] if _was_searched(state) else "nothing could be searched"


def _was_searched(state: RunState) -> bool:
    return bool(state.get("evidence")) or len(state.get("failures", [])) < len(state.get("asked", []))


def _stopped_text(absence: str, state: RunState, run: Run) -> str:
    """Say which limit kept the sources from being read, and how far they were."""
    limit = _LIMITS.get(run.ledger.stopped_by or "", "limit")
    if not _was_searched(state):
        return f"Stopped by the {limit} before anything was searched."
    unread = absence.replace("The sources do not say", "What was read does not say", 1)
    return f"Stopped by the {limit} before the sources were read to the end. {unread}"


def _unasked(state: RunState) -> list[str]:
    """Name the sources that failed or were not asked: they are not taken for empty ones."""
    words = {
        "timeout": "timed out",
        "failed": "failed",
        "refused": "refused the call",
        "not_run": "was not asked",
    }
    return [
        f"{failure['tool']} {words.get(failure['status'], failure['status'])}: {failure['why']}"
        for failure in state.get("failures", [])
    ]


def _reason(status: Status, unmet: Sequence[NeedState], run: Run) -> str:
    if status == "stopped":
        return f"stopped: {_LIMITS.get(run.ledger.stopped_by or '', 'limit')}"
    if status == "answered":
        return "every part of the question is carried by a cited source"
    if status == "conflicting":
        return "the sources disagree, and none of them is marked as the newer one"
    if status == "partial":
        return f"{len(unmet)} part of the question is not in the sources"
    return "the evidence does not carry an answer"


def _file_notes(state: RunState, claims: Sequence[Claim]) -> tuple[str, ...]:
    """Tell which cited files changed or vanished since they were indexed."""
    changed = sorted({note.document for claim in claims for note in claim.footnotes if note.changed})
    notes = [f"{path} changed since it was indexed; run `quaere sync`" for path in changed]
    if state.get("withdrawn"):
        notes.append("a cited file is gone; its citation was withdrawn, run `quaere sync`")
    return tuple(notes)
