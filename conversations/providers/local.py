"""A model on this machine: llama.cpp's server as a child of ours, over the Messages API that it speaks."""

import asyncio
import math
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

from anthropic import AsyncAnthropic, Timeout
from django.conf import settings

from conversations.providers.anthropic import AnthropicProvider, Client
from conversations.providers.base import Payload, ProviderError, ProviderEvent
from conversations.providers.endpoints import Endpoint
from conversations.providers.errors import provider_error
from conversations.providers.http_client import open_http_client
from conversations.providers.local_model import PROVIDER, obstacle_to_start, served_model
from conversations.runtime import local_engine

START_SECONDS = 30.0
"""How long a reply waits for an engine that is being started."""
LOOK_SECONDS = 0.1


class LocalProvider(AnthropicProvider):
    rewrites = False  # a minute of all cores for a note that is mostly wrong: rules make better ones
    takes_formats = False  # the engine passes over what it says of them
    marks_cache = False  # the engine keeps what it has read by itself
    cache_expires = False
    has_one_model = True
    # On a slow machine it reads a long context for minutes, without a sign. If it ends, so does the connection.
    first_token_seconds = math.inf

    def __init__(self) -> None:
        super().__init__(endpoint, name=PROVIDER)

    def _open_client(self, endpoint: Endpoint) -> AsyncAnthropic:
        """Past any proxy of the environment: what is said to a model on this machine leaves it for nowhere."""
        return AsyncAnthropic(
            api_key=endpoint.key,
            base_url=endpoint.base_url,
            default_headers=endpoint.headers,
            max_retries=0,
            timeout=Timeout(None, connect=endpoint.connect_seconds),
            open_telemetry=False,
            http_client=open_http_client(endpoint, trust_env=False),
        )

    @property
    def proposes(self) -> bool:  # type: ignore[override]  # an attribute of the other providers
        return bool(settings.OPENBOOK_LOCAL_NOTES)

    def default_model(self) -> str:
        return served_model()

    def obstacle(self) -> ProviderError | None:
        if obstacle := obstacle_to_start():
            return obstacle
        return None if local_engine.find(settings.LOCAL_DIR) else provider_error("local_model_away")

    async def _count(self, client: Client, model: str, text: str) -> object:
        """Of the text alone: its count of a message adds a system prompt of its own."""
        return await client.post("/tokenize", cast_to=object, body={"content": text})

    def _writes_calls_in_silence(self, endpoint: Endpoint) -> bool:
        return False

    async def stream(self, payload: Payload, *, seconds: float = math.inf) -> AsyncGenerator[ProviderEvent]:
        began = time.monotonic()
        await self._started(min(seconds, START_SECONDS))
        async with aclosing(super().stream(payload, seconds=seconds - (time.monotonic() - began))) as events:
            async for event in events:
                yield event

    async def _started(self, seconds: float) -> None:
        """Wait for an engine that starts, or starts again. Raises ``ProviderError``."""
        until = time.monotonic() + seconds
        while obstacle := self.obstacle():
            if not obstacle.retryable or time.monotonic() >= until:
                raise obstacle
            await asyncio.sleep(LOOK_SECONDS)


def endpoint() -> Endpoint:
    """Of the engine as it runs now: another one has another port and another key. Raises ``ProviderError``."""
    address = local_engine.find(settings.LOCAL_DIR)
    if address is None:
        raise provider_error("local_model_away")
    # The SDK would send a token of the operator's environment, if there is one, in this header's place.
    return Endpoint(base_url=address.url, key=address.key, headers={"Authorization": f"Bearer {address.key}"})
