"""Who is at the other end, whatever headers claim."""

from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import given
from hypothesis import strategies as st

from config.server.proxies import ClientOrigin, Trust, behind, client_of, parse_address, trust

PROXY, EDGE, SPOOFED, PERSON = "10.0.0.1", "10.0.0.2", "198.51.100.66", "203.0.113.7"
OURS = trust(["10.0.0.0/8", "2001:db8:10::/48"])
NAMES = {
    "chain": b"x-forwarded-for",
    "proto": b"x-forwarded-proto",
    "host": b"x-forwarded-host",
    "standard": b"forwarded",
}

addresses = st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)).map(lambda ip: getattr(ip, "ipv4_mapped", None) or ip)


def is_stranger(ip: IPv4Address | IPv6Address) -> bool:
    return not OURS.includes(ip, 0)


strangers = addresses.filter(is_stranger)
ports = st.one_of(st.just(""), st.integers(1, 65_535).map(lambda port: f":{port}"), st.just(":_hidden"))
rubbish = st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=40)


def client(peer: str = PROXY, trusted: Trust = OURS, **lines: str | list[str]) -> ClientOrigin:
    headers = [
        (NAMES[name], line.encode("latin-1"))
        for name, value in lines.items()
        for line in (value if isinstance(value, list) else [value])
    ]
    return client_of(parse_address(peer), headers, trusted)


def address(*args: Any, **lines: Any) -> str:
    return str(client(*args, **lines).address)


def spell(ip: IPv4Address | IPv6Address, port: str = "") -> str:
    """As it stands in a header."""
    return f"[{ip}]{port}" if isinstance(ip, IPv6Address) else f"{ip}{port}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("192.0.2.1", "192.0.2.1"),
        (" 192.0.2.1:80 ", "192.0.2.1"),
        ("192.0.2.1:_port", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::1"),
        ("[2001:DB8::1]", "2001:db8::1"),
        ("[2001:db8::1]:443", "2001:db8::1"),
        ("fe80::1%eth0", "fe80::1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        *(
            (text, None)
            for text in ("", "unknown", "_secret", "[192.0.2.1]", "192.0.2.1:", "192.0.2.1:x", "[::1", "[::1]x")
        ),
        *((text, None) for text in ("1.2.3", "01.2.3.4", "1.2.3.4.5", "1.2.3.4, 5.6.7.8", "example.org", "::1::")),
    ],
)
def test_an_address_is_read_with_port_and_zone_or_not_at_all(text: str, expected: str | None) -> None:
    assert parse_address(text) == (ip_address(expected) if expected else None)


@given(ip=addresses, port=ports)
def test_every_address_is_read_back(ip: IPv4Address | IPv6Address, port: str) -> None:
    assert parse_address(spell(ip, port)) == parse_address(str(ip)) == ip


@given(peer=addresses, line=rubbish, standard=rubbish)
def test_nobody_is_believed_by_default(peer: IPv4Address | IPv6Address, line: str, standard: str) -> None:
    found = client(str(peer), trust([]), standard=standard, proto="https", host="evil.example", chain=line)
    assert found == ClientOrigin(address=peer)


@given(peer=strangers, line=rubbish)
def test_who_comes_past_the_proxies_is_not_believed(peer: IPv4Address | IPv6Address, line: str) -> None:
    assert client(str(peer), proto="https", host="evil.example", chain=line) == ClientOrigin(address=peer)


@given(
    claimed=st.lists(st.one_of(rubbish, addresses.map(spell)), max_size=4),
    ip=strangers,
    port=ports,
    hops=st.integers(1, 3),
)
def test_what_a_client_claims_changes_nothing(
    claimed: list[str], ip: IPv4Address | IPv6Address, port: str, hops: int
) -> None:
    """Each proxy appends whom it got the request from: trusted by their networks or by their number."""
    appended = [spell(ip, port), *[EDGE, "2001:db8:10::5"][: hops - 1]]
    for trusted in (OURS, trust([str(hops)]), trust(["10.0.0.0/8", "2001:db8:10::/48", str(hops)])):
        assert client(trusted=trusted, chain=", ".join([*claimed, *appended])).address == ip
        assert client(trusted=trusted, chain=[*claimed, *appended]).address == ip  # a line each


@given(claimed=rubbish, ip=strangers, port=ports, scheme=st.sampled_from(["http", "https", "HTTPS"]))
def test_a_quote_left_open_swallows_nothing(
    claimed: str, ip: IPv4Address | IPv6Address, port: str, scheme: str
) -> None:
    """Whatever stands before it, the last element is the proxy's; if the whole can't be read, it counts as unknown."""
    element = f'for="{spell(ip, port)}";proto={scheme};host="chat.example"'
    assert client(standard=element) == ClientOrigin(address=ip, scheme=scheme.lower(), host="chat.example")
    found = client(standard=f"{claimed}, {element}")
    assert found in (client(standard=element), ClientOrigin(address=ip_address(PROXY)))


@given(ip=addresses, claimed=strangers)
def test_two_headers_that_disagree_are_both_not_believed(
    ip: IPv4Address | IPv6Address, claimed: IPv4Address | IPv6Address
) -> None:
    found = client(standard=f'for="{spell(claimed)}"', chain=spell(ip)).address
    assert found == (ip if ip == claimed else ip_address(PROXY))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ({"chain": f"{SPOOFED}, {PERSON}, {EDGE}"}, PERSON),
        ({"chain": f"{SPOOFED}, unknown"}, PROXY),
        ({"chain": f"{SPOOFED}, _hidden, {EDGE}"}, EDGE),
        ({"chain": f"{PERSON}, , "}, PERSON),
        ({"chain": EDGE}, EDGE),
        ({}, PROXY),
        ({"standard": f"for={SPOOFED}, for={PERSON};by=_edge, For={EDGE}"}, PERSON),
        ({"standard": 'for="[2001:db8:cafe::17]:4711"'}, "2001:db8:cafe::17"),
        ({"standard": f"for={SPOOFED}, for=unknown"}, PROXY),
        ({"standard": f"for={SPOOFED}, by={EDGE}"}, PROXY),
        ({"standard": [f"for={SPOOFED}", f"for={PERSON}"]}, PERSON),
        ({"standard": f"for={PERSON};for={SPOOFED}"}, PROXY),
        ({"standard": f'for="{SPOOFED}', "chain": PERSON}, PROXY),
        ({"proto": "https", "standard": f"for={SPOOFED}"}, PROXY),
    ],
)
def test_a_chain_is_read_from_its_end(lines: dict[str, Any], expected: str) -> None:
    assert address(**lines) == expected


def test_a_number_of_proxies_is_enough_and_no_more_are_believed() -> None:
    chain = {"chain": f"{SPOOFED}, {PERSON}, {EDGE}"}
    assert [address(trusted=trust([str(n)]), **chain) for n in range(4)] == [PROXY, EDGE, PERSON, SPOOFED]
    assert address("", trust(["1"]), **chain) == EDGE  # by a local socket
    assert address("", OURS, **chain) == "None"


def test_scheme_and_host_are_those_that_the_outermost_trusted_proxy_met() -> None:
    by_edge = client(chain=f"{PERSON}, {EDGE}", proto="https, http", host="chat.example, inner")
    assert by_edge == ClientOrigin(address=ip_address(PERSON), scheme="https", host="chat.example")
    assert client(chain=f"{PERSON}, {EDGE}", proto="https", host="chat.example") == by_edge  # handed on
    claimed = client(chain=f"{SPOOFED}, {PERSON}", proto="https, http", host="evil.example, chat.example")
    assert claimed == ClientOrigin(address=ip_address(PERSON), scheme="http", host="chat.example")
    assert client(proto="gopher", chain=PERSON).scheme == ""


@pytest.mark.parametrize("items", [["localhost"], ["1", "2"], ["10.0.0.0/33"], ["-1"], ["*"]])
def test_a_setting_that_can_not_be_read_ends_the_start(items: list[str]) -> None:
    with pytest.raises(ImproperlyConfigured, match="OPENBOOK_TRUSTED_PROXIES"):
        trust(items)


@pytest.mark.parametrize(("kind", "schemes"), [("http", ("http", "https")), ("websocket", ("ws", "wss"))])
async def test_what_is_behind_meets_the_client_and_no_claims(kind: str, schemes: tuple[str, str]) -> None:
    met: list[Any] = []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        met.append((scope["client"][0], scope["scheme"], scope["headers"]))

    headers = [(b"host", b"inner"), (b"x-forwarded-for", PERSON.encode()), (b"x-forwarded-proto", b"https")]
    headers += [(b"x-forwarded-host", b"chat.example"), (b"accept", b"*/*")]
    for peer in (PROXY, SPOOFED):
        scope = {"type": kind, "client": (peer, 9), "scheme": schemes[0], "headers": headers}
        await behind(OURS, application)(scope, None, None)
    assert met == [
        (PERSON, schemes[1], [(b"accept", b"*/*"), (b"host", b"chat.example")]),
        (SPOOFED, schemes[0], [(b"host", b"inner"), (b"accept", b"*/*")]),
    ]


async def test_an_operator_who_forgot_to_name_the_proxy_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        assert scope["client"] == (PROXY, 9)

    served = behind(trust([]), application)
    for _ in range(3):
        headers = [(b"x-forwarded-for", PERSON.encode())]
        await served({"type": "http", "client": (PROXY, 9), "headers": headers}, None, None)
    assert [(record.levelname, vars(record)["proxy"]) for record in caplog.records] == [("WARNING", PROXY)]
