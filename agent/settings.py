"""Settings of a workspace: flags over environment (QUAERE_…) over quaere.toml over defaults."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..tools.errors import SettingsError

FILE = "quaere.toml"
PREFIX = "QUAERE_"
OTHER_VARIABLES = frozenset({"QUAERE_CACHE", "QUAERE_DATA", "QUAERE_DEBUG"})
"""Environment variables with the prefix that are no settings."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class EncoderSettings(_Section):
    """Which sentence encoder runs, and how."""

    model: str | None = Field(
        None, description="Folder or name of a sentence-transformers model; unset: the default."
    )
    threads: int = Field(2, ge=1, le=64, description="Threads of the encoder.")


class SearchSettings(_Section):
    """How passages are found."""

    k1: float = Field(1.2, ge=0, le=10, description="BM25: how soon repeating a term stops counting.")
    b: float = Field(0.75, ge=0, le=1, description="BM25: how much long passages are held back.")
    depth: int = Field(
        100, ge=1, le=10_000, description="Passages each channel gives to the fusion in `search`."
    )
    fusion_k: int = Field(60, ge=0, le=10_000, description="Constant of reciprocal rank fusion.")


class CorpusSettings(_Section):
    """Which files are indexed, and in passages of what size."""

    include: list[str] = Field(
        default_factory=list, description="Globs of files to index; empty: every readable file."
    )
    exclude: list[str] = Field(default_factory=list, description="Globs of files and folders to leave out.")
    max_file_mb: float = Field(100.0, gt=0, le=10_000, description="Largest file that is read, in megabytes.")
    passage_tokens: int = Field(200, ge=32, le=4096, description="Tokens of a passage as a rule.")


class BudgetSettings(_Section):
    """Limits of one run."""

    steps: int = Field(24, ge=7, le=1000, description="Graph nodes run.")
    tool_calls: int = Field(24, ge=0, le=1000, description="Tool calls started.")
    seconds: float = Field(60.0, gt=0, le=86_400, description="Wall seconds.")


class Settings(_Section):
    """All settings, by section."""

    encoder: EncoderSettings = EncoderSettings()
    search: SearchSettings = SearchSettings()
    corpus: CorpusSettings = CorpusSettings()
    budget: BudgetSettings = BudgetSettings()


def load_settings(folder: Path, environ: Mapping[str, str], overrides: Mapping[str, object]) -> Settings:
    """Return the settings of a workspace; SettingsError names the key, the value and the way out.

    `overrides` are flags by dotted key, such as {"budget.steps": 12}.
    """
    values: dict[str, dict[str, Any]] = {}
    for origin, given in (
        (FILE, _from_file(folder / FILE)),
        ("environment", _from_environment(environ)),
        ("flags", overrides),
    ):
        for key, value in given.items():
            section, name = _known(key, origin)
            values.setdefault(section, {})[name] = value
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError(_first_problem(error)) from error


def known_keys() -> Iterator[str]:
    """Yield every setting as `section.key`."""
    for section, field in Settings.model_fields.items():
        model = field.annotation
        if isinstance(model, type) and issubclass(model, BaseModel):
            yield from (f"{section}.{name}" for name in model.model_fields)


def _from_file(path: Path) -> dict[str, object]:
    """Return the file's values by dotted key; none when there is no file."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path.name} cannot be read: {error}; correct it or move it away") from error
    except OSError as error:
        raise SettingsError(f"{path.name} cannot be read: {error.strerror}") from error
    flat: dict[str, object] = {}
    for section, content in data.items():
        if isinstance(content, dict):
            flat.update({f"{section}.{name}": value for name, value in content.items()})
        else:
            flat[section] = content
    return flat


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    """Return QUAERE_SECTION_KEY variables by dotted key; lists are separated by commas."""
    found: dict[str, object] = {}
    lists = {"corpus.include", "corpus.exclude"}
    for variable, value in environ.items():
        if variable.startswith(PREFIX) and variable not in OTHER_VARIABLES:
            key = variable.removeprefix(PREFIX).lower().replace("_", ".", 1)
            found[key] = (
                [part.strip() for part in value.split(",") if part.strip()] if key in lists else value
            )
    return found


def _known(key: str, origin: str) -> tuple[str, str]:
    """Return section and name of a key; SettingsError with the nearest right one when there is none such."""
    keys = list(known_keys())
    if key in keys:
        section, _, name = key.partition(".")
        return section, name
    near = difflib.get_close_matches(key, keys, 1, 0.5) or difflib.get_close_matches(
        key.rpartition(".")[2], [one.rpartition(".")[2] for one in keys], 1, 0.5
    )
    hint = (
        f"; did you mean {_spelled(_full(near[0], keys), origin)!r}?"
        if near
        else f"; known are {', '.join(keys)}"
    )
    raise SettingsError(f"{origin}: unknown key {_spelled(key, origin)!r}{hint}")


def _full(near: str, keys: list[str]) -> str:
    return next(key for key in keys if key == near or key.endswith(f".{near}"))


def _spelled(key: str, origin: str) -> str:
    return f"{PREFIX}{key.replace('.', '_').upper()}" if origin == "environment" else key


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in problem["loc"][:2])
    return f"setting {key} = {problem['input']!r}: {problem['msg'][:1].lower()}{problem['msg'][1:]}"
