"""Grade by a model where features leave it undecided; what the rules are sure of is not asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from .fence import evidence_block, fitting, need_lines, question_line
from .model_ask import Mind, Read, Task, ask
from .policy import Decision, Evidence, Grade, Grades, GradeValue, GradeView, Ladder, Need
from .ports import Reply
from .wire import TEXT, Form, fields_of, list_of, one_of, read_form, read_object

MOST_UNDECIDED = 8
"""Passages of one batch, the best ones."""

NEAR_ENOUGH = 0.4
"""Cosine of a sentence to an open need from which a passage that shares no words with it is undecided."""

VALUES: dict[str, GradeValue] = {"supports": "supports", "related": "related", "off": "off"}


class GradeForm(Form):
    """The grade of one passage."""

    passage: str
    value: str
    needs: tuple[str, ...] = ()


class GradesForm(Form):
    """The reply: a grade for each passage."""

    grades: tuple[GradeForm, ...]


async def grade(mind: Mind, view: GradeView) -> Decision[Grades]:
    """Return the rules' grades, with the model's for passages that may or may not meet an open need."""
    by_rules = await mind.fallback.grade(view)
    needs = tuple(need for need in view.needs if need.id not in by_rules.value.met)
    open_ = _undecided(view, by_rules.value, needs, mind)
    if not open_:
        return by_rules
    outcome = await ask(mind, _task(view, needs, open_))
    if outcome.value is None:
        kept = {item.s: Grade("ungraded", (), "the model gave no grade") for item in open_}
        grades = replace(by_rules.value, grades={**by_rules.value.grades, **kept})
        reason = f"{outcome.by}: left ungraded ({outcome.why})"
        return Decision("grade", grades, reason, outcome.by, rejected=outcome.rejected)
    given = {item.s: Grade("ungraded", (), "the model gave no grade") for item in open_} | dict(outcome.value)
    grades = _merged(view, by_rules.value, given)
    reason = (
        f"{len(outcome.value)} passages graded by the model; {len(grades.met)} of {len(view.needs)} needs met"
    )
    return Decision("grade", grades, reason, "model", rejected=outcome.rejected)


def _undecided(view: GradeView, grades: Grades, needs: Sequence[Need], mind: Mind) -> tuple[Evidence, ...]:
    """Return the passages whose features neither support an open need nor rule it out, best first.

    After the model followed up, no passage is ruled out: it may have been sought for a name in between.
    """
    if not needs:
        return ()
    given = {item.s: grades.grades.get(item.s, Grade("off")) for item in view.evidence}
    followed = mind.asked["follow"] > 0
    found = [
        item
        for item in view.evidence
        if not given[item.s].needs and item.reading.document.source not in mind.options.local
        if followed or given[item.s].value == "related" or _is_near(item, needs)
    ]
    best = sorted(found, key=lambda item: (-item.score, item.s))[:MOST_UNDECIDED]
    return fitting(best, mind.options.evidence_bytes)


def _is_near(item: Evidence, needs: Sequence[Need]) -> bool:
    return any(max(item.cosines.get(need.id, ()), default=0.0) >= NEAR_ENOUGH for need in needs)


def _task(view: GradeView, needs: Sequence[Need], evidence: Sequence[Evidence]) -> Task[Mapping[int, Grade]]:
    one = fields_of({"passage": TEXT, "value": one_of(*VALUES), "needs": list_of(TEXT)})
    known, ids = {item.s for item in evidence}, {need.id for need in needs}
    return Task(
        decision="grade",
        role="grader",
        fields={
            "question": question_line(view.question),
            "needs": need_lines(needs),
            "evidence": evidence_block(evidence),
        },
        schema=fields_of({"grades": list_of(one)}),
        read=lambda reply: _read(reply, known, ids),
        max_tokens=60 + 30 * len(evidence),
    )


def _read(reply: Reply, known: set[int], needs: set[str]) -> Read[Mapping[int, Grade]]:
    """Read the grades of passages that were asked about; a word that is no grade leaves one ungraded."""
    form = read_form(read_object(reply.text), GradesForm)
    if isinstance(form, str):
        return Read(None, (form,))
    grades: dict[int, Grade] = {}
    for one in form.grades:
        number = one.passage.strip().lstrip("Ss").partition(".")[0]
        value = VALUES.get(one.value.strip().lower())
        if not number.isdecimal() or int(number[:9]) not in known or value is None:
            continue
        met = tuple(dict.fromkeys(need for need in one.needs if need in needs))
        met = met or (tuple(needs) if len(needs) == 1 else ())
        if value == "supports" and not met:
            value = "related"
        grades[int(number)] = Grade(value, met if value == "supports" else (), "by the model")
    return Read(grades) if grades else Read(None, ("no grade for a passage that was asked about",))


def _merged(view: GradeView, by_rules: Grades, given: Mapping[int, Grade]) -> Grades:
    """Return all grades with the needs they meet and the ladder that follows."""
    grades = {**by_rules.grades, **given}
    supported = {need for grade_ in grades.values() for need in grade_.needs}
    met = tuple(need.id for need in view.needs if need.id in supported or need.id in by_rules.met)
    ladder: Ladder = "sufficient" if len(met) == len(view.needs) else "partial" if met else "not_in_sources"
    missing = {need: why for need, why in by_rules.missing.items() if need not in met}
    return Grades(grades, met, ladder, missing)
