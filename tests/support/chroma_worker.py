"""A process of its own that keeps Chroma in step, batch by batch, and says so: `DIR [new page]`."""

import sys
from pathlib import Path

from hashing_encoder import HashingEncoder
from quaere.tools import chroma
from quaere.tools.corpus import Corpus
from quaere.tools.sync import IndexSettings, sync_all


def say(*told: object) -> None:
    sys.stdout.write(" ".join(map(str, told)) + "\n")
    sys.stdout.flush()


def main(folder: Path, page: str) -> None:
    if page:
        (folder / "docs" / page).write_text(f"Page {page} of another process.\n")
    chroma.BATCH = 100
    corpus = Corpus.open(folder / ".quaere")
    encoder = HashingEncoder()
    sync_all(corpus, encoder, IndexSettings(passage_tokens=32))
    chroma.keep_chroma(corpus, encoder.fingerprint, say)
    say("kept")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")
