"""What is no Access and no Filter is refused in one sentence; the gate never opens by an odd shape."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from quaere.tools.corpus import Corpus
from quaere.tools.errors import UsageError
from quaere.tools.evidence import NO_FILTER, OWNER, Access, Filter
from quaere.tools.gate import check_gate

ACCESSES: tuple[Any, ...] = (
    None,
    "owner",
    {"principal": "owner"},
    Access(""),
    Access("  "),
    Access(None),  # type: ignore[arg-type]
    Access("ana", groups="staff"),  # type: ignore[arg-type]
    Access("ana", allowed="team"),  # type: ignore[arg-type]
    Access("ana", allowed=[("team", "hr")]),  # type: ignore[arg-type]
    Access("ana", allowed={"team": "hr"}),  # type: ignore[dict-item]
    Access("ana", allowed={"team": None}),  # type: ignore[dict-item]
    Access("ana", allowed={"team": {"$ne": "hr"}}),  # type: ignore[dict-item]
    Access("ana", allowed={"team": {1}}),  # type: ignore[dict-item]
    Access("ana", allowed={1: {"hr"}}),  # type: ignore[dict-item]
    Access("ana", allowed={"team": (one for one in ["hr"])}),  # type: ignore[dict-item]
)
FILTERS: tuple[Any, ...] = (
    None,
    {},
    {"team": "all", "lang": "en"},
    Filter(sources="docs"),  # type: ignore[arg-type]
    Filter(paths="**"),  # type: ignore[arg-type]
    Filter(paths=(1,)),  # type: ignore[arg-type]
    Filter(labels={"team": "hr"}),  # type: ignore[dict-item]
    Filter(labels={"team": {"$in": []}}),  # type: ignore[dict-item]
    Filter(labels={"$and": [{"team": "hr"}]}),  # type: ignore[dict-item]
    Filter(labels=["team"]),  # type: ignore[arg-type]
    Filter(valid_at="2024-01-01"),  # type: ignore[arg-type]
    Filter(valid_at=datetime(2024, 1, 1, tzinfo=UTC)),
)
SOUND = (
    (OWNER, NO_FILTER),
    (Access("ana", frozenset({"staff"}), {"team": frozenset({"hr"})}), NO_FILTER),
    (Access("ana", allowed={"team": ["hr", "all"]}), NO_FILTER),  # type: ignore[dict-item]
    (Access("ana", allowed={"team": frozenset()}), Filter(("docs",), ("**",), {"team": ("hr",)})),
    (OWNER, Filter(labels={"team": ()}, valid_at=date(2024, 1, 1))),
)


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    opened = Corpus.create(tmp_path / ".quaere")
    yield opened
    opened.close()


@pytest.mark.parametrize("access", ACCESSES, ids=repr)
def test_an_odd_access_is_refused_before_anything_is_read(corpus: Corpus, access: Any) -> None:
    with pytest.raises(UsageError, match=r"^[^\n]+; write it as Access\("):
        corpus.reader(access, NO_FILTER)


@pytest.mark.parametrize("narrow", FILTERS, ids=repr)
def test_an_odd_filter_is_refused_before_anything_is_read(corpus: Corpus, narrow: Any) -> None:
    with pytest.raises(UsageError, match=r"^[^\n]+; (write it as Filter\(|give a datetime.date)"):
        corpus.reader(OWNER, narrow)


@pytest.mark.parametrize(("access", "narrow"), SOUND)
def test_sound_ones_pass(access: Access, narrow: Filter) -> None:
    check_gate(access, narrow)
