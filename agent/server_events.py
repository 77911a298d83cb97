"""Read server-sent events from bytes, however they were cut on their way."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator

MOST_EVENT_BYTES = 4_000_000
"""Bytes of one event at most; no server writes such a line on purpose."""


async def server_events(pieces: AsyncIterable[bytes]) -> AsyncIterator[str]:
    """Yield the data of each event; lines of one event are joined, comments and other fields left out.

    What follows the last line end is an event that broke off and is not yielded. ValueError for an event
    that does not end.
    """
    rest, data = b"", list[bytes]()
    async for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        for line in (line.removesuffix(b"\r") for line in lines):
            if not line and data:
                yield b"\n".join(data).decode("utf-8", "replace")
                data = []
            elif line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" "))
        if len(rest) + sum(map(len, data)) > MOST_EVENT_BYTES:
            raise ValueError("an event of a stream does not end")
    if data and not rest:
        yield b"\n".join(data).decode("utf-8", "replace")
