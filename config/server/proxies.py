"""Who is at the other end, behind proxies: worked out once, before anything else sees a request or a socket.

A header can be written by anybody. So it is read from its end, where the nearest proxy wrote, and only as far as the proxies
that the operator trusts.
"""

import logging
import re
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from itertools import zip_longest
from typing import Any

from django.core.exceptions import ImproperlyConfigured

log = logging.getLogger("openbook.proxies")

Address = IPv4Address | IPv6Address
Scope = MutableMapping[str, Any]
Headers = Sequence[tuple[bytes, bytes]]
Application = Callable[[Scope, Any, Any], Awaitable[None]]

FORWARDED = (b"forwarded", b"x-forwarded-for", b"x-forwarded-proto", b"x-forwarded-host", b"x-forwarded-port")
PASSED_ON = (*FORWARDED, b"via", b"x-real-ip")
"""What a proxy writes."""
DIRECT = "openbook.direct"
"""In a scope: what ``is_direct`` says, which is known only before the client is placed."""
SCHEMES = {"http": ("http", "ws"), "https": ("https", "wss")}
"""As HTTP and as WebSocket call it."""

WORD = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
PAIR = rf'(?P<name>{WORD})=(?P<value>{WORD}|"(?:[^"\\]|\\.)*")'
PART = re.compile(rf"[ \t]*(?:{PAIR}[ \t]*)?(?P<separator>[,;]|\Z)")
MOST_HOPS = 20
"""From the end; a header may have thousands."""
PORT = re.compile(r":([0-9]{1,5}|_[0-9A-Za-z._-]+)")


@dataclass(frozen=True, kw_only=True)
class Trust:
    """In whom: proxies of these networks, at most so many in a row; of any network where none is named. Nobody by default."""

    networks: tuple[IPv4Network | IPv6Network, ...] = ()
    hops: int = 0

    def __bool__(self) -> bool:
        return bool(self.networks or self.hops)

    def includes(self, address: Address | None, depth: int) -> bool:
        """Whether this is a proxy that says the truth, behind ``depth`` others that do."""
        if not self or (self.hops and depth >= self.hops):
            return False
        return not self.networks or any(address in network for network in self.networks if address)


@dataclass(frozen=True, kw_only=True)
class ClientOrigin:
    """Where a request came from, as one proxy says or as is worked out. An ``address`` that can't be read, or is hidden, is
    ``None``; ``scheme`` and ``host`` are empty where no proxy tells them."""

    address: Address | None = None
    scheme: str = ""
    host: str = ""


def trust(items: Sequence[str]) -> Trust:
    """From OPENBOOK_TRUSTED_PROXIES: networks, addresses, a number of proxies."""
    numbers = [int(item) for item in items if item.isascii() and item.isdecimal()]
    networks = []
    for item in items:
        if item.isascii() and item.isdecimal():
            continue
        try:
            networks.append(ip_network(item, strict=False))
        except ValueError as error:
            hint = "write networks such as 10.0.0.0/8, or how many proxies there are, separated by commas"
            raise ImproperlyConfigured(f"OPENBOOK_TRUSTED_PROXIES holds {item!r}: {hint}.") from error
    if len(numbers) > 1:
        raise ImproperlyConfigured(
            "OPENBOOK_TRUSTED_PROXIES holds several numbers: write one, of all proxies in a row."
        )
    return Trust(networks=tuple(networks), hops=sum(numbers))


def behind(trusted: Trust, application: Application) -> Application:
    """The ASGI application, which meets clients instead of the trusted proxies that they came by."""
    has_warned = False

    async def served(scope: Scope, receive: Any, send: Any) -> None:
        nonlocal has_warned
        if scope["type"] in {"http", "websocket"}:
            scope[DIRECT] = is_direct(scope)
            if trusted:
                place_client(scope, trusted)
            elif not has_warned and any(name in FORWARDED[:2] for name, _ in scope["headers"]):
                has_warned = True
                log.warning(
                    "a proxy forwards addresses and is not believed: all who come by it count as one; "
                    "set OPENBOOK_TRUSTED_PROXIES if it is yours",
                    extra={"proxy": peer_of(scope)},
                )
        await application(scope, receive, send)

    return served


def is_direct(scope: Scope) -> bool:
    """Whether this comes from a program on this machine, and by no proxy that says that it is one."""
    peer = parse_address(peer_of(scope))
    return peer is not None and peer.is_loopback and not any(name in PASSED_ON for name, _ in scope["headers"])


def place_client(scope: Scope, trusted: Trust) -> None:
    """Write what is known of the client into the scope, and take out what anybody may have claimed."""
    headers: Headers = scope["headers"]
    client = client_of(parse_address(peer_of(scope)), headers, trusted)
    scope["headers"] = kept = [header for header in headers if header[0] not in FORWARDED]
    if client.address:
        scope["client"] = (str(client.address), 0)
    if client.scheme:
        scope["scheme"] = SCHEMES[client.scheme][scope["type"] == "websocket"]
    if client.host:
        scope["headers"] = [
            *(header for header in kept if header[0] != b"host"),
            (b"host", client.host.encode("latin-1")),
        ]


def peer_of(scope: Scope) -> str:
    """The other end of the connection; nothing for a local socket."""
    peer = scope.get("client")
    return str(peer[0]) if peer else ""


def client_of(peer: Address | None, headers: Headers, trusted: Trust) -> ClientOrigin:
    """Where headers of both kinds don't name the same address, a proxy wrote one and left the other as the client had sent
    it: neither is believed."""
    standard = _lines(headers, b"forwarded")
    others = [_lines(headers, name) for name in FORWARDED[1:4]]
    clients = [
        walked(peer, hops, trusted)
        for hops, lines in ((standard_hops(standard), standard), (other_hops(*others), "".join(others)))
        if lines
    ]
    if not clients or len({client.address for client in clients}) > 1:
        return ClientOrigin(address=peer)
    return clients[0]


def walked(peer: Address | None, hops: Sequence[ClientOrigin], trusted: Trust) -> ClientOrigin:
    """From the nearest proxy outwards, until somebody is not trusted or not known."""
    client = ClientOrigin(address=peer)
    for depth, hop in enumerate(reversed(hops)):
        if not trusted.includes(client.address, depth):
            break
        client = ClientOrigin(address=hop.address or client.address, scheme=hop.scheme, host=hop.host)
        if hop.address is None:
            break
    return client


def standard_hops(line: str) -> list[ClientOrigin]:
    """Of ``Forwarded`` (RFC 7239). None of it counts unless all of it can be read: a quote that a client leaves open could
    swallow what a proxy wrote behind it."""
    elements = _elements(line)
    return [ClientOrigin()] if elements is None else [_standard_hop(pairs) for pairs in elements[-MOST_HOPS:]]


def other_hops(addresses: str, schemes: str, hosts: str) -> list[ClientOrigin]:
    """Of ``X-Forwarded-For``, ``-Proto`` and ``-Host``, which are matched from their ends. One that has fewer items was written
    by the outermost proxy and handed on."""
    columns = [
        [item.strip() for item in line.split(",") if item.strip()][: -MOST_HOPS - 1 : -1]
        for line in (addresses, schemes, hosts)
    ]
    _, last_scheme, last_host = (column[-1] if column else "" for column in columns)
    rows = reversed(list(zip_longest(*columns)))
    return [
        ClientOrigin(
            address=parse_address(address or ""),
            scheme=_scheme(last_scheme if scheme is None else scheme),
            host=last_host if host is None else host,
        )
        for address, scheme, host in rows
    ]


def parse_address(text: str) -> Address | None:
    """An address without its port and zone, as ``192.0.2.1:80``, ``[2001:db8::1]:80`` or bare; ``None`` for anything else."""
    text = text.strip()
    if text.startswith("["):
        host, bracket, port = text[1:].partition("]")
        if not bracket or ":" not in host:
            return None
    elif text.count(":") == 1:
        host, port = text[: text.index(":")], text[text.index(":") :]
    else:
        host, port = text, ""
    if port and not PORT.fullmatch(port):
        return None
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _standard_hop(pairs: dict[str, str]) -> ClientOrigin:
    address, scheme = parse_address(pairs.get("for", "")), _scheme(pairs.get("proto", ""))
    return ClientOrigin(address=address, scheme=scheme, host=pairs.get("host", ""))


def _elements(line: str) -> list[dict[str, str]] | None:
    """Each with its pairs, by names in small letters; ``None`` where it isn't well-formed."""
    elements: list[dict[str, str]] = []
    pairs: dict[str, str] = {}
    position = 0
    while match := PART.match(line, position):
        name, value, separator = (match["name"] or "").lower(), match["value"], match["separator"]
        if name in pairs:
            return None
        if name:
            pairs[name] = re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value
        if separator != ";" and pairs:
            elements.append(pairs)
            pairs = {}
        if not separator:
            return elements
        position = match.end()
    return None


def _scheme(text: str) -> str:
    return text.lower() if text.lower() in SCHEMES else ""


def _lines(headers: Headers, name: bytes) -> str:
    """All headers of a name as one, which they mean."""
    return ",".join(value.decode("latin-1") for key, value in headers if key == name)
