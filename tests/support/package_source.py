"""The package as its sources say it: modules, what each imports and where, functions and their sizes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("agent", "evals", "graphs", "prompts", "tools")

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Import:
    """One imported name: `level` counts the dots, `lazy` says it stands inside a function."""

    module: str
    name: str | None
    level: int
    lazy: bool
    for_types: bool
    line: int


@dataclass(frozen=True)
class Module:
    """A source file of the package; `name` is dotted below the package, as in `tools.split`."""

    path: Path
    name: str

    @property
    def folder(self) -> str:
        """Return the folder it lies in; empty for the package's own `__init__`."""
        return self.name.partition(".")[0]

    @property
    def text(self) -> str:
        """Return its source."""
        return self.path.read_text("utf-8")

    @property
    def tree(self) -> ast.Module:
        """Return its syntax tree."""
        return _parsed(self.path)

    def imports(self) -> list[Import]:
        """Return everything it imports, at its head or later."""
        return list(_imports(self.tree, lazy=False, for_types=False))

    def inside(self) -> Iterator[tuple[Import, str]]:
        """Yield each relative import with the dotted name it means below the package."""
        for one in self.imports():
            if one.level:
                yield one, self._resolve(one)

    def _resolve(self, one: Import) -> str:
        parts = ["quaere", *self.name.split(".")] if self.name else ["quaere", "__init__"]
        base = [*parts[: len(parts) - one.level], *filter(None, one.module.split("."))][1:]
        named = ".".join([*base, one.name or ""])
        return named if named in module_names() or not base else ".".join(base)

    def functions(self) -> list[Function]:
        """Return its functions and methods, nested ones too."""
        return [node for node in ast.walk(self.tree) if isinstance(node, Function)]


@cache
def modules() -> tuple[Module, ...]:
    """Return the modules of the package in order of their names."""
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    return (Module(ROOT / "__init__.py", ""), *(Module(path, _dotted(path)) for path in files))


@cache
def module_names() -> frozenset[str]:
    """Return the dotted names of all modules."""
    return frozenset(module.name for module in modules())


def size(function: Function) -> int:
    """Return the lines of a function from `def` to its end, without its docstring."""
    lines = (function.end_lineno or 0) - function.lineno + 1
    if ast.get_docstring(function) is None:
        return lines
    docstring = function.body[0]
    return lines - ((docstring.end_lineno or 0) - docstring.lineno + 1)


def parameters(function: Function) -> list[str]:
    """Return the names of the parameters, without `self` and `cls`."""
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def public(node: ast.Module | ast.ClassDef, prefix: str = "") -> Iterator[tuple[str, Definition]]:
    """Yield the public classes, functions and methods with their qualified names."""
    for child in node.body:
        if isinstance(child, Definition) and not child.name.startswith("_"):
            yield f"{prefix}{child.name}", child
            if isinstance(child, ast.ClassDef):
                yield from public(child, f"{child.name}.")


def _dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


def _imports(node: ast.AST, lazy: bool, for_types: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for name in child.names:
                yield Import(name.name, None, 0, lazy, for_types, child.lineno)
        elif isinstance(child, ast.ImportFrom):
            for name in child.names:
                yield Import(child.module or "", name.name, child.level, lazy, for_types, child.lineno)
        else:
            only_types = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
            yield from _imports(child, lazy or isinstance(child, Function), for_types or only_types)
