"""Judge in one batch what code left open; a verdict of a model alone never carries a claim of other words."""

from __future__ import annotations

from collections.abc import Sequence

from ..tools.analyze import content_words
from ..tools.evidence import Verdict
from .fence import fold
from .match import term_set
from .model_ask import Mind, Outcome, Read, Task, ask
from .policy import Decision, Draft, JudgeView
from .ports import Reply
from .state import split_id
from .wire import Form, fields_of, list_of, one_of, read_form, read_object

SHARED = 0.5
"""Share of a claim's content words that its sources must hold for a model's “supported” to count."""

VERDICTS: dict[str, Verdict] = {
    "supported": "supported",
    "contradicted": "contradicted",
    "not_found": "not_found",
    "not found": "not_found",
}


class VerdictForm(Form):
    """The verdict on one claim."""

    claim: int
    verdict: str


class VerdictsForm(Form):
    """The reply: a verdict on each claim."""

    verdicts: tuple[VerdictForm, ...]


async def judge(mind: Mind, view: JudgeView) -> Decision[tuple[Verdict, ...]]:
    """Return a verdict on each draft; what the model does not settle stays not judged."""
    asked = [i for i, draft in enumerate(view.drafts) if not _is_hidden(draft, mind)]
    verdicts: list[Verdict] = ["not_judged"] * len(view.drafts)
    if not asked:
        return await mind.fallback.judge(view)
    outcome: Outcome[dict[int, Verdict]] = await ask(mind, _task(view, asked))
    for number, i in enumerate(asked, 1):
        found = (outcome.value or {}).get(number, "not_judged")
        bare = found == "supported" and _shared(view.drafts[i].text, view.texts[i]) < SHARED
        verdicts[i] = "not_judged" if bare else found
    settled = sum(verdict != "not_judged" for verdict in verdicts)
    reason = (
        f"the model judged {settled} of {len(verdicts)}" if outcome.value else f"{outcome.by}: {outcome.why}"
    )
    by = "model" if outcome.value else outcome.by
    return Decision("judge", tuple(verdicts), reason, by, rejected=outcome.rejected)


def _is_hidden(draft: Draft, mind: Mind) -> bool:
    """Tell whether a draft rests on a passage that may not leave."""
    return any(split_id(cite)[0] in mind.hidden for cite in draft.cites)


def _shared(claim: str, sources: Sequence[str]) -> float:
    """Return the share of a claim's content words that stand in its sources."""
    wanted = {token.term for token in content_words(claim)}
    held = frozenset().union(*(term_set(source) for source in sources))
    return len(wanted & held) / len(wanted) if wanted else 0.0


def _task(view: JudgeView, asked: Sequence[int]) -> Task[dict[int, Verdict]]:
    lines: list[str] = []
    for number, i in enumerate(asked, 1):
        lines.append(f"claim {number}: {fold(view.drafts[i].text)}")
        lines += [f"  source: {fold(text)}" for text in view.texts[i]]
    one = fields_of(
        {"claim": {"type": "integer"}, "verdict": one_of("supported", "contradicted", "not_found")}
    )
    return Task(
        decision="judge",
        role="judge",
        fields={"claims": "\n".join(lines)},
        schema=fields_of({"verdicts": list_of(one)}),
        read=lambda reply: _read(reply, len(asked)),
        max_tokens=60 + 24 * len(asked),
    )


def _read(reply: Reply, claims: int) -> Read[dict[int, Verdict]]:
    """Read verdicts on claims that were asked about; of two on one claim the worse counts."""
    form = read_form(read_object(reply.text), VerdictsForm)
    if isinstance(form, str):
        return Read(None, (form,))
    found: dict[int, Verdict] = {}
    for one in form.verdicts:
        verdict = VERDICTS.get(one.verdict.strip().lower())
        if verdict is None or not 1 <= one.claim <= claims:
            continue
        found[one.claim] = verdict if found.get(one.claim, "supported") == "supported" else found[one.claim]
    return Read(found) if found else Read(None, ("no verdict on a claim that was asked about",))
