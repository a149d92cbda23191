"""Claude over the Messages API, by the official SDK."""

import asyncio
import math
import random
import ssl
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import cache
from typing import Any, cast
from weakref import WeakKeyDictionary

import httpx2
from anthropic import AsyncAnthropic, AsyncStream, DefaultAsyncHttpxClient, Timeout
from django.conf import settings

from conversations.providers import usable_key
from conversations.providers.anthropic_calls import ToolCalls, called_ids
from conversations.providers.anthropic_errors import FAILURES, describe, may_be_repeated
from conversations.providers.base import Payload, Provider, ProviderError, ProviderEvent, UsageSoFar
from conversations.providers.claude import LONGEST_WAIT_SECONDS, Deadline, default_model, reported
from conversations.providers.errors import provider_error
from conversations.providers.message_stream import MessageAccumulator, Progress

BACKOFF_SECONDS = (0.4, 1.2)
"""Before the second and the third attempt, give or take a half."""
DRAIN_SECONDS = 0.5

ClientPool = dict[tuple[str, str], AsyncGenerator[AsyncAnthropic]]


class AnthropicProvider(Provider):
    name = "anthropic"
    default_model = staticmethod(default_model)

    def __init__(self) -> None:
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, ClientPool] = WeakKeyDictionary()

    def obstacle(self) -> ProviderError | None:
        return None if usable_key(settings.ANTHROPIC_API_KEY) else provider_error("authentication")

    async def stream(self, payload: Payload, *, seconds: float = math.inf) -> AsyncGenerator[ProviderEvent]:
        deadline = Deadline(seconds)
        for backoff in (*BACKOFF_SECONDS, None):
            try:
                async with aclosing(self._attempt(payload, deadline)) as events:
                    async for event in events:
                        yield event
                        deadline.hears(event)  # the time that the reader took is not the model's
                return
            except TimeoutError:
                raise reported(deadline.error(), attempt_failed="deadline") from None
            except FAILURES as failure:
                error = reported(describe(failure, secret=settings.ANTHROPIC_API_KEY), type(failure).__name__)
                wait = pause(error, failure, backoff)
                if deadline.content_seen or wait is None or wait >= deadline.seconds_left():
                    # Without the cause: it holds what the service said, which may repeat the key.
                    raise error from None
            await asyncio.sleep(wait)

    async def _attempt(self, payload: Payload, deadline: Deadline) -> AsyncGenerator[ProviderEvent]:
        client = await self._client()
        async with asyncio.timeout(deadline.seconds_left()):
            stream = cast("AsyncStream[Any]", await client.messages.create(**payload))
        async with stream:
            reading = MessageAccumulator(calls=ToolCalls(called_ids(payload["messages"])))
            request_id = stream.response.headers.get("request-id", "")
            # The raw events, because the SDK's own reader takes a stream that was cut off for a whole one.
            raw_events = cast("AsyncGenerator[Any]", AsyncStream.raw_events(stream.response))
            async with aclosing(raw_events) as events:
                while not reading.complete:
                    async with asyncio.timeout(deadline.seconds_left()):
                        event = await anext(events, None)
                    if event is None:
                        break
                    deadline.lives()
                    for heard in reading.take(event.json() if event.data else {}):
                        deadline.hears(heard)
                        match heard:
                            case UsageSoFar():
                                yield replace(heard, request_id=request_id)
                            case Progress():
                                pass
                            case _:
                                yield heard
                # Read to the end, so that the connection can be used again. The reply is complete either way.
                with suppress(TimeoutError, *FAILURES):
                    async with asyncio.timeout(DRAIN_SECONDS):
                        async for _ in events:
                            pass
            yield reading.finished(request_id)

    async def _client(self) -> AsyncAnthropic:
        """The client of the running event loop, made at first use: its connections belong to one loop."""
        key, base_url = settings.ANTHROPIC_API_KEY, settings.ANTHROPIC_BASE_URL
        if not usable_key(key):
            raise provider_error("authentication")
        pool = self._clients.setdefault(asyncio.get_running_loop(), {})
        if (key, base_url) not in pool:
            pool[key, base_url] = open_client(key, base_url)
        return await anext(pool[key, base_url])

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        for client in self._clients.pop(asyncio.get_running_loop(), {}).values():
            await client.aclose()


async def open_client(key: str, base_url: str) -> AsyncGenerator[AsyncAnthropic]:
    """Yields one client for ever. A generator, because an event loop closes its generators when it ends."""
    client = AsyncAnthropic(
        api_key=key,
        base_url=base_url or None,
        max_retries=0,
        timeout=Timeout(None, connect=5.0),  # reading is watched by content, as pings defeat a read timeout
        open_telemetry=False,
        http_client=DefaultAsyncHttpxClient(verify=trusted()),
    )
    try:
        while True:
            yield client
    finally:
        await client.close()


@cache
def trusted() -> ssl.SSLContext:
    """The certificates of this machine. To read them takes most of what a client does, and each event loop has one."""
    return httpx2.create_ssl_context()


def pause(error: ProviderError, failure: Exception, backoff: float | None) -> float | None:
    """Seconds until the next attempt, or None where another one is not worth it."""
    if backoff is None or not error.retryable or not may_be_repeated(failure):
        return None
    if error.retry_after is None:
        return backoff * random.uniform(0.5, 1.5)  # noqa: S311 – spreads the load, guards nothing
    return error.retry_after if error.retry_after <= LONGEST_WAIT_SECONDS else None
