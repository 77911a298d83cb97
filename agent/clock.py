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
