"""Whether what quaere stands on is there and fit: Python, SQLite, the libraries, the encoder's weights."""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, requires, version

from .checks import Finding, counted, failed, ok, warning
from .embed import Encoder, open_encoder
from .errors import EncoderError
from .export import EXPORT_VERSION
from .onnx_model import read_manifest
from .weights import cache_folder, find_weights, identity

PYTHON = (3, 11)

SQLITE = (3, 33)
"""SQLite from which on all that we ask of it is there (rows beside rows in UPDATE and JSON functions)."""

INSTALL = "install quaere again with pip and its constraints.txt"


def check_surroundings(model: str | None, threads: int) -> tuple[Mapping[str, Finding], Encoder | None]:
    """Return the findings by name, and the encoder if it can be opened."""
    weights, encoder = _look_at_weights(model, threads)
    found = {
        "python": look_at_python(),
        "sqlite": look_at_sqlite(sqlite3.sqlite_version),
        "libraries": look_at_libraries(_requirements()),
        "weights": weights,
    }
    return found, encoder


def look_at_python(running: tuple[int, ...] = tuple(sys.version_info[:3])) -> Finding:
    """Check that Python is new enough."""
    name = ".".join(map(str, running))
    if running < PYTHON:
        return failed(f"Python {name} is too old", f"use Python {'.'.join(map(str, PYTHON))} or newer")
    return ok(f"Python {name}")


def look_at_sqlite(running: str) -> Finding:
    """Check that SQLite is new enough and reads JSON."""
    if _parts(running) < SQLITE:
        least = ".".join(map(str, SQLITE))
        return failed(f"SQLite {running} is too old", f"use a Python with SQLite {least} or newer")
    db = sqlite3.connect(":memory:")
    try:
        db.execute("SELECT value FROM json_each('[1]')").fetchone()
    except sqlite3.Error as error:
        return failed(f"SQLite {running} lacks what is needed ({error})", "use another build of Python")
    finally:
        db.close()
    return ok(f"SQLite {running}")


def look_at_libraries(requirements: list[str]) -> Finding:
    """Check that each library is there, in a version that quaere was made for.

    `requirements` are lines as a package declares them, such as `numpy<3,>=2.2`.
    """
    missing, unfit, fit = [], [], 0
    for name, bounds in _declared(requirements):
        try:
            installed = version(name)
        except PackageNotFoundError:
            missing.append(name)
            continue
        if all(_holds(installed, *bound) for bound in bounds):
            fit += 1
        else:
            unfit.append(f"{name} {installed} ({', '.join(map(''.join, bounds))} is needed)")
    if missing:
        return failed(f"not installed: {', '.join(missing)}", INSTALL)
    if unfit:
        return warning(", ".join(unfit), INSTALL)
    return ok(f"{counted(fit, 'library', 'libraries')} in the versions quaere was made for")


def _requirements() -> list[str]:
    try:
        return requires("quaere") or []
    except PackageNotFoundError:
        return ["quaere"]


def _declared(requirements: list[str]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield name and bounds of each requirement that is no extra."""
    for line in requirements:
        if "extra ==" in line:
            continue
        found = re.match(r"[\w.-]+", line)
        assert found is not None
        yield found[0], re.findall(r"(>=|<=|==|!=|<|>)\s*([\w.]+)", line.partition(";")[0])


def _holds(installed: str, relation: str, bound: str) -> bool:
    here, there = _parts(installed), _parts(bound)
    size = max(len(here), len(there))
    left, right = (part + (0,) * (size - len(part)) for part in (here, there))
    return {
        ">=": left >= right,
        "<=": left <= right,
        "==": left == right,
        "!=": left != right,
        "<": left < right,
        ">": left > right,
    }[relation]


def _parts(text: str) -> tuple[int, ...]:
    """Return the numbers a version begins with: (3, 40, 1) of `3.40.1+local`."""
    found = re.match(r"\d+(\.\d+)*", text)
    return tuple(map(int, found[0].split("."))) if found else ()


def _look_at_weights(model: str | None, threads: int) -> tuple[Finding, Encoder | None]:
    """Open the encoder: weights that were altered or are missing are refused there, with the way out."""
    try:
        folder = find_weights(model)
        encoder = open_encoder(model, threads)
    except EncoderError as error:
        said, _, way_out = str(error).rpartition("; ")
        return failed(said or str(error), way_out or INSTALL), None
    if folder is None or encoder is None:
        return warning("no encoder is installed; only keyword search works", INSTALL), None
    export = cache_folder() / "encoders" / f"{identity(folder)}.{EXPORT_VERSION}"
    runs = "exported to ONNX" if read_manifest(export) is not None else "run by PyTorch, which is slower"
    return ok(f"{model or 'all-MiniLM-L6-v2'}, {encoder.dimension} dimensions, {runs}"), encoder
