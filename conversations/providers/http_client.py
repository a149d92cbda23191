"""How the SDKs reach a service: never on to where it redirects, and into inner networks only where that is allowed.

An address is judged as it is resolved for the connection itself, and the connection then goes to that address: a name that
resolves otherwise a moment later leads nowhere else.
"""

import asyncio
import socket
import ssl
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore2
import httpx2
from httpcore2 import AnyIOBackend, AsyncNetworkBackend, AsyncNetworkStream

from conversations.providers.endpoints import Endpoint
from conversations.providers.errors import provider_error
from conversations.providers.inner_networks import Network, is_allowed, written_address

SocketOption = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]

KEEPALIVE: list[SocketOption] = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in (("TCP_KEEPINTVL", 60), ("TCP_KEEPCNT", 5), ("TCP_KEEPIDLE", 60))
        if hasattr(socket, name)
    ),
]
"""As the SDKs set them: a model may think for minutes without a word."""


class InnerAddressRefused(httpcore2.ConnectError):
    """The address lies in an inner network that is not open to connections of staff."""


def client_options(endpoint: Endpoint) -> dict[str, Any]:
    """What an SDK's ``DefaultAsyncHttpxClient`` is made with. Raises ``ProviderError`` where the address is refused."""
    options: dict[str, Any] = {"verify": trusted(), "follow_redirects": False}
    if endpoint.networks is None and not endpoint.proxy:
        return options
    return options | {"transport": transport(endpoint)}


def transport(endpoint: Endpoint) -> httpx2.AsyncHTTPTransport:
    """The way to the service of a connection. What the environment names as proxy is the operator's own and not judged."""
    environment = "" if endpoint.proxy else environment_proxy(endpoint.base_url)
    proxy = endpoint.proxy or environment
    made = httpx2.AsyncHTTPTransport(verify=trusted(), proxy=proxy or None, socket_options=KEEPALIVE)
    if endpoint.networks is not None:
        if proxy:
            check_written(endpoint.base_url, endpoint.networks)  # the proxy looks names up
        if not environment:
            made._pool._network_backend = GuardedBackend(endpoint.networks)
    return made


def environment_proxy(url: str) -> str:
    """The proxy that the environment names for an address; empty where there is none."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host and proxy_bypass(host):
        return ""
    proxies = getproxies()
    return proxies.get(parts.scheme or "https") or proxies.get("all", "")


def check_written(url: str, networks: Sequence[Network]) -> None:
    """Raises ``ProviderError`` where an address names an inner one without being looked up."""
    address = written_address(urlsplit(url).hostname or "")
    if address is not None and not is_allowed(address, networks):
        raise provider_error("inner_network")


class GuardedBackend(AsyncNetworkBackend):
    """Connects to public addresses, and to inner ones of these networks."""

    def __init__(self, networks: Sequence[Network]) -> None:
        self._networks = networks
        self._backend = AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 – so it is called
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> AsyncNetworkStream:
        addresses = await self._allowed_addresses(host, port, timeout)
        failure: httpcore2.NetworkError | httpcore2.TimeoutException | None = None
        for address in addresses:
            try:
                return await self._backend.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure or httpcore2.ConnectError(f"{host} has no address")

    async def _allowed_addresses(self, host: str, port: int, seconds: float | None) -> list[str]:
        """All of the host. One that is refused refuses them all."""
        try:
            async with asyncio.timeout(seconds):
                found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout from error
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError from error
        addresses = list(dict.fromkeys(str(place[0]) for *_, place in found))
        if not all(is_allowed(ip_address(address), self._networks) for address in addresses):
            raise InnerAddressRefused
        return addresses

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109
        socket_options: Iterable[SocketOption] | None = None,
    ) -> AsyncNetworkStream:
        raise InnerAddressRefused

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


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
            case httpcore2.ProxyError():
                return "proxy"
            case httpcore2.ConnectTimeout():
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
