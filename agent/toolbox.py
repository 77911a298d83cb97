"""The Tools port over langchain-core tools: whatever goes wrong in a tool comes back as an observation."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, cast

from langchain_core.tools import BaseTool
from pydantic import BaseModel, ValidationError

from ..graphs.ports import Arguments, Observation, ToolCard
from ..tools.errors import QuaereError
from ..tools.evidence import Candidate


class Toolbox:
    """Run registered tools by name; unknown names and bad arguments are answered, not raised."""

    def __init__(self, tools: Sequence[BaseTool]) -> None:
        self._tools = {tool.name: tool for tool in tools}

    def cards(self) -> tuple[ToolCard, ...]:
        """Return the tools as a policy sees them."""
        return tuple(ToolCard(tool.name, tool.description, schema_of(tool)) for tool in self._tools.values())

    async def call(self, path: str, name: str, arguments: Arguments, seen: frozenset[int]) -> Observation:
        """Run one tool and return what it found, or why it found nothing."""
        tool = self._tools.get(name)
        if tool is None:
            near = difflib.get_close_matches(name, self._tools, 1) or sorted(self._tools)[:1]
            return Observation(
                path, name, "refused", f"there is no tool {name!r}; the nearest is {near[0]!r}"
            )
        call = {"name": name, "args": dict(arguments), "id": path, "type": "tool_call"}
        try:
            message = await tool.ainvoke(call, config={"configurable": {"seen": seen}})
        except ValidationError as error:
            return Observation(path, name, "refused", _first_problem(name, error), source=name)
        except QuaereError as error:
            return Observation(path, name, "failed", str(error), source=name)
        except Exception as error:  # noqa: BLE001  (the tool boundary: a tool may raise anything)
            return Observation(path, name, "failed", f"{type(error).__name__} in {name}", source=name)
        return Observation(path, name, "ok", str(message.content), _candidates(message.artifact), name)


def schema_of(tool: BaseTool) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments."""
    schema = tool.args_schema
    if isinstance(schema, dict):
        return schema
    return cast("type[BaseModel]", schema).model_json_schema()


def _candidates(artifact: object) -> tuple[Candidate, ...]:
    """Return the candidates of an artifact; anything else a tool returns is no evidence."""
    items = artifact if isinstance(artifact, list | tuple) else ()
    return tuple(item for item in items if isinstance(item, Candidate))


def _first_problem(name: str, error: ValidationError) -> str:
    """Name the first argument that does not fit, in one sentence."""
    problem = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in problem["loc"]) or "arguments"
    return f"{name}: {place}: {problem['msg'].lower()}"
