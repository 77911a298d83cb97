"""What the settings say about documents, by source and path: labels, trust in front matter, validity."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import blake2b

from .evidence import ALWAYS_VALID, Validity
from .globs import matcher


@dataclass(frozen=True, slots=True)
class Rule:
    """What holds for the documents whose source and path match two patterns; None leaves a thing open."""

    source: str = "*"
    path: str = "**"
    labels: Mapping[str, str] = field(default_factory=dict)
    front_matter: bool | None = None
    validity: Validity = ALWAYS_VALID

    def holds(self, source: str, path: str) -> bool:
        """Tell whether the rule speaks of a document."""
        return matcher((self.source,))(source) and matcher((self.path,))(path)


@dataclass(frozen=True, slots=True)
class Given:
    """What the rules give to one document; `front_matter` tells whether its front matter is believed."""

    labels: Mapping[str, str] = field(default_factory=dict)
    front_matter: bool = False
    validity: Validity = ALWAYS_VALID


NOTHING_GIVEN = Given()


@dataclass(frozen=True, slots=True)
class Rulebook:
    """All rules in their order: a later one wins over an earlier one, key by key."""

    rules: tuple[Rule, ...] = ()

    def given(self, source: str, path: str) -> Given:
        """Return what the rules give to a document by the name of its source and its path in it."""
        given = NOTHING_GIVEN
        for rule in self.rules:
            if rule.holds(source, path):
                given = _over(given, rule)
        return given

    @property
    def mark(self) -> str:
        """Return 16 hexadecimal digits that change whenever a rule does."""
        written = json.dumps([asdict(rule) for rule in self.rules], sort_keys=True)
        return blake2b(written.encode(), digest_size=8).hexdigest()


NO_RULES = Rulebook()


def _over(given: Given, rule: Rule) -> Given:
    """Return what a rule makes of what earlier rules gave."""
    before, after = given.validity, rule.validity
    return Given(
        labels={**given.labels, **rule.labels},
        front_matter=given.front_matter if rule.front_matter is None else rule.front_matter,
        validity=Validity(
            after.valid_from or before.valid_from,
            after.valid_until or before.valid_until,
            after.superseded_by or before.superseded_by,
        ),
    )
