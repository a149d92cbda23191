"""The one way out over HTTP: which sockets it opens, for every spelling of an inner address, and that no other is opened."""

import ast
import asyncio
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import partial
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import Any

import aiohttp
import httpx2
import pytest
from django.conf import settings
from django.core.exceptions import ValidationError

from conversations.providers.http_client import connection_code, open_client, open_session
from conversations.providers.inner_networks import is_allowed
from conversations.staff.connection_addresses import clean_address, clean_proxy
from tests.other_services import elsewhere

INNER = (
    *("127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "0.0.0.0", "169.254.169.254"),  # noqa: S104
    *("168.63.129.16", "100.100.100.200", "192.0.0.192", "::1", "fd00:ec2::254", "fec0::1", "fe80::1"),
)
ROOT = Path(settings.BASE_DIR)


def digits(text: str, zero: str, one: str) -> str:
    """With other characters for its digits, which follow one another from ``one`` on."""
    return "".join(
        (chr(ord(one) + int(char) - 1) if char != "0" else zero) if char.isdigit() else char for char in text
    )


def spellings(address: str) -> Iterator[str]:
    """Hosts of a URL that a client, or a resolver, takes for this address."""
    match ip_address(address):
        case IPv4Address() as inner:
            yield from spellings_of_four(inner)
        case IPv6Address() as inner:
            hosts = (
                inner.compressed,
                inner.exploded,
                inner.exploded.upper(),
                f"{inner}%25lo",
                f"{inner}%lo",
                f"{inner}%1",
            )
            yield from (f"[{host}]" for host in hosts)


def spellings_of_four(inner: IPv4Address) -> Iterator[str]:
    text, number, parts = str(inner), int(inner), inner.packed
    last_two, last_three = number & 0xFFFF, number & 0xFFFFFF
    yield from (text, f"{text}.", f"{text}\u3002", f"8.8.8.8@{text}", f"8.8.8.8:80@{text}", f"8.8.8.8\\@{text}")
    yield from (text.replace(".", dot) for dot in ("\u3002", "\uff0e", "\uff61"))
    yield digits(text, "\uff10", "\uff11")  # full width
    yield digits(text, "\uff10", "\uff11").replace(".", "\uff0e")
    yield digits(text, "\u24ea", "\u2460")  # in circles
    yield digits(text, "\U0001d7ce", "\U0001d7cf")  # of mathematics
    yield from (str(number), hex(number), hex(number).upper(), f"0{number:o}", f"0x{number:016x}")
    yield ".".join(map(hex, parts))
    yield ".".join(f"0{part:o}" for part in parts)
    yield f"{parts[0]}.{parts[1]}.{last_two}"
    yield f"{parts[0]}.{last_three}"
    yield f"0x{parts[0]:x}.{last_three}"
    yield "".join(f"%{ord(char):02x}" for char in text)
    yield text.replace(".", "%2e")
    yield text.replace(".", "%E3%80%82")
    words = f"{number >> 16:x}:{last_two:x}"
    held = ("::ffff:{}", "::ffff:0:{}", "64:ff9b::{}", "64:ff9b:1::{}", "::{}", "fe80::5efe:{}")
    yield from (f"[{form.format(tail)}]" for form in held for tail in (text, words))
    yield f"[::FFFF:{words.upper()}]"
    yield f"[::ffff:{text}%25lo]"
    yield f"[2002:{words}::]"


connected: list[Any] | None = None


def note_connections(event: str, values: tuple[Any, ...]) -> None:
    if event == "socket.connect" and connected is not None:
        connected.append(values[1])


sys.addaudithook(note_connections)  # there is no way to take one back


@contextmanager
def connections_made() -> Iterator[list[Any]]:
    """The addresses that this process connects to meanwhile, as the interpreter itself says them."""
    global connected
    connected = []
    try:
        yield connected
    finally:
        connected = None


REFUSALS = (httpx2.TransportError, httpx2.InvalidURL, aiohttp.ClientError, ValueError)


async def fetch(url: str, *, proxy: str = "", networks: tuple[Any, ...] = ()) -> int:
    async with open_client(networks, connect_seconds=0.3, proxy=proxy) as client:
        return (await client.get(url)).status_code


async def fetch_without_a_look_at_the_text(url: str) -> int:
    async with open_session(0.3, ()) as session, session.get(url) as response:
        return response.status


def accepted(attempts: Mapping[str, Callable[[], Awaitable[int]]]) -> dict[str, int]:
    """Of these, what was not refused."""

    async def all_tried() -> dict[str, int]:
        answers = {}
        for name, attempt in attempts.items():
            with suppress(*REFUSALS):
                answers[name] = await attempt()
        return answers

    return asyncio.run(all_tried())


@pytest.mark.parametrize("inner", INNER)
def test_no_spelling_of_an_inner_address_is_connected_to(inner: str) -> None:
    hosts = list(dict.fromkeys(spellings(inner)))
    attempts: dict[str, Callable[[], Awaitable[int]]] = {}
    for host in hosts:
        attempts[f"written {host}"] = partial(fetch, f"http://{host}:81/v1")
        attempts[f"unread {host}"] = partial(fetch_without_a_look_at_the_text, f"http://{host}/")
        if "@" not in host:
            attempts[f"proxy {host}"] = partial(fetch, "http://models.example/", proxy=f"http://{host}:3128")
    with connections_made() as connected:
        assert accepted(attempts) == {}
    assert connected == []


@pytest.mark.parametrize("inner", INNER)
def test_no_spelling_of_an_inner_address_is_stored(inner: str) -> None:
    for host in spellings(inner):
        for clean in (lambda url: clean_address(url, "openai"), clean_proxy):
            with pytest.raises(ValidationError):
                clean(f"http://{host}:81")


def test_no_spelling_of_an_inner_address_is_asked_of_a_proxy() -> None:
    """It would look up by itself what it is asked for, so what can be judged is what is written."""
    opened = (ip_network("127.0.0.1"),)
    with elsewhere({"*": (200, {}, "{}")}) as proxy:
        hosts = [host for inner in INNER if inner != "127.0.0.1" for host in spellings(inner)]
        assert (
            accepted({host: partial(fetch, f"http://{host}/", proxy=proxy.url, networks=opened) for host in hosts})
            == {}
        )
        assert proxy.requests == []
        assert asyncio.run(fetch("http://models.example/", proxy=proxy.url, networks=opened)) == 200


@pytest.mark.parametrize("answers", [("127.0.0.1",), ("192.31.196.1", "127.0.0.1"), ("::ffff:0:127.0.0.1", "fec0::1")])
def test_a_name_is_judged_by_what_the_socket_is_opened_for(
    monkeypatch: pytest.MonkeyPatch, answers: tuple[str]
) -> None:
    """Also where it changes between two look-ups, and where one of its addresses is an inner one."""
    left = list(answers)

    def getaddrinfo(host: str, port: int, *_: Any, **__: Any) -> list[tuple[Any, ...]]:
        address = left.pop(0) if len(left) > 1 else left[0]
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [(family, socket.SOCK_STREAM, 6, "", (address, port, 0, 0)[: 4 if ":" in address else 2])]

    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        port = listening.getsockname()[1]
        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
        with connections_made() as connected:
            for _ in answers:
                with pytest.raises(httpx2.TransportError) as raised:
                    asyncio.run(fetch(f"http://hook.example:{port}/"))
        assert connection_code(raised.value) == "inner_network"
        assert all(is_allowed(ip_address(host), ()) for host, *_ in connected)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_handed_back(status: int) -> None:
    with elsewhere({"*": (200, {}, "{}")}) as inner:
        with elsewhere({"*": (status, {"location": inner.url}, "")}) as service:
            assert asyncio.run(fetch(service.url, networks=(ip_network("127.0.0.0/8"),))) == status
        assert inner.requests == []


# Nothing goes around it

CONNECTING = (
    *("aiohttp", "boto3", "botocore", "ftplib", "google", "grpc", "httpcore", "httpx", "httpx2", "imaplib"),
    *("nntplib", "paramiko", "poplib", "pycurl", "requests", "sentry_sdk", "smtplib", "socketserver", "storages"),
    *(
        "supermemory",
        "telnetlib",
        "urllib.request",
        "urllib3",
        "websocket",
        "websockets",
        "xmlrpc",
        "redis",
        "httpx_aiohttp",
    ),
    "opentelemetry.exporter",
)
"""Modules by which a program can connect to something, but for PostgreSQL's."""
ROOTS = {name.partition(".")[0] for name in CONNECTING}
JUDGED = "conversations/providers/http_client.py"
IMPORTED_BESIDE = {
    "config/doctor/services.py: smtplib",  # for the names of its errors
    "config/observability/open_telemetry.py: opentelemetry.exporter",  # where OTEL_EXPORTER_OTLP_ENDPOINT leads
    "config/observability/sentry.py: sentry_sdk",  # where SENTRY_DSN leads
    "conversations/accounts/mailing.py: smtplib",  # for the types of its errors
    "conversations/audit/http_destination.py: httpx2",  # for the types of its errors
    "conversations/accounts/provider_http.py: httpx2",  # for the types of an answer and of its errors
    "conversations/accounts/provider_http.py: requests",  # for the errors that allauth knows
    "conversations/mcp_client/client.py: httpx2",  # for the types of an answer and of its errors
    "conversations/mcp_client/oauth.py: httpx2",  # the same
    "conversations/tools/page_reading.py: aiohttp",  # for the names of its errors
    "conversations/tools/page_reading.py: httpx2",  # for the types of an answer and of its errors
    "conversations/tools/search_web.py: httpx2",  # the same
    "conversations/webhooks/attempts.py: aiohttp",  # for the names of its errors
    "conversations/webhooks/attempts.py: httpx2",  # the same
    "conversations/moderation/checks.py: httpx2",  # for the types of an answer and of its errors
    "conversations/providers/http_provider.py: aiohttp",  # for the names of its errors
    "conversations/providers/http_provider.py: httpx2",  # the same
    "conversations/providers/anthropic.py: httpx2",  # for the type of an answer, as the next three
    "conversations/providers/cloud_providers.py: httpx2",
    "conversations/providers/event_stream.py: httpx2",
    "conversations/providers/openai.py: httpx2",  # for the type of an answer
    "conversations/runtime/redis_client.py: redis",  # where REDIS_URL leads
    "memory/backends/supermemory.py: supermemory",  # where SUPERMEMORY_BASE_URL leads
}
OPENED_BESIDE = {
    "config/management/commands/serve.py: socket",  # looks whether its own port is free
    "conversations/audit/syslog_destination.py: create_connection",  # where OPENBOOK_AUDIT_SYSLOG leads
    "conversations/runtime/redis_client.py: from_url",
    "memory/backends/supermemory.py: AsyncSupermemory",
}
"""What the operator's own settings name alone is not judged: whoever may set them may reach the inner network anyway. Besides,
by Django's settings and not by a line of ours: mail, and the storage of files where it is S3."""
OPENERS = {
    *(
        "ClientSession",
        "TCPConnector",
        "AsyncHTTPTransport",
        "HTTPTransport",
        "urlopen",
        "build_opener",
        "HTTPConnection",
    ),
    *(
        "HTTPSConnection",
        "create_connection",
        "open_connection",
        "sock_connect",
        "connect_ex",
        "create_datagram_endpoint",
    ),
    *("open_unix_connection", "AsyncClient", "Httpx2AiohttpClient", "AiohttpTransport", "create_unix_connection"),
    *("socket", "Redis", "from_url", "AsyncSupermemory"),
}
"""Calls that open a connection, or what will."""
SDK_CLIENTS = {"AsyncAnthropic", "AsyncAnthropicBedrock", "AsyncAnthropicVertex", "AsyncOpenAI", "Anthropic", "OpenAI"}


def modules(*names: str) -> Iterator[tuple[str, ast.Module]]:
    """Of the product, those whose text holds one of these names: few, and to parse all takes ten seconds."""
    for folder in ("config", "conversations", "artifacts", "memory"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text()
            if any(name in text for name in names):
                yield str(path.relative_to(ROOT)), ast.parse(text)


def connecting_modules(tree: ast.Module) -> set[str]:
    """What a module imports of ``CONNECTING``, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                names |= {alias.name for alias in aliases}
            case ast.ImportFrom(module=str(module), names=aliases):
                names |= {f"{module}.{alias.name}" for alias in aliases}
    return {part for name in names for part in CONNECTING if f"{name}.".startswith(f"{part}.")}


def calls(*names: str) -> Iterator[tuple[str, ast.Call]]:
    """The modules that call something of these names, with each call and its name."""
    for path, tree in modules(*names):
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in names:
                    yield f"{path}: {name}", node


def test_nothing_beside_it_imports_what_can_connect() -> None:
    trees = [(path, tree) for path, tree in modules(*ROOTS) if path != JUDGED]
    imports = {f"{path}: {name}" for path, tree in trees for name in connecting_modules(tree)}
    assert imports == IMPORTED_BESIDE


def test_nothing_beside_it_opens_connections() -> None:
    opening = {place for place, _ in calls(*OPENERS)}
    assert {place for place in opening if not place.startswith(JUDGED)} == OPENED_BESIDE


def test_each_client_of_an_sdk_is_given_the_judged_one() -> None:
    def is_given(call: ast.Call) -> bool:
        given = [ast.unparse(keyword) for keyword in call.keywords]
        return any(each.startswith(("http_client=open_http_client(", "**client_values(")) for each in given)

    clients = list(calls(*SDK_CLIENTS))
    assert len(clients) == 5
    assert [place for place, call in clients if not is_given(call)] == []
    anthropic = (ROOT / "conversations/providers/anthropic.py").read_text()
    assert '"http_client": open_http_client(endpoint)' in anthropic
