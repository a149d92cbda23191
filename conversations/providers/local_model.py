"""Which model there is on this machine, and what keeps it from being started. Imports no SDK: that takes seconds."""

import re
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from conversations.providers.base import ProviderError
from conversations.providers.errors import provider_error
from conversations.runtime import local_engine
from conversations.runtime.gguf import ModelHeader, NotGguf, read_header

PROVIDER = "local"
SMALL_MODEL = "smollm2-135m-instruct"
"""The row of the model that `make local` brings."""
MAX_NAME_CHARS = 80


def served_model() -> str:
    """The id of the engine's one model: of the operator's own, the file's name."""
    chosen = local_engine.weights(settings.OPENBOOK_LOCAL_MODEL) if settings.OPENBOOK_LOCAL_MODEL else None
    if chosen is None:
        return SMALL_MODEL
    return re.sub(r"[^a-z0-9._-]+", "-", chosen.stem.lower())[:MAX_NAME_CHARS]


def header_of(path: Path) -> ModelHeader:
    """Kept until the file changes: each reply asks. Raises ``NotGguf``."""
    try:
        state = path.stat()
    except OSError as error:
        raise NotGguf(f"{path} can't be read: {error.strerror}") from error
    return _read(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _read(path: Path, changed_ns: int, size: int) -> ModelHeader:
    return read_header(path)


def obstacle_to_start() -> ProviderError | None:
    """What keeps the engine from being started, as far as that can be told without starting it."""
    path = local_engine.weights(settings.OPENBOOK_LOCAL_MODEL)
    if not local_engine.is_installed() or path is None:
        return provider_error("local_model_missing")
    try:
        header_of(path)
    except NotGguf as error:
        return provider_error("local_model_unreadable", detail=f"{error}.")
    return None
