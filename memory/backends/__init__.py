"""Memory services, chosen by name. PostgreSQL holds the truth; another one says which facts bear most on a session."""

from functools import cache

from django.conf import settings
from django.utils.module_loading import import_string

from memory.backends.base import Backend

# By dotted name, because importing the SDK takes time that only those who use it should spend.
BACKENDS = {
    "postgres": "memory.backends.postgres.PostgresBackend",
    "supermemory": "memory.backends.supermemory.SupermemoryBackend",
}


def get_backend() -> Backend:
    """The one that the settings name; it may be used from any event loop."""
    return _load_backend(settings.OPENBOOK_MEMORY_BACKEND)


@cache
def _load_backend(name: str) -> Backend:
    backend: Backend = import_string(BACKENDS[name])()
    return backend


__all__ = ["BACKENDS", "Backend", "get_backend"]
