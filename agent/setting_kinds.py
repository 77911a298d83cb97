"""Kinds of values that settings share: whole numbers, numbers, lists of patterns."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints


def _no_truth(value: object) -> object:
    """Refuse true and false, which Python would count as 1 and 0."""
    if isinstance(value, bool):
        raise ValueError("a truth value is no number")
    return value


def _split(value: object) -> object:
    """Part a text at its commas, so that a flag or a variable can hold a list."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


Whole = Annotated[int, BeforeValidator(_no_truth)]
Number = Annotated[float, BeforeValidator(_no_truth)]
VariableName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None
Globs = Annotated[tuple[str, ...], BeforeValidator(_split)]


class Section(BaseModel):
    """A section of quaere.toml: unknown keys are refused, values cannot be changed."""

    model_config = ConfigDict(extra="forbid", frozen=True)
