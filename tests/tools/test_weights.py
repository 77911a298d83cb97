import json
import shutil
import subprocess
import sys

import pytest
from quaere.tools import weights
from quaere.tools.errors import EncoderError


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("QUAERE_CACHE", str(folder))
    weights._remembered_hash.cache_clear()
    return folder


@pytest.fixture
def model(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "modules.json").write_text("[]")
    (folder / "tokenizer.json").write_text("{}")
    return folder


def test_the_default_weights_are_found_without_importing_their_package():
    code = (
        "import sys; from quaere.tools.weights import PACKAGE, find_weights;"
        "print(find_weights(None), PACKAGE in sys.modules)"
    )
    found, imported = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert imported == "False"
    assert (weights.find_weights(None) / "model.safetensors").samefile(f"{found}/model.safetensors")


def test_the_default_weights_are_the_published_ones(cache):
    assert weights.weights_hash(weights.find_weights(None)) == weights.DEFAULT_HASH


def test_altered_default_weights_are_refused_in_one_sentence(cache, model, monkeypatch, tmp_path):
    shutil.copytree(model, tmp_path / "site" / weights.PACKAGE / "model")
    (tmp_path / "site" / weights.PACKAGE / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path / "site")
    with pytest.raises(EncoderError, match="not the published all-MiniLM-L6-v2; reinstall") as caught:
        weights.find_weights(None)
    assert "\n" not in str(caught.value)


def test_without_the_package_there_are_no_weights(monkeypatch):
    monkeypatch.setattr(weights, "PACKAGE", "no_such_package_is_installed")
    assert weights.find_weights(None) is None


def test_the_default_model_is_found_by_its_name():
    assert weights.find_weights("all-MiniLM-L6-v2") == weights.find_weights(None)


@pytest.mark.parametrize("name", ["nobody/no-such-model", "./no/such/folder", "a/b/c", "", "no such name"])
def test_a_model_that_is_not_here_is_refused_with_the_way_out(name):
    with pytest.raises(EncoderError, match=r"neither a folder nor a model .* download it yourself or unset"):
        weights.find_weights(name)


def test_a_name_resolves_when_it_is_in_the_hub_cache(monkeypatch, tmp_path, model):
    home = tmp_path / "hub" / "models--tiny--model"
    shutil.copytree(model, home / "snapshots" / ("0" * 40))
    (home / "refs").mkdir()
    (home / "refs" / "main").write_text("0" * 40)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    assert (weights.find_weights("tiny/model") / "modules.json").is_file()


def test_a_folder_without_weights_is_refused(tmp_path):
    with pytest.raises(
        EncoderError, match=r"holds no weights .*; give the folder of a sentence-transformers"
    ):
        weights.weights_hash(tmp_path)


def test_a_hash_is_taken_once_for_each_state_of_a_file(cache, model):
    first = weights.weights_hash(model)
    memory = cache / "hashes.json"
    known = json.loads(memory.read_text())
    entry = known[str(model / "model.safetensors")]
    entry[-1] = "remembered"
    memory.write_text(json.dumps(known))
    weights._remembered_hash.cache_clear()
    assert weights.weights_hash(model) == "remembered"
    (model / "model.safetensors").write_bytes(b"WEIGHTS")
    assert weights.weights_hash(model) not in (first, "remembered")


@pytest.mark.parametrize("content", ["", "[1]", '{"', "\udcff"])
def test_a_damaged_memory_of_hashes_is_made_anew(cache, model, content):
    cache.mkdir()
    (cache / "hashes.json").write_text(content, errors="surrogateescape")
    assert len(weights.weights_hash(model)) == 64
    assert len(json.loads((cache / "hashes.json").read_text())) == 1


def test_hashes_need_no_writable_cache(tmp_path, model, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("QUAERE_CACHE", str(tmp_path / "file" / "cache"))
    assert len(weights.weights_hash(model)) == 64


def test_identity_follows_weights_tokenizer_and_configuration(cache, model):
    seen = {weights.identity(model)}
    for name, content in [("tokenizer.json", "[]"), ("modules.json", "{}"), ("model.safetensors", "other")]:
        (model / name).write_text(content)
        seen.add(weights.identity(model))
    assert len(seen) == 4


def test_identity_does_not_depend_on_the_place_or_other_files(cache, model, tmp_path):
    before = weights.identity(model)
    moved = shutil.copytree(model, tmp_path / "moved")
    (moved / "README.md").write_text("read me")
    assert weights.identity(moved) == before
