"""Whether the configured encoder is the one whose vectors the index holds, and what to do when it is not."""

from __future__ import annotations

from .corpus import Corpus
from .embed import Encoder
from .errors import EncoderError


def fit_space(corpus: Corpus, encoder: Encoder | None) -> None:
    """Refuse to search an index with another encoder than the one it was built with; nothing is changed.

    EncoderError names both and both ways out. Without an encoder, or before the first vectors, all is well.
    """
    if encoder is None or not is_building(corpus, encoder):
        return
    built = corpus.built_by
    by = f"{built.name} ({built.dimension} dimensions)" if built else "another encoder"
    raise EncoderError(
        f"the index was built with {by} and the configured encoder is {encoder.name} ({encoder.dimension} "
        "dimensions); run `quaere sync` to build it anew, or set encoder.model back"
    )


def is_building(corpus: Corpus, encoder: Encoder) -> bool:
    """Tell whether an encoder's space is still to be built beside the one that is searched."""
    return corpus.space not in (None, encoder.fingerprint)
