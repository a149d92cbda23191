"""Networks that a token works from, as people write them and as they are compared."""

from collections.abc import Collection, Iterable
from ipaddress import IPv6Address, ip_address, ip_network

from django.utils.translation import gettext

MOST = 20


class NotANetwork(ValueError):
    """``str()`` says which, and how one is written."""


def normalized(texts: Iterable[str]) -> list[str]:
    """Each as CIDR, in the order given and once. An address stands for itself alone. Raises ``NotANetwork``."""
    networks: dict[str, None] = {}
    for text in texts:
        try:
            networks[str(ip_network(text.strip(), strict=False))] = None
        except ValueError:
            words = gettext("“%(text)s” is no address or network. Write it like 192.0.2.7 or 10.0.0.0/8.")
            raise NotANetwork(words % {"text": text.strip()[:50]}) from None
    if len(networks) > MOST:
        raise NotANetwork(gettext("At most %(most)d networks.") % {"most": MOST})
    return list(networks)


def contain(networks: Collection[str], address: str) -> bool:
    """Whether one of them holds the address; an address that can't be read is in none."""
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped:
        ip = ip.ipv4_mapped
    return any(ip in ip_network(network) for network in networks)


def are_within(inner: Collection[str], outer: Collection[str]) -> bool:
    """Whether all that the inner ones hold is held by the outer ones too; none at all stands for everywhere."""
    if not outer:
        return True
    wide = [ip_network(network) for network in outer]
    return bool(inner) and all(
        any(
            network.version == each.version and network.subnet_of(each)  # type: ignore[arg-type]  # the same version
            for each in wide
        )
        for network in map(ip_network, inner)
    )
