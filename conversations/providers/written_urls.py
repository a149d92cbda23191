"""Whether an address that a person wrote may be asked, as far as it can be told without looking its name up. Pure."""

from collections.abc import Sequence
from enum import Enum, auto
from urllib.parse import urlsplit

from conversations.providers.inner_networks import Network, is_allowed, written_address


class UrlProblem(Enum):
    MALFORMED = auto()
    """It is none of HTTP, too long, or holds a name, a password, a fragment, or what no address holds."""
    INNER = auto()
    """It leads to a network that the operator did not open."""


def problem_of(url: str, *, most: int, networks: Sequence[Network]) -> UrlProblem | None:
    """``most``: characters; ``networks``: inner ones that are open."""
    try:
        parts = urlsplit(url)
        address = written_address(parts.hostname or "")
        is_address = parts.scheme in ("https", "http") and parts.port != 0 and len(url) <= most
    except ValueError:
        return UrlProblem.MALFORMED
    if not is_address or parts.username is not None or not url.isascii() or any(mark in url for mark in " \t\r\n#"):
        return UrlProblem.MALFORMED
    if address is not None and not is_allowed(address, networks):
        return UrlProblem.INNER
    return None
