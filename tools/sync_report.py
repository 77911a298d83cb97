"""What a sync did: counts that add up, failures with their reasons, and the state of the index after it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did: seen = new + changed + renamed + unchanged + failed + pending.

    `pending` files were not reached before ctrl-C (`interrupted`). `missing` names the sources that are not
    there: nothing of them was touched. `skipped` counts links and special files. `passages`, `vectors_ready`
    and `vectors_missing` describe the corpus afterwards; times are in seconds.
    """

    seen: int = 0
    new: int = 0
    changed: int = 0
    renamed: int = 0
    deleted: int = 0
    unchanged: int = 0
    pending: int = 0
    failures: tuple[tuple[str, str], ...] = ()
    skipped: int = 0
    warnings: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    interrupted: bool = False
    passages: int = 0
    vectors_ready: int = 0
    vectors_missing: int = 0
    seconds: float = 0.0
    encoder_seconds: float = 0.0

    @property
    def failed(self) -> int:
        """Return how many files could not be read."""
        return len(self.failures)
