"""Load a model in sentence-transformers: to export it, or to run it when it cannot be exported."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import threading
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .errors import EncoderError
from .onnx_model import Role, Vectors

LONGEST = 8192
"""Tokens of a text at most for a model that names no bound of its own."""


def load_model(folder: Path) -> Any:  # noqa: ANN401  (SentenceTransformer is imported late)
    """Return the SentenceTransformer of a folder, loaded offline and silently, or raise EncoderError."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    with quiet():
        from safetensors import SafetensorError
        from sentence_transformers import SentenceTransformer

        try:
            return SentenceTransformer(str(folder), device="cpu", local_files_only=True)
        except (
            OSError,
            ValueError,
            KeyError,
            TypeError,
            RuntimeError,
            ImportError,
            SafetensorError,
        ) as error:
            why = next(iter(str(error).splitlines()), type(error).__name__)
            raise EncoderError(
                f"{folder} is no sentence-transformers model that can be loaded ({why}); choose another model"
            ) from error


def token_bound(model: Any) -> int:  # noqa: ANN401  (SentenceTransformer)
    """Return how many tokens the model reads of a text, special tokens included."""
    bound = model.max_seq_length
    return int(min(bound, LONGEST)) if bound else LONGEST


def document_prompt(model: Any) -> str:  # noqa: ANN401  (SentenceTransformer)
    """Return the prompt that `encode_document` puts before a text: the first one present, even if empty."""
    prompts = model.prompts or {}
    return next((prompts[name] or "" for name in ("document", "passage", "corpus") if name in prompts), "")


class TorchModel:
    """Run a model in sentence-transformers itself, one batch at a time."""

    def __init__(self, folder: Path, threads: int) -> None:
        self._model = load_model(folder)
        import torch

        torch.set_num_threads(threads)
        self._one_at_a_time = threading.Lock()
        self._prompt = document_prompt(self._model)
        self.dimension = int(self._model.get_embedding_dimension())
        self.max_tokens = token_bound(self._model)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens of each text as a document."""
        given = [self._prompt + text for text in texts]
        tokenizer = self._model.tokenizer
        with self._one_at_a_time:
            if hasattr(tokenizer, "encode_batch"):
                return [len(one.ids) for one in tokenizer.encode_batch(given)]
            return [len(ids) for ids in tokenizer(given, truncation=False, verbose=False)["input_ids"]]

    def run(self, texts: Sequence[str], role: Role) -> Vectors:
        """Return the unit vectors (n, dimension) of one batch."""
        encode = self._model.encode_query if role == "query" else self._model.encode_document
        with self._one_at_a_time:
            found = encode(
                list(texts), batch_size=len(texts), normalize_embeddings=True, show_progress_bar=False
            )
        return np.asarray(found, np.float32)


_terminal = threading.RLock()


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep progress bars, warnings and logs of torch and transformers off the terminal."""
    with _terminal:  # the streams belong to the process: two threads would put them back in the wrong order
        level = logging.root.manager.disable
        logging.disable(logging.CRITICAL)
        try:
            with _nowhere():
                yield
        finally:
            logging.disable(level)


@contextlib.contextmanager
def _nowhere() -> Iterator[None]:
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield
