"""What a service says it offers, remembered for minutes: it is asked before a request is built, never while that is done."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from conversations.providers.base import ProviderError
from conversations.providers.endpoints import Endpoint
from conversations.providers.errors import provider_error
from conversations.providers.model_listing import OfferedModel, can_chat

FRESH_SECONDS = 600.0
AGAIN_SECONDS = 60.0
"""How long a service that could not tell is not asked again."""

NO_MODEL = ProviderError(
    "misconfigured",
    "The model's service names no model. Whoever runs this Openbook can set OPENBOOK_MODEL.",
    retryable=False,
)


@dataclass(frozen=True, kw_only=True)
class Listing:
    """``error`` is why it could not tell the last time; then ``models`` are those that it told before."""

    models: Sequence[OfferedModel] = ()
    error: ProviderError | None = None
    until: float


class ListedModels:
    """``ask`` raises ``ProviderError``. For any number of threads and event loops; within a loop nobody asks twice."""

    def __init__(self, ask: Callable[[], Awaitable[list[OfferedModel]]]) -> None:
        self._ask = ask
        self._kept: dict[tuple[str, ...], Listing] = {}
        self._asking: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

    def is_due(self, endpoint: Endpoint) -> bool:
        kept = self._kept.get(endpoint.cache_key)
        return kept is None or time.monotonic() >= kept.until

    async def learn(self, endpoint: Endpoint) -> None:
        """Ask the service, unless that was done lately. Raises nothing: what went wrong is told by ``first``."""
        async with self._asking.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            if not self.is_due(endpoint):
                return
            key, known = endpoint.cache_key, self._kept.get(endpoint.cache_key)
            try:
                self._kept[key] = Listing(models=await self._ask(), until=time.monotonic() + FRESH_SECONDS)
            except ProviderError as error:
                models = known.models if known else ()
                self._kept[key] = Listing(models=models, error=error, until=time.monotonic() + AGAIN_SECONDS)

    def first(self, endpoint: Endpoint) -> str:
        """The id of the first model that one can talk to. Raises ``ProviderError``."""
        kept = self._kept.get(endpoint.cache_key)
        if kept is None:
            raise provider_error("models_unknown")
        if not kept.models:
            raise again(kept.error or NO_MODEL)
        ids = [model.id for model in kept.models]
        return next(filter(can_chat, ids), ids[0])

    def find(self, endpoint: Endpoint, id: str) -> OfferedModel | None:
        kept = self._kept.get(endpoint.cache_key)
        return next((model for model in kept.models if model.id == id), None) if kept else None

    def forget(self, endpoint: Endpoint) -> None:
        """The service may offer others now."""
        self._kept.pop(endpoint.cache_key, None)


def again(error: ProviderError) -> ProviderError:
    """Anew for each that is told of it: an exception belongs to one thread."""
    return ProviderError(error.code, error.message, retryable=error.retryable, status=error.status)
