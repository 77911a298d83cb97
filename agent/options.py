"""The arguments and options of the commands as frozen records, and how a record becomes a command line."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from .edge import run_at_edge
from .flags import read_budget, read_setting

R = TypeVar("R")


@dataclass(frozen=True, kw_only=True)
class Common:
    """Options of every command that opens a workspace."""

    workspace: Annotated[
        Path | None,
        typer.Option(
            "--workspace",
            "-C",
            metavar="DIR",
            help="Folder that holds the index `.quaere`, or lies below it.  [default: the working folder]",
        ),
    ] = None
    settings: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A setting for this command, such as `search.k1=1.5`; it goes before the environment and "
            "quaere.toml; repeatable.",
        ),
    ] = field(default_factory=list)
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON (ASCII, so it survives any encoding).")
    ] = False

    @property
    def overrides(self) -> Mapping[str, object]:
        """Return the settings given as flags, by dotted key."""
        return dict(read_setting(text) for text in self.settings)

    @property
    def principal(self) -> str:
        """Return who asks."""
        return "owner"


class PolicyName(Enum):
    """Who may decide in a run."""

    AUTO = "auto"
    RULES = "rules"
    MODEL = "model"


Person = Annotated[
    str,
    typer.Option(
        "--as",
        metavar="NAME",
        help="Ask as somebody named in quaere.toml, who sees what the rules allow.  [default: the owner]",
        show_default=False,
    ),
]


@dataclass(frozen=True, kw_only=True)
class SourcesOptions(Common):
    """What `sources` takes."""

    person: Person = "owner"

    @property
    def principal(self) -> str:
        """Return who asks."""
        return self.person


@dataclass(frozen=True, kw_only=True)
class Narrowed(Common):
    """Options of the commands that search."""

    person: Person = "owner"
    sources: Annotated[
        list[str],
        typer.Option(
            "--source",
            metavar="NAME",
            help="Search only this source, as `quaere sources` names it; repeatable.",
        ),
    ] = field(default_factory=list)
    paths: Annotated[
        list[str],
        typer.Option(
            "--path",
            metavar="GLOB",
            help="Search only documents whose path fits, as in `**/*.md`; repeatable.",
        ),
    ] = field(default_factory=list)
    labels: Annotated[
        list[str],
        typer.Option(
            "--label",
            metavar="KEY=VALUE",
            help="Search only documents with this label; repeatable: one of the values of every key.",
        ),
    ] = field(default_factory=list)
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", metavar="DATE", help="Search what held on a day, such as 2024-01-31."),
    ] = None

    @property
    def principal(self) -> str:
        """Return who asks."""
        return self.person


@dataclass(frozen=True, kw_only=True)
class Limited(Narrowed):
    """Options of the commands that answer questions."""

    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="LIMITS",
            help="Limits of a question, such as `steps=8,seconds=30,tokens=8000`; others stay as set. Also: "
            "tool_calls, model_calls, usd.",
        ),
    ] = None
    policy: Annotated[
        PolicyName | None,
        typer.Option(
            "--policy",
            help="Who decides: rules, a model, or auto: a model if one is named or a key is set.",
            show_default=False,
        ),
    ] = None
    degrade: Annotated[
        bool, typer.Option("--degrade", help="Let the rules answer when the model cannot be used.")
    ] = False
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Tell every decision with its reason on stderr.")
    ] = False

    @property
    def overrides(self) -> Mapping[str, object]:
        """Return the settings given as flags, the limits among them."""
        given = dict(read_setting(text) for text in self.settings)
        given |= read_budget(self.budget) if self.budget is not None else {}
        given |= {"model.policy": self.policy.value} if self.policy is not None else {}
        return given | ({"model.degrade": True} if self.degrade else {})


@dataclass(frozen=True, kw_only=True)
class AddOptions(Common):
    """What `add` takes."""

    locations: Annotated[
        list[str], typer.Argument(metavar="LOCATION", help="Folders or files; `~` is your home folder.")
    ]


@dataclass(frozen=True, kw_only=True)
class RemoveOptions(Common):
    """What `remove` takes."""

    source: Annotated[
        str,
        typer.Argument(metavar="SOURCE", help="A source as `quaere sources` names it, or where it lies."),
    ]
    paths: Annotated[
        list[str],
        typer.Option(
            "--path",
            metavar="GLOB",
            help="Remove only documents whose path fits and whose file is gone or excluded; repeatable.",
        ),
    ] = field(default_factory=list)
    purge: Annotated[
        bool, typer.Option("--purge", help="Leave nothing of the texts on the disk, and look for them after.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class DoctorOptions(Common):
    """What `doctor` takes."""

    repair: Annotated[
        bool, typer.Option("--repair", help="Make again what is amiss and follows from the stored texts.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class SearchOptions(Narrowed):
    """What `search` takes."""

    words: Annotated[
        list[str],
        typer.Argument(metavar="QUERY", help="What to look for; `-` stands for what stdin holds."),
    ]
    k: Annotated[int, typer.Option("-k", metavar="N", min=1, max=1000, help="Hits at most.")] = 10


@dataclass(frozen=True, kw_only=True)
class AskOptions(Limited):
    """What `ask` takes."""

    words: Annotated[
        list[str],
        typer.Argument(
            metavar="QUESTION",
            help="The question; `-` stands for what stdin holds, alone or beside words of your own.",
        ),
    ]
    sync: Annotated[bool, typer.Option("--sync", help="Bring the index up to date first.")] = False


@dataclass(frozen=True, kw_only=True)
class GraphOptions:
    """What `graph` takes."""

    as_json: Annotated[bool, typer.Option("--json", help="Print the drawing inside a JSON object.")] = False


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """What `demo` takes."""

    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of the demo's own.")] = Path(
        "quaere-demo"
    )
    as_json: Annotated[
        bool, typer.Option("--json", help="Print report, answers and next command as JSON.")
    ] = False


def takes(record: type[R]) -> Callable[[Callable[[R], int]], Callable[..., None]]:
    """Make a command of a function on a record: its fields are the arguments, its result the exit code."""

    def decorate(function: Callable[[R], int]) -> Callable[..., None]:
        def run(ctx: typer.Context, **values: Any) -> None:  # noqa: ANN401  (typed by the record)
            if "workspace" in values:
                values["workspace"] = values["workspace"] or ctx.obj
            raise typer.Exit(run_at_edge(lambda: function(record(**values))))

        run.__name__, run.__doc__ = function.__name__, function.__doc__
        vars(run)["__signature__"] = _signature(record)
        return run

    return decorate


def _signature(record: type[object]) -> inspect.Signature:
    hints = get_type_hints(record, include_extras=True)
    fields = sorted(dataclasses.fields(record), key=lambda one: one.name in _LAST)  # type: ignore[arg-type]
    by_name = inspect.Parameter.KEYWORD_ONLY
    context = inspect.Parameter("ctx", by_name, annotation=typer.Context)
    own = [inspect.Parameter(f.name, by_name, default=_default(f), annotation=hints[f.name]) for f in fields]
    return inspect.Signature([context, *own])


_LAST = frozenset(one.name for one in dataclasses.fields(Common))


def _default(one: dataclasses.Field[Any]) -> object:
    if one.default is not dataclasses.MISSING:
        return one.default
    return inspect.Parameter.empty if one.default_factory is dataclasses.MISSING else one.default_factory()
