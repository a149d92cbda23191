"""Calls of sign-in providers: bounded in time, size and number, without a connection of the database meanwhile."""

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self

import httpx2
import requests
from django.conf import settings
from django.db import connection

from conversations.providers.inner_networks import Network

SECONDS = 8.0
"""For a whole call, however slowly it answers."""
CONNECT_SECONDS = 4.0
MOST_BYTES = 2**20
AT_ONCE = 8
"""Calls that a process waits for. Each holds a thread, and a provider that hangs is not to take them all."""
FRESH_SECONDS = 300
RARELY_SECONDS = 10
_places = threading.BoundedSemaphore(AT_ONCE)
_documents: dict[str, tuple[float, dict[str, Any]]] = {}
_networks: ContextVar[Sequence[Network] | None] = ContextVar("networks", default=None)


class ProviderAway(requests.RequestException):
    """The provider does not answer, or answers what can't be read. What was begun can be begun again."""


@contextmanager
def calls_for(*, is_row: bool) -> Iterator[None]:
    """What a row of the admin names may not lead into inner networks that the operator did not open; what the operator's own
    file names may lead anywhere."""
    token = _networks.set(settings.OPENBOOK_INNER_NETWORKS if is_row else None)
    try:
        yield
    finally:
        _networks.reset(token)


class ProviderSession:
    """What allauth takes for a session of ``requests``."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def get(self, url: str, headers: Mapping[str, str] | None = None) -> "ProviderResponse":
        return self.request("GET", url, headers=headers)

    def request(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, Any] | None = None,
        data: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        auth: Any = None,
    ) -> "ProviderResponse":
        """Raises ``ProviderAway``."""
        credentials = (auth.username, auth.password) if auth else None
        if not connection.in_atomic_block:
            connection.close()  # back to the pool, as others may need it while the provider is waited for
        if not _places.acquire(timeout=CONNECT_SECONDS):
            raise ProviderAway("too many calls wait for answers")
        try:
            return asyncio.run(_call(method, url, params=params, data=data, headers=headers, auth=credentials))
        finally:
            _places.release()


class ProviderResponse:
    """As much of a response of ``requests`` as allauth reads."""

    def __init__(self, status_code: int, headers: Mapping[str, str], content: bytes) -> None:
        self.status_code, self.headers, self.content = status_code, headers, content

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")

    def raise_for_status(self) -> None:
        if self.status_code >= 300:
            raise ProviderAway(f"the provider answered {self.status_code}")

    def json(self) -> dict[str, Any]:
        try:
            document = httpx2.Response(200, content=self.content).json()
        except ValueError as error:
            raise ProviderAway("the provider's answer is no JSON") from error
        if not isinstance(document, dict):
            raise ProviderAway("the provider's answer is no object")
        return document


def document(url: str, *, is_renewed: bool = False) -> dict[str, Any]:
    """A public document of a provider, such as its keys, kept for some minutes. ``is_renewed``: not the one that is kept,
    unless it has just come. Raises ``ProviderAway``."""
    fetched_at, kept = _documents.get(url, (0.0, {}))
    if kept and time.monotonic() - fetched_at < (RARELY_SECONDS if is_renewed else FRESH_SECONDS):
        return kept
    with ProviderSession() as session:
        response = session.get(url)
    response.raise_for_status()
    fetched = response.json()
    _documents[url] = (time.monotonic(), fetched)
    return fetched


async def _call(method: str, url: str, **values: Any) -> ProviderResponse:
    from conversations.providers.http_client import environment_proxy, open_client  # noqa: PLC0415  (slow)

    networks, proxy = _networks.get(), environment_proxy(url)
    try:
        async with (
            asyncio.timeout(SECONDS),
            open_client(networks, connect_seconds=CONNECT_SECONDS, proxy=proxy, trust_proxy=bool(proxy)) as client,
            client.stream(method, url, **values) as response,
        ):
            content = b""
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > MOST_BYTES:
                    raise ProviderAway("the provider's answer is too long")
            return ProviderResponse(response.status_code, response.headers, content)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, TimeoutError, ValueError) as error:
        raise ProviderAway(f"{type(error).__name__}") from error
