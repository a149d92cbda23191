"""Claude over the Messages API, by the official SDK."""

import asyncio
import json
import logging
import random
import ssl
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast
from weakref import WeakKeyDictionary

import httpx2
from anthropic import AsyncAnthropic, AsyncStream, DefaultAsyncHttpxClient, Timeout
from django.conf import settings

from conversations.providers import usable_key
from conversations.providers.anthropic_calls import ToolCalls, called_ids
from conversations.providers.anthropic_errors import (
    FAILURES,
    StreamError,
    code_for_type,
    describe,
    provider_error,
    requested_wait,
)
from conversations.providers.base import (
    Finished,
    Payload,
    ProviderError,
    ProviderEvent,
    TextDelta,
    Usage,
    messages_api_payload,
)
from conversations.text import clean, clean_deep

DEFAULT_MODEL = "claude-sonnet-5-5"
SMALL_MODEL = "claude-haiku-5-5"
BACKOFF_SECONDS = (0.4, 1.2)
"""Before the second and the third attempt, give or take a half."""
# The smallest prefix that the prompt cache takes, in tokens, by what a model's name begins with; the most telling first.
CACHEABLE_FROM = {
    "claude-3": 2_048,
    "claude-haiku-3": 2_048,
    "claude-haiku-4": 4_096,
    "claude-opus-4-1": 1_024,
    "claude-opus-4-2": 1_024,
    "claude-opus-4": 4_096,
    "claude-sonnet-4-6": 2_048,
}
CACHEABLE_FROM_ELSE = 1_024
LONGEST_WAIT_SECONDS = 10.0
DRAIN_SECONDS = 0.5
MESSAGE_ID_CHARS = 100
DIAGNOSTICS_CHARS = 4_000

logger = logging.getLogger("openbook.providers")

ClientPool = dict[tuple[str, str], AsyncGenerator[AsyncAnthropic]]


class Progress:
    """Content that is not text or a call of ours, such as thinking: the model is at work."""


Heard = ProviderEvent | Progress


@dataclass
class Reading:
    """What the stream has said so far."""

    stop_reason: str | None = None
    usage: dict[str, int] = field(default_factory=dict)
    begun: bool = False
    complete: bool = False
    message_id: str = ""
    model: str = ""
    diagnostics: dict[str, Any] | None = None
    calls: ToolCalls = field(default_factory=ToolCalls)

    def take(self, event: object) -> Sequence[Heard]:
        """Note one event of the stream; kinds that are not known are passed over, as the API asks of its clients."""
        match event:
            case {"type": "message_start", "message": dict(message)}:
                self.begun = True
                self.note_usage(message.get("usage"))
                self.message_id = clean(str(message.get("id") or ""))[:MESSAGE_ID_CHARS]
                self.model = clean(str(message.get("model") or ""))[:MESSAGE_ID_CHARS]
                self.note_diagnostics(message.get("diagnostics"))
            case {"type": "content_block_start" | "content_block_delta"}:
                return self.take_content(event)
            case {"type": "content_block_stop", "index": int(index)}:
                return self.calls.stop(index)
            case {"type": "message_delta", "delta": dict(delta), **rest}:
                self.stop_reason = delta.get("stop_reason") or self.stop_reason
                self.note_usage(rest.get("usage"))
                self.note_diagnostics(rest.get("diagnostics"))
            case {"type": "message_stop"}:
                self.complete = True
            case {"type": "error", "error": {"type": error_type, "message": str(message)}}:
                raise StreamError(code_for_type(error_type) or "server_error", message)
            case {"type": "error"}:
                raise StreamError("server_error")
            case dict():
                pass
            case _:
                raise StreamError("bad_stream")
        return ()

    def take_content(self, event: object) -> Sequence[Heard]:
        match event:
            case {"content_block": {"type": "text", "text": str(text)}} | {
                "delta": {"type": "text_delta", "text": str(text)}
            }:
                return [TextDelta(text=text)] if text else []
            case {"index": int(index), "content_block": {"type": "tool_use"} as block}:
                return self.calls.start(index, block, self.message_id)
            case {"index": int(index), "delta": {"type": "input_json_delta", "partial_json": str(piece)}} if (
                index in self.calls.open
            ):
                return self.calls.write(index, piece)
            case {"content_block": dict()}:
                return [Progress()]
            case {"delta": dict(delta)}:
                return [Progress()] if any(value for key, value in delta.items() if key != "type") else []
        return ()

    def note_usage(self, usage: object) -> None:
        """Later figures replace earlier ones: the API's are cumulative."""
        if isinstance(usage, dict):
            known = Usage.__dataclass_fields__
            self.usage |= {name: n for name, n in usage.items() if name in known and isinstance(n, int)}

    def note_diagnostics(self, said: object) -> None:
        """Shown to staff as it came, so only what can be stored and is short enough to read."""
        if isinstance(said, dict) and said and len(json.dumps(said)) <= DIAGNOSTICS_CHARS:
            self.diagnostics = clean_deep(said)

    def finished(self, request_id: str) -> Finished:
        if not self.begun:
            raise StreamError("bad_stream")
        if not (self.complete and isinstance(self.stop_reason, str)) or self.calls.open:
            raise StreamError("cut_off")
        return Finished(
            stop_reason=self.stop_reason,
            usage=Usage(**self.usage),
            request_id=request_id,
            message_id=self.message_id,
            model=self.model,
            diagnostics=self.diagnostics,
        )


class Deadline:
    """The moment at which a call is given up, and the code that says why."""

    def __init__(self) -> None:
        self.ends = time.monotonic() + settings.OPENBOOK_REPLY_SECONDS
        self.next_content = time.monotonic() + settings.OPENBOOK_FIRST_TOKEN_SECONDS
        self.content_seen = False

    def moved_on(self) -> None:
        self.content_seen = True
        self.next_content = time.monotonic() + settings.OPENBOOK_STALL_SECONDS

    def seconds_left(self) -> float:
        return min(self.ends, self.next_content) - time.monotonic()

    def error(self) -> ProviderError:
        return provider_error("stalled" if self.content_seen and self.next_content < self.ends else "timeout")


class AnthropicProvider:
    name = "anthropic"
    rewrites = True
    calls_tools = True
    render = staticmethod(messages_api_payload)

    def __init__(self) -> None:
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, ClientPool] = WeakKeyDictionary()

    def default_model(self) -> str:
        return settings.OPENBOOK_MODEL or DEFAULT_MODEL

    def small_model(self) -> str:
        return SMALL_MODEL

    def cacheable_from(self, model: str) -> int | None:
        known = (tokens for name, tokens in CACHEABLE_FROM.items() if model.startswith(name))
        return next(known, CACHEABLE_FROM_ELSE)

    async def stream(self, payload: Payload) -> AsyncGenerator[ProviderEvent]:
        deadline = Deadline()
        for backoff in (*BACKOFF_SECONDS, None):
            try:
                async with aclosing(self._attempt(payload, deadline)) as events:
                    async for event in events:
                        yield event
                        deadline.moved_on()  # the time that the reader took is not the model's
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
            reading = Reading(calls=ToolCalls(called_ids(payload["messages"])))
            # The raw events, because the SDK's own reader takes a stream that was cut off for a whole one.
            raw_events = cast("AsyncGenerator[Any]", AsyncStream.raw_events(stream.response))
            async with aclosing(raw_events) as events:
                while not reading.complete:
                    async with asyncio.timeout(deadline.seconds_left()):
                        event = await anext(events, None)
                    if event is None:
                        break
                    for heard in reading.take(event.json() if event.data else {}):
                        if isinstance(heard, Progress):
                            deadline.moved_on()
                        else:
                            deadline.content_seen = True
                            yield heard
                # Read to the end, so that the connection can be used again. The reply is complete either way.
                with suppress(TimeoutError, *FAILURES):
                    async with asyncio.timeout(DRAIN_SECONDS):
                        async for _ in events:
                            pass
            yield reading.finished(stream.response.headers.get("request-id", ""))

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
    if backoff is None or not error.retryable:
        return None
    wait = requested_wait(failure)
    if wait is None:
        return backoff * random.uniform(0.5, 1.5)  # noqa: S311 – spreads the load, guards nothing
    return wait if wait <= LONGEST_WAIT_SECONDS else None


def reported(error: ProviderError, attempt_failed: str) -> ProviderError:
    fields = {"code": error.code, "status": error.status, "retryable": error.retryable, "failure": attempt_failed}
    logger.warning("model_request_failed", extra=fields)
    return error
