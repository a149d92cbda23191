"""The model that a service names first, asked for once: whoever asks holds a thread of the database, so nobody waits twice."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from conversations.providers.base import ProviderError
from conversations.providers.endpoints import Endpoint

AGAIN_SECONDS = 5.0
"""How long a service that could not tell is not asked again."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    error: ProviderError
    until: float

    def again(self) -> ProviderError:
        """Anew for each that is told of it: an exception belongs to one thread."""
        error = self.error
        return ProviderError(error.code, error.message, retryable=error.retryable, status=error.status)


class FirstListed:
    """``ask`` may take seconds, and raises ``ProviderError``."""

    def __init__(self, ask: Callable[[Endpoint], str]) -> None:
        self._ask = ask
        self._names: dict[tuple[str, ...], str] = {}
        self._failures: dict[tuple[str, ...], Failure] = {}
        self._asking = threading.Lock()

    def get(self, endpoint: Endpoint) -> str:
        """Raises ``ProviderError``. While another thread asks once more after a failure, that failure is told."""
        key = endpoint.cache_key
        failure = self._failures.get(key)
        if key not in self._names and failure and time.monotonic() < failure.until:
            raise failure.again()
        if key not in self._names:
            if not self._asking.acquire(blocking=failure is None):
                assert failure
                raise failure.again()
            try:
                self._learn(endpoint)
            finally:
                self._asking.release()
        if key in self._names:
            return self._names[key]
        raise self._failures[key].again()

    def forget(self, endpoint: Endpoint) -> None:
        """The service may name another one now."""
        self._names.pop(endpoint.cache_key, None)

    def _learn(self, endpoint: Endpoint) -> None:
        """Unless another thread did, or tried in vain, meanwhile."""
        key = endpoint.cache_key
        failure = self._failures.get(key)
        if key in self._names or (failure and time.monotonic() < failure.until):
            return
        try:
            self._names[key] = self._ask(endpoint)
            self._failures.pop(key, None)
        except ProviderError as error:
            self._failures[key] = Failure(error=error, until=time.monotonic() + AGAIN_SECONDS)
