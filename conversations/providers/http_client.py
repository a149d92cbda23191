"""How the SDKs reach a service: never on to where it redirects, and into inner networks only where that is allowed.

An address is judged as it is resolved for the connection itself, and the connection then goes to that address: a name that
resolves otherwise a moment later leads nowhere else.
"""

import asyncio
import socket
import ssl
from collections.abc import Iterator, Sequence
from functools import cache
from ipaddress import ip_address
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

from conversations.providers.endpoints import Endpoint
from conversations.providers.errors import provider_error
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
    """What an SDK asks the service through. Raises ``ProviderError`` where the address is refused. ``trust_env`` says whether
    it goes through the proxies that the environment names.

    aiohttp parses answers in C and hands over all that has arrived at once, which takes half of the CPU that the SDKs'
    default transport does for a streamed answer; both SDKs name it as a choice.
    """
    environment = environment_proxy(endpoint.base_url) if trust_env and not endpoint.proxy else ""
    proxy = endpoint.proxy or environment
    if endpoint.networks is not None:
        # Written addresses are not looked up, and a proxy looks names up by itself.
        check_written(endpoint.base_url, endpoint.networks)
        check_written(endpoint.proxy, endpoint.networks)
    networks = None if environment else endpoint.networks
    transport = AiohttpTransport(
        verify=trusted(),
        proxy=httpx2.Proxy(proxy) if proxy else None,
        client=lambda: open_session(endpoint.connect_seconds, networks),
    )
    return httpx2.AsyncClient(transport=transport, follow_redirects=False)


def open_session(connect_seconds: float, networks: Sequence[Network] | None) -> ClientSession:
    """Connections of the running event loop. ``networks`` as in ``Endpoint``."""
    connector = TCPConnector(
        limit=0,  # what runs at once is limited by replies
        use_dns_cache=False,  # connections last, and where a service moved is seen at the next one
        ssl=trusted(),
        resolver=Resolver(connect_seconds, networks),
        socket_factory=open_socket,
    )
    return ClientSession(connector=connector, cookie_jar=DummyCookieJar())


def open_socket(address: AddrInfoType) -> socket.socket:
    family, kind, protocol, *_ = address
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
        networks = self._networks
        if networks is not None and not all(is_allowed(ip_address(result["host"]), networks) for result in results):
            raise InnerAddressRefused(f"{host} lies in an inner network")
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


def check_written(url: str, networks: Sequence[Network]) -> None:
    """Raises ``ProviderError`` where an address names an inner one without being looked up."""
    address = written_address(urlsplit(url).hostname or "")
    if address is not None and not is_allowed(address, networks):
        raise provider_error("inner_network")


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
