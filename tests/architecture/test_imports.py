"""Imports run one way, are relative in the package, form no loop, and leave heavy libraries to functions."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions

from package_source import FOLDERS, ROOT, Import, modules

ARROWS = {
    "": {"agent"},
    "evals": {"evals", "agent", "graphs", "tools", "prompts"},
    "agent": {"agent", "graphs", "tools", "prompts"},
    "graphs": {"graphs", "tools", "prompts"},
    "tools": {"tools"},
    "prompts": {"prompts"},
}
"""Which folders a folder may import from, itself included; the package's face is the empty name."""

HEAVY = {
    "chromadb",
    "docx",
    "huggingface_hub",
    "langchain_community",
    "lxml",
    "onnx",
    "onnxruntime",
    "onnxscript",
    "openai",
    "pypdfium2",
    "rich",
    "scipy",
    "sentence_transformers",
    "tokenizers",
    "torch",
    "transformers",
}
"""Libraries that cost time or memory and may only be imported where a function needs them."""

LIGHT = ("tools.evidence", "tools.errors")
"""The vocabulary, which everything imports and which therefore imports nothing but the standard library."""

ADAPTERS: set[str] = set()
"""Modules that fit things of langchain-community to our ports; no other may import it."""

FORBIDDEN = {"base", "common", "handler", "helper", "helpers", "manager", "misc", "service", "util", "utils"}
"""Words that name a pattern or a leftover instead of the thing a module holds."""


def outside(lazy: bool = True) -> Iterator[tuple[str, str, Import]]:
    """Yield (module, library, import) for what comes from outside the package, types aside."""
    for module in modules():
        for one in module.imports():
            if one.level == 0 and not one.for_types and (lazy or not one.lazy):
                yield module.name, one.module.partition(".")[0], one


def test_imports_follow_the_arrows() -> None:
    against = [
        f"{module.name}:{one.line} imports {target}"
        for module in modules()
        for one, target in module.inside()
        if target.partition(".")[0] not in ARROWS[module.folder]
    ]
    assert against == []


def test_imports_of_the_package_are_relative() -> None:
    roots = {"quaere", *FOLDERS}
    assert [f"{name}:{one.line}" for name, library, one in outside() if library in roots] == []


def test_nothing_imports_the_face_of_the_package() -> None:
    assert [module.name for module in modules() for _, target in module.inside() if not target] == []


def test_no_loop_counting_lazy_imports() -> None:
    graph = {
        module.name: {target for one, target in module.inside() if not one.for_types} - {module.name}
        for module in modules()
    }
    TopologicalSorter(graph).prepare()


def test_heavy_libraries_are_imported_inside_functions() -> None:
    at_head = [
        f"{name}:{one.line} {library}" for name, library, one in outside(lazy=False) if library in HEAVY
    ]
    assert at_head == []


def test_only_adapters_import_langchain_community() -> None:
    importing = {name for name, library, _ in outside() if library == "langchain_community"}
    assert importing <= ADAPTERS


def test_the_vocabulary_imports_the_standard_library_alone() -> None:
    foreign = {name: library for name, library, _ in outside() if name in LIGHT}
    assert set(foreign.values()) <= set(sys.stdlib_module_names)
    assert [module.name for module in modules() if module.name in LIGHT for _ in module.inside()] == []


def test_every_imported_library_is_a_declared_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [
        line for name, lines in project["optional-dependencies"].items() if name != "dev" for line in lines
    ]
    declared = {_normal(re.split(r"[<>=\[]", line)[0]) for line in [*project["dependencies"], *extras]}
    owners = packages_distributions()
    undeclared = {
        library: name
        for name, library, _ in outside()
        if library not in sys.stdlib_module_names
        and not declared & {_normal(owner) for owner in owners.get(library, [library])}
    }
    assert undeclared == {}


def test_folders_are_flat() -> None:
    assert [module.name for module in modules() if module.name.count(".") > 1] == []


def test_the_root_holds_no_module_but_the_face() -> None:
    assert [path.name for path in ROOT.glob("*.py")] == ["__init__.py"]


def test_modules_are_named_after_what_they_hold() -> None:
    assert [module.name for module in modules() if FORBIDDEN & set(re.split(r"[._]", module.name))] == []


def test_tests_import_the_package_by_its_name() -> None:
    otherwise = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
        if node.level or (node.module or "").partition(".")[0] in FOLDERS
    ]
    assert otherwise == []


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()
