"""Build sentence-transformers folders small enough for a test: one layer, a vocabulary of letters."""

from __future__ import annotations

import string
from pathlib import Path

WIDTH = 32
BOUND = 128


def build_tiny_model(
    folder: Path, pooling: str = "mean", dense: bool = False, include_prompt: bool = True
) -> Path:
    """Write a one-layer Bert with prompts; its weights are the same in every run."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer

    torch.manual_seed(3)
    _write_bert(folder / "bert")
    modules = [
        Transformer(str(folder / "bert"), max_seq_length=BOUND),
        Pooling(WIDTH, pooling_mode=pooling, include_prompt=include_prompt),
    ]
    modules += [Dense(WIDTH, WIDTH // 2)] if dense else []
    model = SentenceTransformer(
        modules=[*modules, Normalize()], device="cpu", prompts={"query": "query: ", "document": "passage: "}
    )
    model.save(str(folder / "model"))
    return folder / "model"


def build_static_model(folder: Path) -> Path:
    """Write a model of word vectors without a transformer, which is not exported."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer

    torch.manual_seed(3)
    _write_bert(folder / "bert")
    tokenizer = Tokenizer.from_file(str(folder / "bert" / "tokenizer.json"))
    model = SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=WIDTH)], device="cpu")
    model.save(str(folder / "model"))
    return folder / "model"


def _write_bert(folder: Path) -> None:
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder.mkdir(parents=True)
    letters = string.ascii_lowercase + string.digits + ".:-"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    tokenizer = BertTokenizerFast(vocab_file=str(folder / "vocab.txt"), vocab=str(folder / "vocab.txt"))
    tokenizer.save_pretrained(str(folder))
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=WIDTH,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=BOUND,
        initializer_range=0.5,  # texts must differ clearly, or any vector would pass for any other
    )
    BertModel(config).eval().save_pretrained(str(folder))
