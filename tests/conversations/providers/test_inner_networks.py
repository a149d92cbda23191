"""Which addresses connections of staff may lead to."""

from ipaddress import ip_address, ip_network

import pytest

from conversations.providers.inner_networks import is_allowed, written_address

INNER = (
    *("127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
    *("0.0.0.0", "224.0.0.1", "255.255.255.255", "192.0.2.1", "240.0.0.1", "::", "::1", "fe80::1%eth0"),  # noqa: S104
    *(
        "fc00::1",
        "fd12:3456::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
    ),
    *("64:ff9b:1::1", "::127.0.0.1", "2002:7f00:1::", "2001:db8::1", "2001::1", "ff0e::1"),
    *(
        "168.63.129.16",
        "100.100.100.200",
        "192.0.0.192",
        "192.0.0.9",
        "192.88.99.1",
        "fd00:ec2::254",
        "fec0::1",
        "5f00::1",
    ),
    *("::ffff:0:127.0.0.1", "::ffff:0:a9fe:a9fe", "4000::1", "3fff::1", "2001:10::1", "100::1"),
)
PUBLIC = ("8.8.8.8", "160.79.104.10", "2607:6bc0::10", "::ffff:8.8.8.8", "64:ff9b::808:808", "::ffff:0:8.8.8.8")


@pytest.mark.parametrize("address", INNER)
def test_inner_addresses_are_refused_until_their_network_is_opened(address: str) -> None:
    assert not is_allowed(ip_address(address), ())
    assert not is_allowed(ip_address(address), (ip_network("198.18.0.0/30"),))
    assert is_allowed(ip_address(address), (ip_network("0.0.0.0/0"), ip_network("::/0")))


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address: str) -> None:
    assert is_allowed(ip_address(address), ())


def test_an_opened_network_opens_nothing_beside_it() -> None:
    networks = (ip_network("10.1.0.0/16"), ip_network("::1/128"))
    allowed = ["10.1.2.3", "::ffff:10.1.2.3", "::1"]
    assert [is_allowed(ip_address(each), networks) for each in allowed] == [True, True, True]
    assert [is_allowed(ip_address(each), networks) for each in ("10.2.0.1", "127.0.0.1", "::")] == [False, False, False]


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("0177.0.0.1", "127.0.0.1"),
        ("[::1]", "::1"),
        ("LOCALHOST.", "127.0.0.1"),
        ("deep.localhost", "127.0.0.1"),
        ("models.example", None),
        ("notlocalhost", None),
        ("bücher.example", None),
        ("１２７.0.0.1", "127.0.0.1"),
        ("127。0．0｡1", "127.0.0.1"),
        ("localhost。", "127.0.0.1"),
    ],
)
def test_a_written_address_is_known_in_any_form(host: str, address: str | None) -> None:
    assert written_address(host) == (ip_address(address) if address else None)


@pytest.mark.parametrize(
    "host", ["", ".", "a..b", "%31%32%37.0.0.1", "127.0.0.1%00", "host.0x7f", "1.2.3.4.5", "08.1", "a b"]
)
def test_what_is_neither_an_address_nor_a_name_is_refused(host: str) -> None:
    with pytest.raises(ValueError, match="no name of a host"):
        written_address(host)
