"""Find out what the models of one server can do: what is refused is asked for no more, what works is kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from .capabilities import Capabilities, CapabilityBook, Sent, lessened, lessened_blindly
from .refusals import BLIND_STATUSES, Refusal, may_be_feature

MOST_BROKEN = 2
"""Streams that may break before their first piece until a server counts as one that cannot stream."""


class Negotiation:
    """The trials of one run; only what a server has answered well is remembered beyond it."""

    def __init__(self, book: CapabilityBook, address: str) -> None:
        self._book = book
        self._address = address
        self._trials: dict[str, Capabilities] = {}
        self._failed: set[str] = set()
        self._broken: Counter[str] = Counter()
        self._in_one_body: set[str] = set()

    def of(self, model: str) -> Capabilities:
        """Return what to ask of a model now."""
        now = self._trials.get(model) or self._book.of(self._address, model)
        return replace(now, stream=False) if model in self._in_one_body else now

    def refused(self, model: str, sent: Sent, refusal: Refusal) -> bool:
        """Tell whether a refusal named a feature, which is asked for no more.

        A server that fails twice without a word may fail over a schema or tools it never took before.
        """
        now = self.of(model)
        less = lessened(now, sent, refusal.words) if may_be_feature(refusal) else None
        if less is not None:
            self._trials[model] = less
            return True
        if refusal.status in BLIND_STATUSES and not now.proven:
            blind = lessened_blindly(now, sent) if model in self._failed else None
            self._trials |= {model: blind} if blind else {}
            self._failed.add(model)
        return False

    def without_stream(self, model: str) -> None:
        """Ask for no stream any more: those of the server do not say why they end."""
        self._trials[model] = replace(self.of(model), stream=False, usage=False)

    def stream_broke(self, model: str) -> None:
        """Ask for the next reply in one body, for a server may be able to say only there why it has none.

        Streams are asked for again after a reply has come, unless they break at once again.
        """
        self._broken[model] += 1
        self._in_one_body.add(model)

    def worked(self, model: str, capabilities: Capabilities, sent: Sent) -> None:
        """Remember what a server has answered well."""
        if model in self._in_one_body and self._broken[model] < MOST_BROKEN:
            capabilities = replace(capabilities, stream=True)
        self._in_one_body.discard(model)
        proven = capabilities.proven or sent.structure not in (None, "text") or sent.tools
        self._trials.pop(model, None)
        self._failed.discard(model)
        self._book.learn(self._address, model, replace(capabilities, proven=proven))
