"""Which addresses lie in the operator's own network. Pure.

A connection that staff made may not lead there, or whoever may edit connections could reach what only the server can: a
database, the cloud's own keys, a neighbour's admin page.
"""

import re
import socket
import unicodedata
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

HOLDING_IPV4 = tuple(map(IPv6Network, ("::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96")))
"""Of which the last four bytes are the IPv4 address that is reached: mapped, translated (RFC 7915), by NAT64."""
GLOBAL_UNICAST = IPv6Network("2000::/3")
"""All that is given out of IPv6. What is beside it is inner by nature, or for nobody yet."""
SPECIAL = (
    IPv4Network("168.63.129.16/32"),  # Azure's own services, the machine's configuration among them
    IPv4Network("192.0.0.0/24"),  # for protocols; 192.0.0.192 tells Oracle's machines their keys
    IPv4Network("192.88.99.0/24"),  # relays of 6to4
    IPv6Network("2002::/16"),  # 6to4
    IPv6Network("2001::/23"),  # for protocols, Teredo among them
    IPv6Network("3fff::/20"),  # for examples
)
"""Beside what Python's reading of IANA's registries of special addresses calls private."""
LOOPBACK = IPv4Address("127.0.0.1")
DOTS = str.maketrans("\u3002\uff0e\uff61", "...")
"""What IDNA takes for a dot."""
NAME = re.compile(r"(?=.{1,253}\Z)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*", re.ASCII)
NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)


def is_allowed(address: Address, networks: Sequence[Network]) -> bool:
    """Whether it is a public address, or of a network that the operator opened."""
    reached = _reached(address)
    return not _is_inner(reached) or any(reached in network for network in networks)


def written_address(host: str) -> Address | None:
    """The address that a host of a URL stands for without being looked up, in any form that a client or a resolver takes:
    ``127.1``, ``0x7f000001``, ``127。0。0。1`` and ``localhost`` too. Raises ``ValueError`` where it is neither an address
    nor a name."""
    name = unicodedata.normalize("NFKC", host.translate(DOTS)).lower().strip("[]").removesuffix(".")
    if name == "localhost" or name.endswith(".localhost"):
        return LOOPBACK
    try:
        return ip_address(name)
    except ValueError:
        pass
    try:
        ascii_name = name.encode("idna").decode()
    except UnicodeError as error:
        raise ValueError("this is no name of a host") from error
    if not NAME.fullmatch(ascii_name):
        raise ValueError("this is no name of a host")
    if not NUMBER.fullmatch(ascii_name.rpartition(".")[2]):
        return None
    try:
        return IPv4Address(socket.inet_aton(ascii_name))
    except OSError:
        raise ValueError("this is no name of a host") from None


def _is_inner(address: Address) -> bool:
    if not address.is_global or address.is_multicast or any(address in network for network in SPECIAL):
        return True
    return isinstance(address, IPv6Address) and address not in GLOBAL_UNICAST


def _reached(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for, where it stands for one."""
    if any(address in network for network in HOLDING_IPV4):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address
