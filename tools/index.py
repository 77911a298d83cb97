"""Turn one file into a draft of a version (parse, split, analyse); encode passages that have no vector."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from .analyze import ANALYZER, terms
from .corpus import Corpus, Known, Waiting
from .draft import Built, Draft, File
from .embed import Encoder
from .errors import DamagedFileError, UnreadableError
from .marks import read_marks
from .parse import parse, parser_mark
from .relabel import rules_mark
from .rulebook import NO_RULES, Rulebook
from .split import SPLITTER, CountTokens, Limits, split
from .standing import Observation, Stamp, content_hash
from .writer import encoder_input

Progress = Callable[[str, int, int, str], None]
"""Called with the stage (`read` or `encode`), how many are done, of how many, and what was done last."""

ESTIMATED_TOKENS = 256
"""Tokens of a passage at most where no encoder says so."""

WINDOW = 4096
"""Passages looked at together, to sort them by length before they are cut into batches."""

BATCH = 64
"""Passages encoded and committed together: what ctrl-C or a kill can cost."""


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """What shapes an index: which files, how large, passages of how many tokens (an encoder may allow fewer).

    `retry` tries files again that failed before even when they look the same; `rulebook` gives labels.
    `chroma` keeps a Chroma collection in step with the vectors; `chroma_token_variable` names the variable of
    the environment that holds the token for Chroma servers.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_file_bytes: int = 100_000_000
    passage_tokens: int = 200
    retry: bool = True
    rulebook: Rulebook = NO_RULES
    chroma: bool = False
    chroma_token_variable: str = ""


@dataclass(frozen=True, slots=True)
class Shaping:
    """How texts become passages now, the mark that versions made so carry, and the rules for their labels."""

    limits: Limits
    count: CountTokens
    mark: str
    stem: str
    by_encoder: bool
    rulebook: Rulebook = NO_RULES

    def is_fresh(self, known: Known) -> bool:
        """Tell whether a version has the passages that parser, splitter, analyser and encoder would make.

        Without an encoder the passages cut for any encoder are as good.
        """
        if known.parser != parser_mark(known.file.path):
            return False
        return known.mark == self.mark if self.by_encoder else known.mark.startswith(self.stem)

    def is_staged(self, known: Known) -> bool:
        """Tell whether a version made so waits for its space to be complete."""
        return known.staged == (parser_mark(known.file.path), self.mark)

    def may_share(self, known: Known) -> bool:
        """Tell whether a version differs from one made so at most in where the passages are cut."""
        return known.parser == parser_mark(known.file.path) and known.mark.startswith(self.stem)


def shaping(settings: IndexSettings, encoder: Encoder | None) -> Shaping:
    """Return how passages are shaped for an encoder; without one tokens are taken for three characters."""
    stem = f"{SPLITTER} {ANALYZER} target={settings.passage_tokens} "
    if encoder is None:
        limits = Limits(tokens=max(ESTIMATED_TOKENS, settings.passage_tokens), target=settings.passage_tokens)
        mark = f"{stem}tokens={limits.tokens} estimated"
        return Shaping(limits, estimate_tokens, mark, stem, False, settings.rulebook)
    limits = Limits(tokens=encoder.max_tokens, target=min(settings.passage_tokens, encoder.max_tokens))
    mark = f"{stem}tokens={limits.tokens} {encoder.fingerprint}"
    return Shaping(limits, encoder.count_tokens, mark, stem, True, settings.rulebook)


def estimate_tokens(texts: Sequence[str]) -> list[int]:
    """Return about how many tokens an unknown encoder would make of each text."""
    return [len(text) // 3 + 2 for text in texts]


def draft(file: File, observed: Observation, data: bytes, shape: Shaping) -> Draft:
    """Return a file ready to be stored; UnreadableError when no text can be made of it."""
    parsed = parse(data, file.path)
    try:
        parsed.text.encode()
    except UnicodeEncodeError as error:
        raise DamagedFileError("holds broken characters (lone surrogates)") from error
    cut = split(parsed, shape.count, shape.limits)
    if not cut.passages:
        raise UnreadableError("no text to search in it")
    indexed = [terms(encoder_input(one.prefix, parsed.text[one.start : one.end])) for one in cut.passages]
    given = shape.rulebook.given(file.source, file.path)
    return Draft(
        file=file,
        observed=observed,
        parsed=parsed,
        split=cut,
        parser=parser_mark(file.path),
        mark=shape.mark,
        terms=indexed,
        labels=given.labels,
        validity=read_marks(parsed.text, file.path, given),
        rules=rules_mark(shape.rulebook),
    )


def observe(data: bytes, stamp: Stamp, started_ns: int) -> Observation:
    """Return what was read of a file by a reading that began at `started_ns`."""
    return Observation(stamp, started_ns, content_hash(data))


def encode_missing(corpus: Corpus, encoder: Encoder, progress: Progress) -> Iterator[float]:
    """Encode the passages that have no vector yet; yield the seconds in the encoder after each stored batch.

    Stopped anywhere, the next run goes on with what is missing. When all are there the encoder's space is the
    one that is searched, and vectors of other spaces go.
    """
    ready, total = corpus.vectors_ready(encoder.fingerprint)
    for batch in _batches(corpus, encoder.fingerprint):
        yield _encode(corpus, encoder, batch)
        ready = min(ready + sum(one.passages for one in batch), total)
        progress("encode", ready, total, "")
    if ready < total:  # equal passages further on got their vectors with the ones before
        progress("encode", total, total, "")
    if (corpus.space != encoder.fingerprint or not corpus.built_by) and (total or corpus.space):
        with corpus.write() as writer:
            writer.switch_space(encoder.fingerprint, Built(encoder.name, encoder.dimension))
    while corpus.has_other_vectors(encoder.fingerprint):
        with corpus.write() as writer:
            writer.drop_vectors(encoder.fingerprint, WINDOW)


def _batches(corpus: Corpus, space: str) -> Iterator[list[Waiting]]:
    waiting, after = corpus.waiting(space, 0, WINDOW)
    while waiting:
        # Inputs of like length share a batch, so that little of it is padding.
        waiting.sort(key=lambda one: len(one.prefix) + len(one.text))
        yield from (waiting[at : at + BATCH] for at in range(0, len(waiting), BATCH))
        waiting, after = corpus.waiting(space, after, WINDOW)


def _encode(corpus: Corpus, encoder: Encoder, batch: Sequence[Waiting]) -> float:
    started = time.perf_counter()
    vectors = encoder.encode_documents([encoder_input(one.prefix, one.text) for one in batch])
    seconds = time.perf_counter() - started
    with corpus.write() as writer:
        writer.put_vectors(encoder.fingerprint, [(one.key, vectors[at]) for at, one in enumerate(batch)])
    return seconds
