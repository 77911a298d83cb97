"""The Clock port over the machine's clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class MachineClock:
    """Tell the machine's time."""

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start."""
        return time.monotonic()

    def today(self, path: str) -> str:
        """Return today's date in UTC as ISO 8601."""
        return datetime.now(UTC).date().isoformat()


STEPS = (("minute", 60), ("hour", 3600), ("day", 86_400), ("month", 30 * 86_400), ("year", 365 * 86_400))


def ago(moment: str, now: datetime | None = None) -> str:
    """Return how long ago a moment in ISO 8601 was, such as `3 days ago`; months count 30 days."""
    past = (now or datetime.now(UTC)) - datetime.fromisoformat(moment)
    seconds = past.total_seconds()
    unit, length = next((step for step in reversed(STEPS) if seconds >= step[1]), ("", 1))
    number = int(seconds // length)
    return f"{number} {unit}{'' if number == 1 else 's'} ago" if unit else "just now"
