"""What a server means when it refuses or fails, and the one sentence a user is told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from ..tools.errors import ModelContextError, ModelError, ModelUnavailableError
from .endpoint import WITHOUT
from .model_settings import KEY_VARIABLE
from .terminal import clean

LONGEST_WORDS = 240
"""Characters of a server's own words that a message repeats."""

FEATURE_STATUSES = frozenset({400, 404, 405, 415, 422, 500, 501})
"""Statuses under which servers refuse a feature; the words must name it."""

BLIND_STATUSES = frozenset({500, 501})
"""Statuses under which servers fail over a feature without a word about it."""

PASSING_STATUSES = frozenset({408, 409, 425, 429})
"""Statuses below 500 under which the same request may be sent again."""


class PassingError(ModelUnavailableError):
    """Report a failure that may pass; `wait` is what the server asked for in seconds, if it did."""

    wait: float | None = None


class FeatureError(ModelUnavailableError):
    """Report that a server refused a feature; the same request without it may be sent at once."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A server's refusal: HTTP status, its words, the headers that came with it."""

    status: int
    words: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """Who was asked: server as shown, model, prompt bytes, whether a key was given, texts to keep secret."""

    server: str
    model: str
    prompt_bytes: int = 0
    has_key: bool = True
    secrets: tuple[str, ...] = ()

    def told(self, refusal: Refusal) -> str:
        """Return `(401: what the server said)`, on one line, short, without any key."""
        return f"({refusal.status}{self.quoted(refusal.words)})"

    def quoted(self, words: str) -> str:
        """Return words of others behind a colon, on one line, short, without any key; empty when none."""
        line = " ".join(clean(_scrubbed(words, self.secrets)).split())
        short = line if len(line) <= LONGEST_WORDS else f"{line[:LONGEST_WORDS].rstrip()}…"
        return f": {short.rstrip('.')}" if short else ""


def error_of(refusal: Refusal, asked: Asked) -> ModelError:
    """Return the error of a refusal, which no other request may cure unless it is a PassingError."""
    for fits, explain in _MEANINGS:
        if fits(refusal):
            error = explain(refusal, asked)
            error.status = refusal.status
            return error
    return _bad_request(refusal, asked)


def may_be_feature(refusal: Refusal) -> bool:
    """Tell whether a refusal may be about a feature rather than about the prompt or the model."""
    said = refusal.words.casefold()
    return refusal.status in FEATURE_STATUSES and not (_CONTEXT.search(said) or _MODEL.search(said))


def words_of(body: str) -> str:
    """Return what a server says in the body of a refusal, wherever it says it; markup says nothing."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return "" if "<" in body[:200] else body
    return _message(value)


def _message(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "; ".join(filter(None, map(_message, value[:3])))
    if not isinstance(value, dict):
        return ""
    parts = [_message(value[key]) for key in ("error", "message", "msg", "detail", "title") if key in value]
    place = value.get("loc")
    named = [".".join(map(str, place))] if isinstance(place, list) else []
    code = [value[key] for key in ("code", "type", "param") if isinstance(value.get(key), str)]
    return ": ".join([*named, *dict.fromkeys(filter(None, parts))]) + (
        f" ({', '.join(code)})" if code else ""
    )


def _scrubbed(words: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        if len(secret) >= 4:
            words = words.replace(secret, "[key]")
    return _KEY_LIKE.sub("[key]", words)


_KEY_LIKE = re.compile(r"(?i)\b(?:bearer\s+\S+|(?:sk|pk|gsk|key|api)[-_][\w*.-]{6,})")
_CONTEXT = re.compile(
    r"context[ _](length|window|size)|maximum context|context_length_exceeded|exceed_context"
    r"|too many tokens|prompt is too long|input is too long|reduce the length"
)
_MODEL = re.compile(
    r"model[^.]{0,80}(not[ _]found|does not exist|doesn't exist|not exist|unknown|is not a valid|no such)"
    r"|(unknown|invalid|no such|not a valid) model|model_not_found"
)
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing")


def _is(*statuses: int) -> Callable[[Refusal], bool]:
    return lambda refusal: refusal.status in statuses


def _says(clue: re.Pattern[str], *statuses: int) -> Callable[[Refusal], bool]:
    return lambda refusal: refusal.status in statuses and bool(clue.search(refusal.words.casefold()))


def _key_refused(refusal: Refusal, asked: Asked) -> ModelError:
    if not asked.has_key:
        return _gone(f"{asked.server} asks for a key {asked.told(refusal)}; set {KEY_VARIABLE}")
    what = f"the key was refused by {asked.server} {asked.told(refusal)}"
    return _gone(f"{what}; set {KEY_VARIABLE} to a key of that server")


def _not_allowed(refusal: Refusal, asked: Asked) -> ModelError:
    what = f"{asked.server} gives no access to model {asked.model!r} {asked.told(refusal)}"
    return _gone(f"{what}; choose another model with QUAERE_MODEL or another key")


def _unpaid(refusal: Refusal, asked: Asked) -> ModelError:
    what = f"the account at {asked.server} is used up {asked.told(refusal)}"
    return _gone(f"{what}; top it up or use another key")


def _unknown_model(refusal: Refusal, asked: Asked) -> ModelError:
    what = f"{asked.server} has no model {asked.model!r} {asked.told(refusal)}"
    return _gone(f"{what}; name one of {asked.server}/models with QUAERE_MODEL")


def _no_endpoint(refusal: Refusal, asked: Asked) -> ModelError:
    ends = "" if asked.server.endswith("/v1") else "; such addresses end with /v1 as a rule"
    what = f"there is no chat completions interface at {asked.server} {asked.told(refusal)}"
    return _gone(f"{what}; correct OPENAI_BASE_URL or model.base_url{ends}")


def _moved(refusal: Refusal, asked: Asked) -> ModelError:
    there = replace(refusal, words=refusal.headers.get("location", ""))
    what = f"{asked.server} points to another address {asked.told(there)}"
    return _gone(f"{what}; set OPENAI_BASE_URL or model.base_url to it")


def _too_long(refusal: Refusal, asked: Asked) -> ModelError:
    what = f"the prompt ({asked.prompt_bytes:,} bytes) does not fit the context window of {asked.model!r}"
    way_out = "start the server with a larger window, or ask under a smaller `--budget tokens=`"
    return ModelContextError(f"{what} {asked.told(refusal)}; {way_out}; {WITHOUT}")


def _passing(refusal: Refusal, asked: Asked) -> ModelError:
    wait = asked_wait(refusal.headers)
    asks = "" if wait is None else f", asked to wait {_seconds(wait)}"
    what = "rate limited" if refusal.status == 429 else f"status {refusal.status}"
    error = PassingError(f"{what}{asks} by {asked.server} {asked.told(refusal)}")
    error.wait = wait
    return error


def _bad_request(refusal: Refusal, asked: Asked) -> ModelError:
    what = f"{asked.server} refused a bad request {asked.told(refusal)}"
    error = _gone(f"{what}; see that it serves chat completions for model {asked.model!r}")
    error.status = refusal.status
    return error


def _gone(what: str) -> ModelError:
    return ModelUnavailableError(f"{what}; {WITHOUT}")


_MEANINGS: tuple[tuple[Callable[[Refusal], bool], Callable[[Refusal, Asked], ModelError]], ...] = (
    (_is(401), _key_refused),
    (_is(402), _unpaid),
    (_says(_QUOTA, 403, 429), _unpaid),
    (_is(403), _not_allowed),
    (_says(_CONTEXT, 400, 413, 422, 500), _too_long),
    (_is(413), _too_long),
    (_says(_MODEL, 400, 404, 422, 500), _unknown_model),
    (_is(404, 405), _no_endpoint),
    (lambda refusal: 300 <= refusal.status < 400, _moved),
    (lambda refusal: refusal.status in PASSING_STATUSES or refusal.status >= 500, _passing),
)
"""What refusals mean, the first that fits."""


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds a server asks to wait, from milliseconds, seconds or a date; None for nonsense."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except (ValueError, OverflowError):
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    seconds = (until - datetime.now(UTC)).total_seconds()
    return seconds if seconds > 0 else None


def _seconds(wait: float) -> str:
    if wait >= 1e12:
        return f"{wait:.0e} s"
    return f"{wait:,.0f} s" if wait >= 10 or wait == int(wait) else f"{wait:.1f} s"
