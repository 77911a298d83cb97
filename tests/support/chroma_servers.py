"""Collections as other programs make them: in a folder, on a server, and from another process."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

WRITER = """
import json, sys
import chromadb
from chromadb.config import Settings
port, name, change = int(sys.argv[1]), sys.argv[2], json.load(sys.stdin)
client = chromadb.HttpClient("127.0.0.1", port, settings=Settings(anonymized_telemetry=False))
found = client.get_or_create_collection(name, embedding_function=None)
if change["delete"]:
    found.delete(ids=change["delete"])
if change["put"]:
    put = change["put"]
    found.upsert(ids=list(put), documents=[one[0] for one in put.values()], embeddings=[one[1] for one in put.values()])
"""


def write_folder(
    folder: Path, name: str, texts: Mapping[str, str | None], encoder: object, delete: list[str] | None = None
) -> None:
    """Put records into a collection of a folder, as a program with the same encoder would."""
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
    found = client.get_or_create_collection(name, embedding_function=None)
    if delete:
        found.delete(ids=delete)
    for some in (
        {id: text for id, text in texts.items() if (text is None) is empty} for empty in (False, True)
    ):
        if some:
            rows = np.array([encoder.encode_query(text or "nothing") for text in some.values()])
            documents = None if None in some.values() else list(some.values())
            found.upsert(ids=list(some), embeddings=rows, documents=documents)
    client.close()


def write_server(
    port: int, name: str, texts: Mapping[str, str], encoder: object, delete: tuple[str, ...] = ()
) -> None:
    """Put records into a collection of a server, and delete some, from a process of its own."""
    put = {id: (text, encoder.encode_query(text).tolist()) for id, text in texts.items()}
    run = [sys.executable, "-c", WRITER, str(port), name]
    subprocess.run(run, input=json.dumps({"put": put, "delete": list(delete)}), text=True, check=True)


@contextmanager
def chroma_server(folder: Path) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Run a real server on loopback; yield its port and process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(Path(sys.executable).with_name("chroma")), "run", "--path", str(folder)]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_until_up(port, process)
        yield port, process
    finally:
        process.kill()
        process.wait()


def _wait_until_up(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("the Chroma server did not come up")
