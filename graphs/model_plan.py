"""Read the tool calls a model plans: native ones, those in its object, and those it wrote as text.

Unknown tools, arguments that do not fit, and queries that lose what was asked are told to the model once;
what is wrong then is left out, and the run moves on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .arguments import misfit
from .calls import TEXT_SEARCHES
from .faithful import invents, loses, prose
from .fence import fold
from .model_ask import Read
from .policy import Need, PlannedCall
from .ports import Reply, ToolCard
from .rewrite import asked_key
from .wire import TEXT, Schema, fields_of, list_of, one_of

MOST_CALLS = 64
"""Calls of one reply that are looked at."""

READ_ON = "expand"
"""The tool that takes the number of a passage held already."""


@dataclass(frozen=True, slots=True)
class Planning:
    """What calls are held against: the question, its needs, the tools, what was asked, passages held.

    `known` are texts whose numbers and identifiers a query may use; `first` says that this is round 1.
    """

    question: str
    needs: tuple[Need, ...]
    tools: tuple[ToolCard, ...]
    asked: frozenset[str]
    passages: frozenset[int]
    known: tuple[str, ...]
    first: bool


@dataclass(frozen=True, slots=True)
class Wanted:
    """A call as a model wrote it: the tool, its arguments in whatever form, the need it names."""

    tool: str
    arguments: object
    need: str = ""


def calls_schema(tools: Sequence[ToolCard]) -> Schema:
    """Return the schema of a list of calls; arguments are JSON texts, so that strict servers take them."""
    names = [card.name for card in tools]
    call = fields_of({"tool": one_of(*names), "need": TEXT, "arguments": TEXT})
    return list_of(call)


def tool_specs(tools: Sequence[ToolCard], *, without_titles: bool) -> tuple[Mapping[str, Any], ...]:
    """Return tools as a model is told of them; descriptions may have to leave out what the sources hold."""
    return tuple(
        {
            "type": "function",
            "function": {
                "name": card.name,
                "description": card.description.partition(" Holds ")[0]
                if without_titles
                else card.description,
                "parameters": dict(card.schema),
            },
        }
        for card in tools
    )


def wanted_calls(reply: Reply, found: object) -> list[Wanted]:
    """Return every call of a reply, native ones first, without looking at whether it can be made."""
    native = [Wanted(call.name, call.arguments) for call in reply.calls]
    listed: object = found
    if isinstance(found, Mapping):
        listed = found.get("calls") if "calls" in found else [found]
    items = listed if isinstance(listed, list) else []
    return [*native, *(one for item in items for one in _in_text(item))][:MOST_CALLS]


def _in_text(item: object) -> Iterator[Wanted]:
    """Yield the call an object of a reply describes, under the names models give its parts."""
    if not isinstance(item, Mapping):
        return
    inner = item.get("function")
    if isinstance(inner, Mapping):
        item = inner
    name = item.get("tool") or item.get("name") or inner
    arguments = next((item[key] for key in ("arguments", "parameters", "args") if key in item), None)
    if isinstance(name, str) and arguments is not None:
        yield Wanted(name, arguments, str(item.get("need", "")))


def plan_calls(wanted: Sequence[Wanted], planning: Planning) -> Read[tuple[PlannedCall, ...]]:
    """Return the calls that can be made, each once, and why the others cannot or may not."""
    kept: dict[str, PlannedCall] = {}
    problems: list[str] = []
    for i, one in enumerate(wanted, 1):
        found = _planned(one, planning)
        if isinstance(found, str):
            problems.append(f"call {i} ({one.tool[:40]}): {found}")
        else:
            kept.setdefault(asked_key(found.tool, found.arguments), found)
    again = set(kept) & planning.asked
    dropped = [f"{kept[key].tool}: it was asked already" for key in again]
    faithful, losing = _faithful([call for key, call in kept.items() if key not in again], planning)
    return Read(faithful, tuple(problems), (*dropped, *losing))


def _planned(one: Wanted, planning: Planning) -> PlannedCall | str:
    """Return a call with its arguments in order, or why it cannot be made."""
    card = next((card for card in planning.tools if card.name == one.tool), None)
    if card is None:
        return f"there is no such tool; there are {', '.join(card.name for card in planning.tools)}"
    arguments = _arguments(one.arguments, card)
    if isinstance(arguments, str):
        return arguments
    why = misfit(card.schema, arguments)
    if why:
        return why
    need = next((need for need in planning.needs if need.id == one.need), planning.needs[0])
    call = PlannedCall(one.tool, arguments, need.id)
    return _held(call, planning) if one.tool == READ_ON else call


def _arguments(written: object, card: ToolCard) -> dict[str, Any] | str:
    """Return arguments as an object; a bare text stands for the query of a tool that takes one."""
    if isinstance(written, str):
        written = _from_text(written, takes_query="query" in card.schema.get("properties", {}))
    if not isinstance(written, Mapping):
        return "its arguments are no JSON object"
    given = {str(name): _cleaned(value) for name, value in written.items() if value is not None}
    passage = given.get("passage")
    if isinstance(passage, str) and passage.lstrip("S").isdecimal():
        given["passage"] = int(passage.lstrip("S")[:9])
    return given


def _from_text(written: str, *, takes_query: bool) -> object:
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        bare = written.strip()
        return {"query": bare} if takes_query and not bare.startswith(("{", "[")) else None


def _cleaned(value: Any) -> Any:  # noqa: ANN401  (any JSON value)
    """Return a value whose texts are one line without characters that no reader sees."""
    if isinstance(value, str):
        return fold(value, 8000)
    if isinstance(value, list):
        return [_cleaned(part) for part in value]
    return {key: _cleaned(part) for key, part in value.items()} if isinstance(value, dict) else value


def _held(call: PlannedCall, planning: Planning) -> PlannedCall | str:
    """Return a call that reads on with the number as the run writes it; other numbers name nothing."""
    number = call.arguments.get("passage")
    if number not in planning.passages:
        return f"there is no passage {number}"
    return PlannedCall(call.tool, {**call.arguments, "passage": f"S{number}"}, call.need)


def _faithful(
    calls: Sequence[PlannedCall], planning: Planning
) -> tuple[tuple[PlannedCall, ...], tuple[str, ...]]:
    """Return the calls that keep faith with their needs, and why the others do not.

    In round 1 the text searches for a need must together hold all that must survive of it.
    """
    why: dict[int, str] = {}
    for i, call in enumerate(calls):
        query = _query_of(call)
        if query is not None:
            why[i] = prose(query) or invents(query, planning.known)
    for need in planning.needs if planning.first else ():
        mine = [i for i, call in enumerate(calls) if call.need == need.id and why.get(i) == ""]
        lost = loses(need.text, " ".join(_query_of(calls[i]) or "" for i in mine)) if mine else ""
        why |= dict.fromkeys(mine, lost)
    kept = tuple(call for i, call in enumerate(calls) if not why.get(i))
    return kept, tuple(f"{_query_of(calls[i])!r}"[:80] + f": {reason}" for i, reason in why.items() if reason)


def _query_of(call: PlannedCall) -> str | None:
    """Return the query of a text search, or None for any other call."""
    query = call.arguments.get("query")
    return query if call.tool in TEXT_SEARCHES and isinstance(query, str) else None
