"""The policy without a model: routing by rules, corpus feedback, grading by features, extractive writing.

It emits whole sentences only, abstains by structure (a missing identifier, name, decisive word or type of
answer) and never by a cosine alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..tools.analyze import content_words
from ..tools.evidence import Verdict
from .accept import Acceptance, accept, stands_out
from .conversation import answer_from_words, reply_kind
from .extract import write_nearest, write_need
from .follow_up import make_standalone
from .match import match_sentences
from .needs import split_needs
from .policy import (
    Decision,
    Draft,
    Evidence,
    Grade,
    Grades,
    GradeView,
    JudgeView,
    Ladder,
    Need,
    PlannedCall,
    Policy,
    RewriteView,
    Route,
    RouteKind,
    RouteView,
    WriteView,
    Writing,
)
from .question import read_question
from .times import find_time

SEARCHES = ("keyword_search", "vector_search")
MOST_BRIDGES = 2
"""Names followed from evidence into further passages, per open need and round."""


async def route(view: RouteView) -> Decision[Route]:
    """Decide whether to search at all, make the question standalone and name its needs."""
    reply = reply_kind(view.question, view.turns)
    if reply:
        value = Route("none", view.question, (Need("n1", view.question),), reply)
        return Decision("route", value, f"the user's own words suffice ({reply})", "rules")
    standalone = make_standalone(view.question, view.turns)
    needs, compared = split_needs(standalone.text)
    reason = (
        "compares two things" if compared else "asks several things" if len(needs) > 1 else "asks one thing"
    )
    if standalone.added:
        reason += f"; “{standalone.added}” comes from the turn before"
    times = [phrase.text for phrase in (find_time(need.text) for need in needs) if phrase]
    if times:
        reason += f"; about the time “{'”, “'.join(dict.fromkeys(times))}”"
    kind: RouteKind = "iterative" if len(needs) > 1 else "one"
    return Decision("route", Route(kind, standalone.text, needs), reason, "rules")


async def rewrite(view: RewriteView) -> Decision[tuple[PlannedCall, ...]]:
    """Plan the next searches: first the question and its needs, then what evidence left unmet."""
    names = {card.name for card in view.tools}
    if view.round == 1:
        queries = [(view.question, view.needs[0].id)]
        queries += [(need.text, need.id) for need in view.needs if len(view.needs) > 1]
        calls = tuple(call for text, need in queries for call in _both(text, need, names))
        return Decision("rewrite", calls, "the question as asked, and each need", "rules")
    calls = tuple(call for need in view.needs for call in _follow(need, view, names))
    reason = "follows what evidence left unmet" if calls else "nothing new to ask"
    return Decision("rewrite", calls, reason, "rules")


def _both(query: str, need: str, names: set[str]) -> list[PlannedCall]:
    return [PlannedCall(tool, {"query": query}, need) for tool in SEARCHES if tool in names]


def _follow(need: Need, view: RewriteView, names: set[str]) -> list[PlannedCall]:
    """Plan calls for one open need: read on around the nearest passage, then follow names it brings up."""
    near = _nearest(need, view.evidence)
    if near is None:
        return []
    calls = []
    if "expand" in names:
        calls.append(PlannedCall("expand", {"passage": f"S{near.s}", "reach": "around"}, need.id))
    wanted = " ".join(_unmet_words(need, near, view))
    for name in _bridges(need, near)[:MOST_BRIDGES]:
        if "keyword_search" in names and wanted:
            calls.append(
                PlannedCall("keyword_search", {"query": f"{name} {wanted}", "exclude_seen": True}, need.id)
            )
    return calls


def _nearest(need: Need, evidence: Sequence[Evidence]) -> Evidence | None:
    """Return the best passage held for a need, related ones included."""
    graded = [item for item in evidence if item.grade != "off" and (not item.needs or need.id in item.needs)]
    return min(graded, key=lambda item: (-item.score, item.s), default=None)


def _unmet_words(need: Need, near: Evidence, view: RewriteView) -> list[str]:
    """Return the words of a need that no sentence of the nearest passage covers, as written."""
    matches = match_sentences(need, near, view.lexicon)
    missing = set(matches[0].missing) if matches else set()
    for match in matches:
        missing &= set(match.missing)
    return [need.text[token.start : token.end] for token in content_words(need.text) if token.term in missing]


def _bridges(need: Need, near: Evidence) -> list[str]:
    """Return names a passage brings up that the need does not hold."""
    known = need.text.casefold()
    found = [name for text in near.reading.texts for name in read_question(f"Of {text}").names]
    return [name for name in dict.fromkeys(found) if name.casefold() not in known and len(name) > 2]


async def grade(view: GradeView) -> Decision[Grades]:
    """Grade each passage for each need by its best sentence, and say which needs are met."""
    judged = {item.s: [(need, _accept(need, item, view)) for need in view.needs] for item in view.evidence}
    grades = {s: _grade_of(results) for s, results in judged.items()}
    grades |= _standing_out(view, grades)
    met = tuple(need.id for need in view.needs if any(need.id in grade.needs for grade in grades.values()))
    missing = {
        need.id: _missing(need, [dict(results)[need] for results in judged.values()])
        for need in view.needs
        if need.id not in met
    }
    ladder: Ladder = "sufficient" if len(met) == len(view.needs) else "partial" if met else "not_in_sources"
    reason = (
        f"{len(met)} of {len(view.needs)} needs met by {sum(bool(g.needs) for g in grades.values())} passages"
    )
    return Decision("grade", Grades(grades, met, ladder, missing), reason, "rules")


def _standing_out(view: GradeView, grades: Mapping[int, Grade]) -> dict[int, Grade]:
    """Support needs none of whose words the sources use by the one sentence that stands out, if one does."""
    found: dict[int, Grade] = {}
    for need in view.needs:
        if any(need.id in grade.needs for grade in grades.values()):
            continue
        out = stands_out(
            need, [(item, match_sentences(need, item, view.lexicon)) for item in view.evidence], view
        )
        if out is not None:
            found[out.s] = Grade(
                "supports", (need.id,), f"{out.id} alone is near in meaning and of the type asked for"
            )
    return found


def _accept(need: Need, item: Evidence, view: GradeView) -> Acceptance:
    return accept(need, item, match_sentences(need, item, view.lexicon), view.lexicon)


def _grade_of(results: Sequence[tuple[Need, Acceptance]]) -> Grade:
    """Return the grade of a passage over all needs."""
    supported = tuple(need.id for need, result in results if result.supports)
    best = max((result for _, result in results), key=lambda result: result.score)
    if supported:
        return Grade("supports", supported, best.reason)
    return Grade("related" if best.related else "off", (), best.reason)


def _missing(need: Need, results: Sequence[Acceptance]) -> str:
    """Say in a few words what kept the nearest passage from meeting a need."""
    nearest = max(results, key=lambda result: result.score, default=None)
    return (
        f"the nearest passage {nearest.reason}" if nearest and nearest.related else "no passage is about it"
    )


async def write(view: WriteView) -> Decision[Writing]:
    """Answer each need with whole sentences of the passages that support it."""
    if view.reply:
        drafts = answer_from_words(view.question, view.words, view.reply)
        return Decision("write", Writing(drafts), "from the user's own words", "rules")
    refused = {cite for refusal in view.refused for cite in refusal.draft.cites}
    written = [draft for need in view.needs for draft in write_need(need, view, frozenset(refused))]
    near = [
        draft for need in view.needs if not _answers(need, written) for draft in write_nearest(need, view)
    ]
    drafts = _once([*written, *near])
    unmet = {need.id: "no sentence answers it" for need in view.needs if not _answers(need, written)}
    return Decision("write", Writing(drafts, unmet), f"{len(drafts)} whole-sentence claims", "rules")


def _once(drafts: Sequence[Draft]) -> tuple[Draft, ...]:
    """Return drafts without repetition; a sentence that answers two needs is stated once."""
    return tuple({draft.text: draft for draft in reversed(drafts)}.values())[::-1]


def _answers(need: Need, drafts: Sequence[Draft]) -> bool:
    return any(draft.need == need.id for draft in drafts)


async def judge(view: JudgeView) -> Decision[tuple[Verdict, ...]]:
    """Leave open what code could not settle: without a model no paraphrase can be judged."""
    verdicts: list[Verdict] = ["not_judged" for _ in view.drafts]
    return Decision("judge", tuple(verdicts), "no model to judge a paraphrase", "rules")


rules = Policy("rules", route, rewrite, grade, write, judge)
