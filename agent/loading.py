"""Load the modules that answering needs, once, with the garbage collector out of the way."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .assemble import Agent
    from .options import Common
    from .settings import Settings


def load_agent(preload: bool = False) -> type[Agent]:
    """Return the class of agents; `preload` also loads the graph, which only answering and drawing need."""
    with collector_paused():
        from .assemble import Agent

        if preload:
            from . import run  # noqa: F401  (loaded here, where the collector pauses)
    return Agent


@contextmanager
def opened(given: Common, preload: bool = False, resident: bool = False) -> Iterator[Agent]:
    """Open the agent of a workspace; `preload` loads what answering needs, `resident` ones may use Chroma."""
    folder = given.workspace or Path(".")
    with load_agent(preload).open(folder, access=given.principal, overrides=given.overrides) as agent:
        agent.resident = resident
        yield agent


def placed(given: Common) -> tuple[Path, Settings]:
    """Return the `.quaere` folder a command means, there or not, and its settings, without opening it."""
    from .assemble import WORKSPACE, find_workspace
    from .settings import load_settings

    folder = find_workspace((given.workspace or Path(".")).expanduser().absolute())
    return folder / WORKSPACE, load_settings(folder, os.environ, given.overrides)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep the collector from walking thousands of fresh modules again and again, then out of their sight."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.freeze()
