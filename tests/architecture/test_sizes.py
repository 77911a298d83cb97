"""Functions and files stay small enough to be read at once, and every public name says what it is."""

from __future__ import annotations

import ast
from statistics import median, quantiles

from package_source import modules, parameters, public, size

FUNCTION_MEDIAN, FUNCTION_95TH, FUNCTION_CAP = 8, 40, 60
FILE_MEDIAN, FILE_CAP = 150, 400
MOST_PARAMETERS = 5

FUNCTIONS = [
    (f"{module.name}:{function.name}", function) for module in modules() for function in module.functions()
]
LENGTHS = {module.name: len(module.text.splitlines()) for module in modules()}
PUBLIC = [(f"{module.name}:{name}", node) for module in modules() for name, node in public(module.tree)]

UNFINISHED = ("TO" + "DO", "FIX" + "ME", "XX" + "X", "raise NotImplemented" + "Error")


def test_half_of_the_functions_are_short() -> None:
    assert median(size(function) for _, function in FUNCTIONS) <= FUNCTION_MEDIAN


def test_nineteen_of_twenty_functions_fit_a_screen() -> None:
    assert quantiles([size(function) for _, function in FUNCTIONS], n=20)[-1] <= FUNCTION_95TH


def test_no_function_is_longer_than_the_cap() -> None:
    assert [name for name, function in FUNCTIONS if size(function) > FUNCTION_CAP] == []


def test_no_function_takes_more_than_five_parameters() -> None:
    assert [name for name, function in FUNCTIONS if len(parameters(function)) > MOST_PARAMETERS] == []


def test_no_file_is_longer_than_the_cap() -> None:
    assert {name: lines for name, lines in LENGTHS.items() if lines > FILE_CAP} == {}


def test_half_of_the_files_are_short() -> None:
    assert median(LENGTHS.values()) <= FILE_MEDIAN


def test_every_module_and_public_name_has_a_docstring() -> None:
    bare = [module.name for module in modules() if not ast.get_docstring(module.tree)]
    assert bare + [name for name, node in PUBLIC if not ast.get_docstring(node)] == []


def test_docstrings_begin_with_a_sentence() -> None:
    first = {name: (ast.get_docstring(node) or "").partition("\n\n")[0] for name, node in PUBLIC}
    assert [name for name, text in first.items() if not text[:1].isupper() or text[-1:] not in ".:`"] == []


def test_nothing_is_left_to_do() -> None:
    assert [
        f"{module.name}: {mark}" for module in modules() for mark in UNFINISHED if mark in module.text
    ] == []
