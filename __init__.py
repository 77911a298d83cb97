"""quaere: agentic retrieval whose every claim cites an exact span."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .agent.assemble import Agent

__all__ = ["Agent"]


def __getattr__(name: str) -> Any:  # noqa: ANN401  (the lazy face of the package)
    if name == "Agent":
        from .agent.assemble import Agent

        return Agent
    raise AttributeError(f"module 'quaere' has no attribute {name!r}")
