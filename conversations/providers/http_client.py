"""The one way out over HTTP, for SDKs and whatever else asks a service that somebody named: never on to where it redirects, and
into inner networks only where that is allowed.

What is judged is the address that a socket is opened for, just before it is connected: however it was written, and whatever a
name resolves to a moment later. What a proxy is asked for is judged as it is written, as it looks names up by itself.
"""

import asyncio
import socket
import ssl
from collections.abc import Iterator, Sequence
from functools import cache, partial
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
from aiohttp import (
    AddrInfoType,
    ClientHttpProxyError,
    ClientSession,
    ConnectionTimeoutError,
    DummyCookieJar,
    TCPConnector,
    ThreadedResolver,
)
from aiohttp.abc import AbstractResolver, ResolveResult
from httpx_aiohttp.httpx2 import AiohttpTransport
from yarl import URL

from conversations.providers.endpoints import Endpoint
from conversations.providers.inner_networks import Network, is_allowed, written_address

KEEPALIVE = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in (("TCP_KEEPINTVL", 60), ("TCP_KEEPCNT", 5), ("TCP_KEEPIDLE", 60))
        if hasattr(socket, name)
    ),
]
"""As the SDKs set them: a model may think for minutes without a word."""


class InnerAddressRefused(OSError):
    """The address lies in an inner network that is not open to connections of staff."""


def open_http_client(endpoint: Endpoint, *, trust_env: bool = True) -> httpx2.AsyncClient:
    """What an SDK asks the service through. ``trust_env`` says whether it goes through the proxies that the environment names.

    aiohttp parses answers in C and hands over all that has arrived at once, which takes half of the CPU that the SDKs'
    default transport does for a streamed answer; both SDKs name it as a choice.
    """
    environment = environment_proxy(endpoint.base_url) if trust_env and not endpoint.proxy else ""
    return open_client(
        endpoint.networks,
        connect_seconds=endpoint.connect_seconds,
        proxy=endpoint.proxy or environment,
        trust_proxy=bool(environment),
    )


def open_client(
    networks: Sequence[Network] | None, *, connect_seconds: float, proxy: str = "", trust_proxy: bool = False
) -> httpx2.AsyncClient:
    """For addresses that others than the operator wrote. ``networks`` are as in ``Endpoint``; a proxy that is trusted may lie
    in any. What is refused raises an ``httpx2.TransportError`` of which ``connection_code`` says "inner_network"."""
    transport = JudgingTransport(
        networks,
        verify=trusted(),
        proxy=httpx2.Proxy(proxy) if proxy else None,
        client=lambda: open_session(connect_seconds, None if trust_proxy else networks),
    )
    return httpx2.AsyncClient(transport=transport, follow_redirects=False, trust_env=False)


class JudgingTransport(AiohttpTransport):
    """Refuses what names an inner address without being looked up, and what is neither an address nor a name."""

    def __init__(self, networks: Sequence[Network] | None, **values: Any) -> None:
        super().__init__(**values)
        self._networks = networks

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if self._networks is not None:
            judge_written(URL(str(request.url)).raw_host or "", self._networks)  # as aiohttp reads it
        return await super().handle_async_request(request)


def open_session(connect_seconds: float, networks: Sequence[Network] | None) -> ClientSession:
    """Connections of the running event loop. ``networks`` as in ``Endpoint``."""
    connector = TCPConnector(
        limit=0,  # what runs at once is limited by replies
        use_dns_cache=False,  # connections last, and where a service moved is seen at the next one
        ssl=trusted(),
        resolver=Resolver(connect_seconds, networks),
        socket_factory=partial(open_socket, networks),
    )
    return ClientSession(connector=connector, cookie_jar=DummyCookieJar())


def open_socket(networks: Sequence[Network] | None, address: AddrInfoType) -> socket.socket:
    """For one connection to just this address. Raises ``InnerAddressRefused``."""
    family, kind, protocol, _, (host, *_) = address
    judge(str(host), networks)
    opened = socket.socket(family, kind, protocol)
    for option in KEEPALIVE:
        opened.setsockopt(*option)
    return opened


class Resolver(AbstractResolver):
    """Looks names up, within the time for a connection. One address that is refused refuses them all."""

    def __init__(self, seconds: float, networks: Sequence[Network] | None) -> None:
        self._seconds, self._networks = seconds, networks
        self._resolver = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        try:
            async with asyncio.timeout(self._seconds):
                results = await self._resolver.resolve(host, port, family)
        except TimeoutError as error:
            raise ConnectionTimeoutError(f"{host} was not resolved in time") from error
        for result in results:
            judge(result["host"], self._networks)
        return results

    async def close(self) -> None:
        await self._resolver.close()


def environment_proxy(url: str) -> str:
    """The proxy that the environment names for an address; empty where there is none."""
    try:
        parts = urlsplit(url)
    except ValueError:  # no address at all, which is told when it is asked
        return ""
    host = parts.hostname or ""
    if host and proxy_bypass(host):
        return ""
    proxies = getproxies()
    return proxies.get(parts.scheme or "https") or proxies.get("all", "")


def judge(host: str, networks: Sequence[Network] | None) -> None:
    """Raises ``InnerAddressRefused`` where an address is an inner one, or where this is no address."""
    try:
        allowed = networks is None or is_allowed(ip_address(host), networks)
    except ValueError:
        allowed = False
    if not allowed:
        raise InnerAddressRefused("the address lies in an inner network")


def judge_written(host: str, networks: Sequence[Network]) -> None:
    """Raises a ``TransportError`` where a host names an inner address without being looked up, or nothing at all."""
    try:
        address = written_address(host)
    except ValueError as error:
        raise httpx2.UnsupportedProtocol("this is no name of a host") from error
    if address is not None and not is_allowed(address, networks):
        raise httpx2.ConnectError("refused") from InnerAddressRefused("the address lies in an inner network")


def connection_code(failure: BaseException) -> str:
    """Why there was no connection, as a code of ``errors.toml``."""
    for cause in causes(failure):
        match cause:
            case InnerAddressRefused():
                return "inner_network"
            case socket.gaierror():
                return "name_not_found"
            case ssl.SSLCertVerificationError():
                return "certificate"
            case ClientHttpProxyError():
                return "proxy"
            case ConnectionTimeoutError():
                return "no_connection"
    return "unreachable"


def causes(failure: BaseException | None) -> Iterator[BaseException]:
    """It, what it came of, and so on."""
    while failure is not None:
        yield failure
        failure = failure.__cause__ or failure.__context__


@cache
def trusted() -> ssl.SSLContext:
    """The certificates of this machine. To read them takes most of what a client does, and each event loop has one."""
    return httpx2.create_ssl_context()
