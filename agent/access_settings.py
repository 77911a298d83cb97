"""The tables of quaere.toml that say who may read what: [[rules]], [people.NAME] and [groups.NAME]."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    ValidationError,
)

from ..tools.errors import SettingsError, UsageError
from ..tools.evidence import OWNER, Access, Validity
from ..tools.rulebook import Rule, Rulebook
from .flags import nearest
from .model_settings import PriceSettings


def _not_blank(text: str) -> str:
    if not text.strip(" /"):
        raise ValueError("a text that is not empty")
    return text


def read_day(value: object) -> str:
    """Return a day as ISO 8601, from a date of TOML or a text such as 2024-01-31; else ValueError."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d{2}-\d{2}", value, re.ASCII):
        return date.fromisoformat(value).isoformat()
    raise ValueError("a day is written as 2024-01-31")


Text = Annotated[str, AfterValidator(_not_blank)]
Day = Annotated[str, BeforeValidator(read_day)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RuleSettings(_Table):
    """What holds for the documents of some sources and paths; a later rule wins, key by key."""

    source: Text = Field(default="*", description="Pattern of the sources, as `quaere sources` names them.")
    path: Text = Field(default="**", description="Pattern of the paths in them.")
    labels: dict[Text, Text] = Field(
        default_factory=dict, description="Labels of these documents. A document without any is its owner's."
    )
    front_matter: StrictBool | None = Field(
        default=None, description="Whether dates in the front matter of these documents are believed."
    )
    valid_from: Day | None = Field(default=None, description="First day on which these documents hold.")
    valid_until: Day | None = Field(default=None, description="Last day on which these documents hold.")
    superseded_by: Text | None = Field(
        default=None, description="Path or name of the document that replaces these."
    )


class PersonSettings(_Table):
    """Somebody who may ask with `--as NAME`; all that the groups may read is added."""

    groups: tuple[Text, ...] = Field(default=(), description="Groups the person belongs to.")
    allowed: dict[Text, tuple[Text, ...]] = Field(
        default_factory=dict, description="The values of each label key that the person may read."
    )


class GroupSettings(_Table):
    """What all members of a group may read."""

    allowed: dict[Text, tuple[Text, ...]] = Field(
        default_factory=dict, description="The values of each label key that members may read."
    )


TABLES: Mapping[str, tuple[str, type[BaseModel]]] = {
    "rules": ("[[rules]]", RuleSettings),
    "people": ("[people.NAME]", PersonSettings),
    "groups": ("[groups.NAME]", GroupSettings),
    "prices": ('[prices."MODEL"]', PriceSettings),
}
"""The tables by their key: how each is written, and what it holds."""

ALLOWED = {
    "source": "a pattern",
    "path": "a pattern",
    "labels": 'a table of texts, such as {team = "hr"}',
    "front_matter": "true or false",
    "valid_from": "a date, such as 2024-01-31",
    "valid_until": "a date, such as 2024-01-31",
    "superseded_by": "a text that is not empty",
    "groups": 'a list of names, such as ["sales"]',
    "allowed": 'a table of lists, such as {team = ["hr"]}',
    "prompt": "a price in USD for a million tokens, such as 0.4",
    "completion": "a price in USD for a million tokens, such as 1.6",
}
"""What the value of each key of a table may be, in words."""


def refuse_table(refused: ValidationError, file: str) -> SettingsError:
    """Return the refusal of what pydantic met first in a table: where it stands and what belongs there."""
    error = refused.errors(include_url=False)[0]
    table, *inner = error["loc"]
    written, record = TABLES[str(table)]
    if not inner or (table != "rules" and len(inner) == 1):
        where = ".".join(str(part) for part in (table, *inner))
        return SettingsError(f"{file}: {where!r} is no table; write {written}")
    place = f"rule {int(inner[0]) + 1}" if table == "rules" else f"{table}.{inner[0]}"
    if len(inner) == 1:
        return SettingsError(f"{file}: {place} is no table; write {written}")
    key = str(inner[1])
    if error["type"] == "extra_forbidden":
        near = difflib.get_close_matches(key, record.model_fields, 1, 0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(record.model_fields)}"
        return SettingsError(f"{file}: {place}: unknown key {key!r}; {hint}")
    name = ".".join(str(part) for part in inner[1:] if part != "[key]")
    if error["type"] == "missing":
        return SettingsError(f"{file}: {place}: {name} is missing; give {ALLOWED[key]}")
    given = error["input"]
    shown = given.isoformat() if isinstance(given, datetime) else repr(given)
    return SettingsError(f"{file}: {place}: {name} = {shown} is refused; give {ALLOWED[key]}")


def check_tables(
    rules: Sequence[RuleSettings],
    people: Mapping[str, PersonSettings],
    groups: Mapping[str, GroupSettings],
) -> None:
    """Raise SettingsError for what each table alone cannot show: reserved names, unknown groups, no days."""
    for number, rule in enumerate(rules, 1):
        if rule.valid_from and rule.valid_until and rule.valid_until < rule.valid_from:
            raise SettingsError(
                f"rule {number}: valid_until {rule.valid_until} lies before valid_from {rule.valid_from}; "
                "give a later day"
            )
    for name, person in people.items():
        if not name.strip():
            raise SettingsError("people: a name is empty; write [people.NAME]")
        if name.strip().casefold() == OWNER.principal:
            raise SettingsError(
                f"people.{name}: the owner reads everything and has no table; choose another name"
            )
        for group in person.groups:
            if group not in groups:
                raise SettingsError(f"people.{name}: there is no group {group!r}{nearest(group, groups)}")


def rulebook_of(rules: Sequence[RuleSettings]) -> Rulebook:
    """Return the rules as the index takes them."""
    return Rulebook(
        tuple(
            Rule(
                source=rule.source,
                path=rule.path,
                labels=rule.labels,
                front_matter=rule.front_matter,
                validity=Validity(rule.valid_from, rule.valid_until, rule.superseded_by),
            )
            for rule in rules
        )
    )


def access_of(name: str, people: Mapping[str, PersonSettings], groups: Mapping[str, GroupSettings]) -> Access:
    """Return what somebody may read, alone or in a group; UsageError when nobody is named so."""
    if name == OWNER.principal:
        return OWNER
    person = people.get(name)
    if person is None:
        raise UsageError(f"nobody is named {name!r} in quaere.toml{nearest(name, people)}")
    allowed: dict[str, frozenset[str]] = {}
    for table in (person.allowed, *(groups[group].allowed for group in person.groups)):
        for key, values in table.items():
            allowed[key] = allowed.get(key, frozenset()) | frozenset(values)
    return Access(name, frozenset(person.groups), allowed)


def table_fields() -> Iterator[tuple[str, type[BaseModel], Mapping[str, Any]]]:
    """Yield each table as it is written, what it is, and its fields."""
    for written, record in TABLES.values():
        yield written, record, record.model_fields
