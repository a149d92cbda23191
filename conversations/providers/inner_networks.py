"""Which addresses lie in the operator's own network. Pure.

A connection that staff made may not lead there, or whoever may edit connections could reach what only the server can: a
database, the cloud's own keys, a neighbour's admin page.
"""

import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

NAT64 = IPv6Network("64:ff9b::/96")
IPV4_COMPATIBLE = IPv6Network("::/96")
LOOPBACK = IPv4Address("127.0.0.1")


def is_allowed(address: Address, networks: Sequence[Network]) -> bool:
    """Whether it is a public address, or of a network that the operator opened."""
    reached = _reached(address)
    return not _is_inner(reached) or any(reached in network for network in networks)


def written_address(host: str) -> Address | None:
    """The address that a host of a URL stands for without being looked up, in any form that a resolver takes: ``127.1``,
    ``0x7f000001`` and ``localhost`` too."""
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return LOOPBACK
    try:
        return ip_address(name)
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(name))
    except OSError:
        return None


def _is_inner(address: Address) -> bool:
    return not address.is_global or address.is_multicast or address in IPV4_COMPATIBLE


def _reached(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for, where it stands for one."""
    if isinstance(address, IPv4Address):
        return address
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address
