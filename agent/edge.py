"""The edge of the process: whatever goes wrong ends as one sentence on stderr and an exit code."""

from __future__ import annotations

import errno
import logging
import os
import sqlite3
import sys
import traceback
import warnings
from collections.abc import Callable

from ..tools.errors import QuaereError
from .terminal import discard_output, prepare_streams, tell

INTERRUPTED = 130
FAILED = 1
CHECK_FAILED = 6

OFFLINE = {
    "LANGSMITH_TRACING_V2": "false",
    "HF_HUB_OFFLINE": "1",
    "ANONYMIZED_TELEMETRY": "False",
    "TOKENIZERS_PARALLELISM": "false",
}
"""What keeps the libraries from the network and from threads of their own, whatever the shell says."""


def run_at_edge(work: Callable[[], int]) -> int:
    """Return the exit code of a command, or that of the error it ended with."""
    prepare_streams()
    silence_libraries()
    try:
        return work()
    except KeyboardInterrupt:
        tell("quaere: interrupted")
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  (the process edge)
        if wants_debug():
            traceback.print_exc(file=sys.stderr)
        if isinstance(error, OSError):
            discard_output()
        tell(f"quaere: {sentence(error)}")
        return error.exit_code if isinstance(error, QuaereError) else FAILED


def stay_offline() -> None:
    """Tell the libraries, before any of them is loaded, that nothing leaves this machine."""
    os.environ.update(OFFLINE)


def wants_debug() -> bool:
    """Tell whether QUAERE_DEBUG asks for tracebacks and the warnings of libraries."""
    return os.environ.get("QUAERE_DEBUG", "0") not in ("", "0")


def silence_libraries() -> None:
    """Keep warnings and log lines of libraries off stderr, unless QUAERE_DEBUG asks for them."""
    if not wants_debug():
        warnings.simplefilter("ignore")
        logging.getLogger().addHandler(logging.NullHandler())


def sentence(error: BaseException) -> str:
    """Return an error as one sentence that names the thing and the way out."""
    if isinstance(error, QuaereError):
        text = str(error)
    elif isinstance(error, sqlite3.Error):
        text = f"the index cannot be used ({error}); check free space and permissions of .quaere"
    elif isinstance(error, OSError) and error.strerror:
        text = _os_sentence(error)
    else:
        kind, said = type(error).__name__, str(error)
        text = f"unexpected {kind}{': ' if said else ''}{said}; set QUAERE_DEBUG=1 to see where it comes from"
    return " ".join(text.split())


def _os_sentence(error: OSError) -> str:
    what = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else "the output"
    way_out = {
        errno.ENOSPC: "; free some space and run it again",
        errno.EACCES: "; choose a place you may read and write",
        errno.EPERM: "; choose a place you may read and write",
        errno.EROFS: "; choose a place that can be written",
    }
    return f"{what}: {error.strerror}{way_out.get(error.errno or 0, '')}"
