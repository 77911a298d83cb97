"""Settings of a workspace: flags over environment (QUAERE_…) over quaere.toml over defaults."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, Field, ValidationError
from pydantic.fields import FieldInfo

from ..tools.errors import SettingsError
from ..tools.evidence import Access
from ..tools.rulebook import Rulebook
from .access_settings import (
    TABLES,
    GroupSettings,
    PersonSettings,
    RuleSettings,
    access_of,
    check_tables,
    refuse_table,
    rulebook_of,
)
from .model_settings import KEY_PURPOSE, KEY_VARIABLE, MODEL_VARIABLES, ModelSettings, PriceSettings
from .setting_kinds import Globs, Number, Section, VariableName, Whole

FILE = "quaere.toml"
PREFIX = "QUAERE_"
OTHER_VARIABLES = {
    "QUAERE_CACHE": "Folder of the exported encoder; unset: the user's cache folder.",
    "QUAERE_DATA": "Folder of the public data sets that the benchmarks read.",
    "QUAERE_DEBUG": "1: show tracebacks and the warnings of libraries.",
    KEY_VARIABLE: KEY_PURPOSE,
}
"""Environment variables that are no settings, and what they are for."""


class EncoderSettings(Section):
    """Which sentence encoder runs, and how."""

    model: str | None = Field(
        default=None,
        min_length=1,
        description="Folder of a sentence-transformers model, or the name of one in this machine's hub "
        "cache; unset: the weights that were installed along.",
    )
    threads: Whole = Field(default=2, ge=1, le=64, description="Threads the encoder may use.")


class SearchSettings(Section):
    """How passages are found."""

    k1: Number = Field(
        default=1.2, ge=0, le=10, description="BM25: how soon repeating a term stops counting."
    )
    b: Number = Field(default=0.75, ge=0, le=1, description="BM25: how much long passages are held back.")
    depth: Whole = Field(
        default=100,
        ge=1,
        le=10_000,
        description="Passages each ranking hands to the fusion in `quaere search`.",
    )
    fusion_k: Whole = Field(default=60, ge=0, le=10_000, description="Constant of reciprocal rank fusion.")
    vector_engine: Literal["auto", "chroma", "exact"] = Field(
        default="auto",
        description="`exact` compares every vector and never loads Chroma; `chroma` asks the Chroma "
        "collection beside them wherever access covers everything; `auto` does so in `quaere chat` and in "
        "Python, where the second it takes to load is paid once. What Chroma proposes is scored exactly.",
    )


class CorpusSettings(Section):
    """Which files are indexed, and in passages of what size."""

    include: Globs = Field(
        default=(), description="Patterns of the files to index; empty: every readable file."
    )
    exclude: Globs = Field(default=(), description="Patterns of files and folders to leave out.")
    max_file_mb: Number = Field(
        default=100.0, gt=0, le=10_000, description="Largest file that is read, in MB."
    )
    passage_tokens: Whole = Field(
        default=200,
        ge=32,
        le=4096,
        description="Tokens a passage has as a rule; the encoder's own limit stands above.",
    )
    chroma_token_variable: VariableName = Field(
        default=None,
        description="Name of the variable of the environment that holds the token for attached Chroma "
        "servers, which is sent as `Authorization: Bearer`. The token itself stands in no file.",
    )


class BudgetSettings(Section):
    """Limits of one run; a run that meets one closes with what it holds."""

    steps: Whole = Field(default=24, ge=7, le=1000, description="Nodes of the graph that may run.")
    tool_calls: Whole = Field(default=24, ge=0, le=1000, description="Calls of search tools that may start.")
    seconds: Number = Field(default=60.0, gt=0, le=86_400, description="Seconds by the clock on the wall.")
    model_calls: Whole = Field(default=12, ge=0, le=1000, description="Calls of a model that may start.")
    tokens: Whole = Field(
        default=32_000,
        ge=0,
        le=100_000_000,
        description="Tokens of prompts and completions, all attempts counted.",
    )
    usd: Number | None = Field(
        default=None,
        ge=0,
        description="US dollars, by the prices below; unset: no limit on money.",
        json_schema_extra={"allowed": "a number from 0"},
    )


class Settings(Section):
    """All settings: sections of single keys, and the tables that say who may read what."""

    encoder: EncoderSettings = EncoderSettings()
    search: SearchSettings = SearchSettings()
    corpus: CorpusSettings = CorpusSettings()
    budget: BudgetSettings = BudgetSettings()
    model: ModelSettings = ModelSettings()
    rules: tuple[RuleSettings, ...] = ()
    people: dict[str, PersonSettings] = Field(default_factory=dict)
    groups: dict[str, GroupSettings] = Field(default_factory=dict)
    prices: dict[str, PriceSettings] = Field(default_factory=dict)

    @property
    def rulebook(self) -> Rulebook:
        """Return the rules as the index takes them."""
        return rulebook_of(self.rules)

    def access_of(self, name: str) -> Access:
        """Return what somebody may read; UsageError when nobody is named so."""
        return access_of(name, self.people, self.groups)


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as it may be written: key `section.name`, the field behind it, and its section."""

    key: str
    field: FieldInfo
    section: type[BaseModel]

    @property
    def variable(self) -> str:
        """Return the environment variable that sets it."""
        own = [variable for variable, key in MODEL_VARIABLES.items() if key == self.key]
        return own[0] if own else f"{PREFIX}{self.key.replace('.', '_').upper()}"

    @property
    def allowed(self) -> str:
        """Return what its value may be, in words: `a whole number from 1 to 64`."""
        extra = self.field.json_schema_extra
        if isinstance(extra, dict) and "allowed" in extra:
            return str(extra["allowed"])
        kind = _kind(self.field.annotation)
        return f"{kind} {_range(self.field)}" if kind.endswith("number") else kind


def load_settings(folder: Path, environ: Mapping[str, str], overrides: Mapping[str, object]) -> Settings:
    """Return the settings of a workspace; SettingsError names the key, the value and the way out.

    `overrides` are flags by dotted key, such as {"budget.steps": 12}. Tables are read from the file alone.
    """
    given: dict[str, _Given] = {}
    written = _read_file(folder / FILE)
    tables = {name: written.pop(name) for name in TABLES if name in written}
    for origin, values in (
        (FILE, _flat(written)),
        ("environment", _from_environment(environ)),
        ("flags", overrides),
    ):
        given |= {key: _Given(_known(key, origin), origin, value) for key, value in values.items()}
    return _validated(given, tables)


def known_settings() -> Iterator[Setting]:
    """Yield every setting, section by section."""
    for name, whole in Settings.model_fields.items():
        if name in TABLES:
            continue
        section = whole.annotation
        assert isinstance(section, type)
        assert issubclass(section, BaseModel)
        for inner, field in section.model_fields.items():
            yield Setting(f"{name}.{inner}", field, section)


@dataclass(frozen=True, slots=True)
class _Given:
    setting: Setting
    origin: str
    value: object


def _validated(given: Mapping[str, _Given], tables: Mapping[str, object]) -> Settings:
    values: dict[str, dict[str, object]] = {}
    for key, one in given.items():
        section, _, name = key.partition(".")
        values.setdefault(section, {})[name] = one.value
    try:
        settings = Settings.model_validate({**values, **tables})
    except ValidationError as error:
        place = error.errors(include_url=False)[0]["loc"]
        if place[0] in TABLES:
            raise refuse_table(error, FILE) from error
        wrong = given[".".join(str(part) for part in place[:2])]
        key = _spelled(wrong.setting, wrong.origin)
        message = f"{wrong.origin}: {key} = {wrong.value!r} is refused; give {wrong.setting.allowed}"
        raise SettingsError(message) from error
    try:
        check_tables(settings.rules, settings.people, settings.groups)
    except SettingsError as error:
        raise SettingsError(f"{FILE}: {error}") from error
    return settings


def _read_file(path: Path) -> dict[str, object]:
    """Return what the file holds; nothing when there is no file."""
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path.name} cannot be read: {error}; correct it or move it away") from error
    except OSError as error:
        way_out = "correct it or move it away"
        raise SettingsError(f"{path.name} cannot be read: {error.strerror}; {way_out}") from error


def _flat(data: Mapping[str, object]) -> dict[str, object]:
    """Return the values of sections by dotted key."""
    flat: dict[str, object] = {}
    for section, content in data.items():
        inner = content if isinstance(content, dict) else None
        flat |= {section: content} if inner is None else {f"{section}.{name}": inner[name] for name in inner}
    return flat


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    """Return QUAERE_SECTION_KEY variables by dotted key; an empty one counts as unset."""
    named: dict[str, object] = {
        key: environ[variable] for variable, key in MODEL_VARIABLES.items() if environ.get(variable)
    }
    return named | {
        variable.removeprefix(PREFIX).lower().replace("_", ".", 1): value
        for variable, value in sorted(environ.items())
        if variable.startswith(PREFIX)
        if variable not in OTHER_VARIABLES and variable not in MODEL_VARIABLES and value
    }


def _known(key: str, origin: str) -> Setting:
    """Return the setting of a key; SettingsError names the nearest right one when there is none such."""
    settings = {one.key: one for one in known_settings()}
    if key in settings:
        return settings[key]
    section = key.partition(".")[0]
    if section in TABLES:
        raise SettingsError(f"{origin}: {section!r} are tables; write {TABLES[section][0]} in {FILE}")
    if key in Settings.model_fields:
        example = next(one for one in settings if one.startswith(f"{key}."))
        raise SettingsError(f"{origin}: {key!r} is a section, not a setting; set its keys, such as {example}")
    written = f"{PREFIX}{key.replace('.', '_').upper()}" if origin == "environment" else key
    table = difflib.get_close_matches(section, TABLES, 1, 0.75)
    hint = f"did you mean {TABLES[table[0]][0]}?" if table and origin == FILE else _hint(written, origin)
    raise SettingsError(f"{origin}: unknown key {written!r}; {hint}")


def _hint(written: str, origin: str) -> str:
    """Return `did you mean 'budget.steps'?`, by the whole key or else by its last part, or all keys."""
    spellings = {_spelled(one, origin): one.key.partition(".")[2] for one in known_settings()}
    if origin == "environment":
        spellings |= dict.fromkeys(OTHER_VARIABLES, "")
    by_name = {name: spelling for spelling, name in reversed(spellings.items())}
    near = difflib.get_close_matches(written, spellings, 1, 0.75)
    near = near or [
        by_name[name] for name in difflib.get_close_matches(written.rpartition(".")[2], by_name, 1)
    ]
    near = near or difflib.get_close_matches(written, spellings, 1, 0.5)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(spellings)}"


def _spelled(setting: Setting, origin: str) -> str:
    return setting.variable if origin == "environment" else setting.key


def _kind(annotation: Any) -> str:  # noqa: ANN401  (a type, a union or an alias)
    if get_origin(annotation) is Literal:
        return f"one of {', '.join(get_args(annotation))}"
    if annotation == VariableName:
        return "the name of a variable of the environment"
    return {int: "a whole number", float: "a number", tuple[str, ...]: "a list of patterns"}.get(
        annotation, "a text that is not empty"
    )


def _range(field: FieldInfo) -> str:
    """Return the bounds of a number: `from 1 to 64` or `above 0 and up to 100`."""
    bounds = {
        name: getattr(part, name)
        for part in field.metadata
        for name in ("ge", "gt", "le")
        if hasattr(part, name)
    }
    most = f"{bounds['le']:,}"
    return (
        f"from {bounds['ge']:,} to {most}" if "ge" in bounds else f"above {bounds['gt']:,} and up to {most}"
    )
