"""Every error quaere raises on purpose.

QuaereError                   exit 1; the message names the thing, the value and the way out
├── UsageError                exit 2; an argument, a setting or a limit that cannot be
│   ├── SettingsError         a key or value of quaere.toml, a flag or QUAERE_… that is refused
│   └── WorkspaceError        a .quaere folder that is missing, foreign, newer or damaged
├── UnreadableError           a file that cannot become text; counted and listed, never fatal to a sync
│   ├── EmptyFileError        no bytes, or no letter or digit in it
│   ├── BinaryFileError       not text and not a known format
│   ├── EncryptedFileError    a password is required
│   ├── OversizedFileError    larger than the limit set for a file
│   └── DamagedFileError      the format's parser gave up
├── EncoderError              weights that are missing, altered or do not fit the index
├── SourceUnavailableError    a source that failed or timed out while searching
├── BudgetSpentError          a limit of the run was reached before a call
├── ModelError                a language model that gave nothing to work with
│   ├── ModelUnavailableError no key, a refused key, no endpoint, an unknown model, failing at every attempt
│   ├── ModelReplyError       a reply that is no reply: empty, thoughts only, not in the interface's format
│   └── ModelContextError     a prompt larger than the model's window
├── BusyError                 another process writes to the workspace
└── DiskError                 a disk that is full or fails; what was committed stays
"""

from __future__ import annotations


class QuaereError(Exception):
    """Base of all errors with a message meant for people."""

    exit_code = 1


class UsageError(QuaereError):
    """Report an argument, setting or limit that cannot be."""

    exit_code = 2


class SettingsError(UsageError):
    """Report a setting that is unknown or out of range."""


class WorkspaceError(UsageError):
    """Report a workspace that is missing, foreign, newer or damaged."""


class UnreadableError(QuaereError):
    """Report a file that cannot become text; `reason` is one short phrase without the file's name."""

    exit_code = 2

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class EmptyFileError(UnreadableError):
    """Report a file without any letter or digit."""


class BinaryFileError(UnreadableError):
    """Report bytes that are neither text nor a known format."""


class EncryptedFileError(UnreadableError):
    """Report a file that asks for a password."""


class OversizedFileError(UnreadableError):
    """Report a file above the size limit."""


class DamagedFileError(UnreadableError):
    """Report a file its format's parser gave up on."""


class EncoderError(QuaereError):
    """Report weights that are missing, altered or do not fit the index."""


class SourceUnavailableError(QuaereError):
    """Report a source that failed or timed out while searching; `source` is its name."""

    def __init__(self, source: str, why: str) -> None:
        super().__init__(f"{source}: {why}")
        self.source = source


class BudgetSpentError(QuaereError):
    """Report the limit that a run reached; `limit` is its name, `attempts` the requests to a model it cut."""

    exit_code = 4

    def __init__(self, limit: str, message: str, attempts: tuple[object, ...] = ()) -> None:
        super().__init__(message)
        self.limit = limit
        self.attempts = attempts


class ModelError(QuaereError):
    """Report a language model that gave nothing to work with.

    `attempts` are the requests that left for it (records of the Model port), which the budget is charged for;
    `status` is the HTTP status of the last one, if there was one.
    """

    def __init__(self, message: str, attempts: tuple[object, ...] = (), *, status: int | None = None) -> None:
        super().__init__(message)
        self.attempts = attempts
        self.status = status


class ModelUnavailableError(ModelError):
    """Report a model that refuses or is gone; the next request of the run would fare no better."""


class ModelReplyError(ModelError):
    """Report a reply that holds nothing usable; the same request may be sent once more.

    `starved` says that the model thought until its tokens were used up, so that more of them may help.
    """

    def __init__(self, message: str, attempts: tuple[object, ...] = (), *, starved: bool = False) -> None:
        super().__init__(message, attempts)
        self.starved = starved


class ModelContextError(ModelError):
    """Report a prompt larger than the model's context window; a shorter one may be sent."""


class BusyError(QuaereError):
    """Report that another process writes to the workspace."""


class DiskError(QuaereError):
    """Report a disk that is full or fails; what was committed stays."""
