import threading

import numpy as np
import pytest
from quaere.tools.embed import open_encoder
from quaere.tools.errors import EncoderError
from quaere.tools.export import REFUSED, exported
from quaere.tools.onnx_model import GRAPH, MANIFEST, OnnxModel, read_manifest
from tiny_model import build_static_model, build_tiny_model

TEXTS = ["a short text.", "error-4042", "the parcel waits in hall 7. " * 3]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return build_tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("QUAERE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_an_export_is_made_once(model):
    target = exported(model)
    made = (target / GRAPH).stat().st_mtime_ns
    assert exported(model) == target
    assert (target / GRAPH).stat().st_mtime_ns == made
    assert [path.name for path in target.parent.iterdir()] == [target.name]


def test_an_export_carries_prompts_and_bounds(model):
    manifest = read_manifest(exported(model))
    assert (manifest.dimension, manifest.max_tokens) == (32, 128)
    assert manifest.prompts == {"query": "query: ", "document": "passage: "}


def test_exporting_is_silent(model, capfd):
    exported(model)
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_exports_at_once_leave_one_whole_export(model, cache):
    found = []
    threads = [threading.Thread(target=lambda: found.append(exported(model))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert read_manifest(found[0]) is not None
    assert [path.name for path in (cache / "encoders").iterdir()] == [found[0].name]


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / GRAPH).write_bytes(b""),
        lambda folder: (folder / GRAPH).unlink(),
        lambda folder: (folder / MANIFEST).write_text("{"),
        lambda folder: (folder / MANIFEST).write_text('{"inputs": ["x"]}'),
    ],
    ids=["cut", "gone", "no json", "foreign"],
)
def test_a_damaged_export_is_made_again(model, damage):
    target = exported(model)
    damage(target)
    assert exported(model) == target
    assert OnnxModel(target, 1).run(TEXTS, "document").shape == (3, 32)


def test_an_export_with_rotten_bytes_is_made_again_when_it_is_opened(model):
    graph = exported(model) / GRAPH
    graph.write_bytes(b"\xff" * graph.stat().st_size)
    encoder = open_encoder(str(model), threads=1)
    assert encoder.encode_documents(TEXTS).shape == (3, 32)
    assert graph.read_bytes()[:1] != b"\xff"


def test_a_model_without_a_transformer_runs_in_sentence_transformers(tmp_path):
    folder = build_static_model(tmp_path)
    assert exported(folder) is None
    encoder = open_encoder(str(folder), threads=1)
    vectors = encoder.encode_documents(TEXTS)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-5)
    assert encoder.encode_query(TEXTS[0]) == pytest.approx(vectors[0], abs=1e-5)


def test_an_export_that_differs_from_the_original_is_refused_for_good(tmp_path, cache):
    folder = build_tiny_model(tmp_path, include_prompt=False)
    assert exported(folder) is None
    (reason,) = (cache / "encoders").glob(f"*/{REFUSED}")
    assert "cosine" in reason.read_text()
    assert exported(folder) is None


def test_a_cache_that_cannot_be_written_changes_speed_but_no_vector(model, tmp_path, monkeypatch):
    fast = open_encoder(str(model), threads=1)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("QUAERE_CACHE", str(tmp_path / "file" / "cache"))
    slow = open_encoder(str(model), threads=1)
    assert slow.fingerprint == fast.fingerprint
    assert slow.encode_documents(TEXTS) == pytest.approx(fast.encode_documents(TEXTS), abs=1e-5)
    assert slow.count_tokens(TEXTS) == fast.count_tokens(TEXTS)


@pytest.mark.parametrize("content", [b"", b"no weights at all", b"\x00" * 200])
def test_a_model_that_cannot_be_loaded_is_refused_in_one_sentence(tmp_path, model, content, cache):
    broken = tmp_path / "broken"
    broken.mkdir()
    for path in model.glob("*.json"):
        (broken / path.name).write_bytes(path.read_bytes())
    (broken / "model.safetensors").write_bytes(content)
    with pytest.raises(EncoderError, match=r"is no sentence-transformers model .*; choose another") as caught:
        open_encoder(str(broken))
    assert "\n" not in str(caught.value)
    assert not list((cache / "encoders").iterdir())
