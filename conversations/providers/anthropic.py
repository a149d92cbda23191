"""Claude over the Messages API, by the official SDK."""

import asyncio
import email.utils
import math
import random
import re
import ssl
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import cache
from typing import Any, cast
from weakref import WeakKeyDictionary

import anthropic
import httpx2
from anthropic import AsyncAnthropic, AsyncStream, DefaultAsyncHttpxClient, Timeout

from conversations.providers import usable_key
from conversations.providers.base import Payload, Provider, ProviderError, ProviderEvent, UsageSoFar
from conversations.providers.claude import default_model
from conversations.providers.deadline import LONGEST_WAIT_SECONDS, Deadline, reported
from conversations.providers.endpoints import Endpoint, EndpointReader, anthropic_from_settings
from conversations.providers.errors import StreamError, code_for_status, code_for_type, provider_error
from conversations.providers.message_stream import MessageAccumulator, Progress, ToolCalls, called_ids

BACKOFF_SECONDS = (0.4, 1.2)
"""Before the second and the third attempt, give or take a half."""
DRAIN_SECONDS = 0.5

FAILURES = (anthropic.AnthropicError, httpx2.HTTPError, httpx2.InvalidURL, ValueError, StreamError)
"""All that a call can raise; the SDK wraps some of it only, and broken JSON or UTF-8 is a ValueError."""
TOO_LARGE = re.compile(
    r"prompt is too long|exceeds? (?:the )?context (?:limit|window)|too many (?:total )?tokens", re.IGNORECASE
)
"""How the API says it, with the type of any other request that it can't take."""
SPENT = "enforced_spend_limit_reached"

ClientPool = dict[tuple[str, ...], AsyncGenerator[AsyncAnthropic]]


class AnthropicProvider(Provider):
    name = "anthropic"
    default_model = staticmethod(default_model)

    def __init__(self, endpoint: EndpointReader = anthropic_from_settings) -> None:
        self._endpoint = endpoint
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, ClientPool] = WeakKeyDictionary()

    def obstacle(self) -> ProviderError | None:
        return None if usable_key(self._endpoint().key) else provider_error("authentication")

    async def stream(self, payload: Payload, *, seconds: float = math.inf) -> AsyncGenerator[ProviderEvent]:
        deadline, endpoint = Deadline(seconds), self._endpoint()
        for backoff in (*BACKOFF_SECONDS, None):
            try:
                async with aclosing(self._attempt(endpoint, payload, deadline)) as events:
                    async for event in events:
                        yield event
                        deadline.hears(event)  # the time that the reader took is not the model's
                return
            except TimeoutError:
                raise reported(deadline.error(), attempt_failed="deadline") from None
            except FAILURES as failure:
                error = reported(describe(failure, secret=endpoint.key), type(failure).__name__)
                wait = pause(error, failure, backoff)
                if deadline.content_seen or wait is None or wait >= deadline.seconds_left():
                    # Without the cause: it holds what the service said, which may repeat the key.
                    raise error from None
            await asyncio.sleep(wait)

    async def _attempt(self, endpoint: Endpoint, payload: Payload, deadline: Deadline) -> AsyncGenerator[ProviderEvent]:
        client = await self._client(endpoint)
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

    async def _client(self, endpoint: Endpoint) -> AsyncAnthropic:
        """The client of the running event loop, made at first use: its connections belong to one loop."""
        if not usable_key(endpoint.key):
            raise provider_error("authentication")
        pool = self._clients.setdefault(asyncio.get_running_loop(), {})
        if endpoint.cache_key not in pool:
            pool[endpoint.cache_key] = open_client(endpoint)
        return await anext(pool[endpoint.cache_key])

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        for client in self._clients.pop(asyncio.get_running_loop(), {}).values():
            await client.aclose()


async def open_client(endpoint: Endpoint) -> AsyncGenerator[AsyncAnthropic]:
    """Yields one client for ever. A generator, because an event loop closes its generators when it ends."""
    client = AsyncAnthropic(
        api_key=endpoint.key,
        base_url=endpoint.base_url or None,
        default_headers=endpoint.headers,
        max_retries=0,
        timeout=Timeout(
            None, connect=endpoint.connect_seconds
        ),  # reading is watched by content, as pings defeat a read timeout
        open_telemetry=False,
        http_client=DefaultAsyncHttpxClient(verify=trusted(), proxy=endpoint.proxy or None),
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


def describe(failure: Exception, *, secret: str) -> ProviderError:
    """The failure as a person can read it. ``secret`` never appears, even where the service repeats it."""
    match failure:
        case StreamError():
            return provider_error(failure.code, detail=failure.detail, secret=secret)
        case anthropic.APIStatusError():
            return provider_error(
                code_of(failure),
                detail=failure.api_message,
                secret=secret,
                status=failure.status_code,
                retry_after=requested_wait(failure),
            )
        case anthropic.APIConnectionError() | httpx2.InvalidURL():
            return provider_error("unreachable")
        case httpx2.HTTPError():
            return provider_error("cut_off")
        case UnicodeEncodeError():  # a lone surrogate in the request
            return provider_error("invalid_request")
        case _:
            return provider_error("bad_stream")


def code_of(failure: anthropic.APIStatusError) -> str:
    code = code_for_type(failure.type) or code_for_status(failure.status_code)
    if code == "rate_limited" and failure.error_code == SPENT:
        return "spending_limit"
    if code == "invalid_request" and TOO_LARGE.search(failure.api_message or ""):
        return "request_too_large"
    return code


def requested_wait(failure: Exception) -> float | None:
    """The seconds that the service asks to wait for, where it does."""
    headers: Mapping[str, str] = failure.response.headers if isinstance(failure, anthropic.APIStatusError) else {}
    said, milliseconds = headers.get("retry-after", ""), headers.get("retry-after-ms", "")
    try:
        seconds = float(milliseconds) / 1000 if milliseconds else float(said)
    except ValueError:
        date = email.utils.parsedate_tz(said)
        seconds = email.utils.mktime_tz(date) - time.time() if date else math.nan
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def may_be_repeated(failure: Exception) -> bool:
    """What the service itself says of trying again, where it says anything."""
    headers: Mapping[str, str] = failure.response.headers if isinstance(failure, anthropic.APIStatusError) else {}
    return headers.get("x-should-retry") != "false"
