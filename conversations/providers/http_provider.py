"""What providers over HTTP share: a client for each event loop, the deadline, and further attempts before any content."""

import asyncio
import email.utils
import math
import random
import time
from abc import abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing, closing
from typing import Protocol
from weakref import WeakKeyDictionary

import httpx2
from aiohttp import ClientError

from conversations.providers import usable_key
from conversations.providers.base import Payload, Provider, ProviderError, ProviderEvent
from conversations.providers.circuit_breaker import CircuitBreaker
from conversations.providers.deadline import LONGEST_WAIT_SECONDS, Deadline, reported
from conversations.providers.endpoints import Endpoint, EndpointReader
from conversations.providers.errors import StreamError, provider_error
from conversations.providers.masking import mask_of
from conversations.providers.message_stream import Heard, Progress
from conversations.providers.model_listing import OfferedModel, parse_models

BACKOFF_SECONDS = (0.4, 1.2)
"""Before the second and the third attempt, give or take a half."""
COUNT_SECONDS = 30.0
"""How long a service may take to count the tokens of a text."""
HTTP_FAILURES = (httpx2.HTTPError, httpx2.InvalidURL, ClientError, ValueError, RecursionError, StreamError)
"""What a call can raise beside the errors of its SDK: broken JSON or UTF-8 is a ValueError, or too deep."""


class Client(Protocol):
    async def close(self) -> None: ...


class HttpProvider[C: Client](Provider):
    failures: tuple[type[Exception], ...]
    """All that an attempt can raise."""

    def __init__(self, endpoint: EndpointReader, *, name: str) -> None:
        self.name = name
        self.breaker = CircuitBreaker(name)
        self._endpoint = endpoint
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, ...], AsyncGenerator[C]]] = (
            WeakKeyDictionary()
        )

    def obstacle(self) -> ProviderError | None:
        return self.obstacle_at(self._endpoint())

    def obstacle_at(self, endpoint: Endpoint) -> ProviderError | None:
        """What keeps it from being asked there, as far as that can be told without asking."""
        return obstacle_of(endpoint)

    def wait(self, model: str = "") -> float:
        return self.breaker.wait(model)

    async def stream(self, payload: Payload, *, seconds: float = math.inf) -> AsyncGenerator[ProviderEvent]:
        endpoint = self._endpoint()
        silent_calls = bool(payload.get("tools")) and self._writes_calls_in_silence(endpoint)
        with closing(
            Deadline(seconds, first_token_seconds=self.first_token_seconds, silent_calls=silent_calls)
        ) as deadline:
            calls = self._attempts(endpoint, payload, deadline)
            mask = mask_of(endpoint.secrets)
            async with aclosing(self.breaker.guard(endpoint.cache_key, payload["model"], calls)) as events:
                async for event in events:
                    yield mask.event(event)

    async def _attempts(
        self, endpoint: Endpoint, payload: Payload, deadline: Deadline
    ) -> AsyncGenerator[ProviderEvent]:
        for backoff in (*BACKOFF_SECONDS, None):
            try:
                async with aclosing(self._attempt(endpoint, payload, deadline)) as events:
                    async for event in events:
                        if isinstance(event, Progress):
                            continue
                        yield event
                        deadline.hears(event)  # the time that the reader took is not the model's
                return
            except TimeoutError:
                raise reported(deadline.error(), attempt_failed="deadline") from None
            except self.failures as failure:
                error = reported(self._describe(failure, endpoint), type(failure).__name__)
                wait = pause(error, self._headers(failure), backoff)
                if deadline.content_seen or wait is None or wait >= deadline.seconds_left():
                    # Without the cause: it holds what the service said, which may repeat the key.
                    raise error from None
            await asyncio.sleep(wait)

    async def models(self, *, seconds: float = math.inf) -> list[OfferedModel]:
        async def listed(client: C) -> list[OfferedModel]:
            # Read as it comes: an SDK takes whatever it is given for a page of models.
            return parse_models(await self._list_models(client))

        mask = mask_of(self._endpoint().secrets)
        return [mask.model(model) for model in await self._asked(listed, seconds)]

    async def count_tokens(self, model: str, text: str) -> int:
        """As ``token_counter`` says, where it has one."""

        async def counted(client: C) -> int:
            return parse_count(await self._count(client, model, text))

        return await self._asked(counted, COUNT_SECONDS)

    async def _asked[T](self, ask: Callable[[C], Awaitable[T]], seconds: float) -> T:
        """What one call beside the replies gives, which is not tried again. Raises ``ProviderError``."""
        endpoint = self._endpoint()
        try:
            async with asyncio.timeout(seconds):
                return await ask(await self._client(endpoint))
        except TimeoutError:
            raise reported(provider_error("timeout"), attempt_failed="deadline") from None
        except self.failures as failure:
            raise reported(self._describe(failure, endpoint), type(failure).__name__) from None

    @abstractmethod
    def _attempt(self, endpoint: Endpoint, payload: Payload, deadline: Deadline) -> AsyncGenerator[Heard]:
        """One call. Raises ``TimeoutError`` at the deadline, and one of ``failures``."""

    def _writes_calls_in_silence(self, endpoint: Endpoint) -> bool:
        """Whether a call of a tool may come all at once, after as long a silence as it takes to write it."""
        return True

    @abstractmethod
    def _open_client(self, endpoint: Endpoint) -> C:
        """Neither tries again nor follows redirects by itself."""

    @abstractmethod
    async def _list_models(self, client: C) -> object:
        """The answer of ``GET /v1/models``, as it comes. Raises one of ``failures``."""

    async def _count(self, client: C, model: str, text: str) -> object:
        """The service's answer to how many tokens a text has, as it comes. Raises one of ``failures``."""
        raise NotImplementedError

    @abstractmethod
    def _headers(self, failure: Exception) -> Mapping[str, str]:
        """Those of the answer that failed; empty where there was none."""

    def _describe(self, failure: Exception, endpoint: Endpoint) -> ProviderError:
        """The failure as a person can read it. Secrets never appear, even where the service repeats them."""
        match failure:
            case StreamError():
                return provider_error(
                    failure.code,
                    detail=failure.detail,
                    secrets=endpoint.secrets,
                    key_name=endpoint.key_name,
                    status=failure.status,
                )
            case httpx2.InvalidURL():
                return provider_error("unreachable")
            case httpx2.HTTPError() | ClientError():
                return provider_error("cut_off")
            case UnicodeEncodeError():  # a lone surrogate in the request
                return provider_error("invalid_request")
        return provider_error("bad_stream")

    async def _client(self, endpoint: Endpoint) -> C:
        """The client of the running event loop, made at first use: its connections belong to one loop."""
        if obstacle := self.obstacle_at(endpoint):
            raise obstacle
        pool = self._clients.setdefault(asyncio.get_running_loop(), {})
        if endpoint.cache_key not in pool:
            pool[endpoint.cache_key] = lasting(self._open_client(endpoint))
        return await anext(pool[endpoint.cache_key])

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        for client in self._clients.pop(asyncio.get_running_loop(), {}).values():
            await client.aclose()


async def lasting[C: Client](client: C) -> AsyncGenerator[C]:
    """Yields one client for ever. A generator, because an event loop closes its generators when it ends."""
    try:
        while True:
            yield client
    finally:
        await client.close()


def parse_count(body: object) -> int:
    """Tokens, as the Messages API, vLLM and llama.cpp say them. Raises ``ValueError`` where this is no such answer."""
    match body:
        case {"input_tokens": int(count)} | {"count": int(count)} if count >= 0:
            return count
        case {"tokens": list(tokens)}:
            return len(tokens)
    raise ValueError("not a count of tokens")


def obstacle_of(endpoint: Endpoint) -> ProviderError | None:
    if endpoint.problem:
        return endpoint.problem
    is_fine = usable_key(endpoint.key) or not (endpoint.key or endpoint.needs_key)
    return None if is_fine else provider_error("authentication", key_name=endpoint.key_name)


def pause(error: ProviderError, headers: Mapping[str, str], backoff: float | None) -> float | None:
    """Seconds until the next attempt, or None where another one is not worth it, also by the service's own word."""
    if backoff is None or not error.retryable or headers.get("x-should-retry") == "false":
        return None
    if error.retry_after is None:
        return backoff * random.uniform(0.5, 1.5)  # noqa: S311 – spreads the load, guards nothing
    return error.retry_after if error.retry_after <= LONGEST_WAIT_SECONDS else None


def requested_wait(headers: Mapping[str, str]) -> float | None:
    """The seconds that the service asks to wait for, where it does."""
    said, milliseconds = headers.get("retry-after", ""), headers.get("retry-after-ms", "")
    try:
        seconds = float(milliseconds) / 1000 if milliseconds else float(said)
    except ValueError:
        date = email.utils.parsedate_tz(said)
        seconds = email.utils.mktime_tz(date) - time.time() if date else math.nan
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
