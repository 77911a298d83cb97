"""The filter that the options --source, --path, --label and --as-of ask for."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import TYPE_CHECKING

from ..tools.errors import UsageError
from ..tools.evidence import Filter
from .flags import nearest

if TYPE_CHECKING:
    from .assemble import Agent
    from .options import Narrowed


def narrowing(given: Narrowed, agent: Agent) -> Filter:
    """Return the filter; UsageError when there is no such source or day, or a label has no value."""
    if given.sources:
        known = [source.id for source in agent.sources()]
        for name in given.sources:
            if name not in known:
                raise UsageError(f"there is no source {name!r}{nearest(name, known)}")
    return Filter(
        sources=tuple(given.sources),
        paths=tuple(given.paths),
        labels=read_labels(given.labels),
        valid_at=None if given.as_of is None else read_as_of(given.as_of),
    )


def read_labels(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the values by key of `team=hr`; a key given twice allows both values."""
    labels: dict[str, tuple[str, ...]] = {}
    for text in texts:
        key, _, value = (part.strip() for part in text.partition("="))
        if not key or not value:
            raise UsageError(f"--label {text!r} is no label; write it as KEY=VALUE, such as team=hr")
        labels[key] = (*labels.get(key, ()), value)
    return labels


def read_as_of(text: str) -> date:
    """Return the day of `--as-of`; UsageError when there is none such."""
    from .access_settings import read_day

    try:
        return date.fromisoformat(read_day(text.strip()))
    except ValueError as error:
        raise UsageError(f"--as-of {text!r} is no day; write it as 2024-01-31") from error
