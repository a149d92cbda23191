"""Connections for tests."""

from ipaddress import ip_network
from typing import Any

from conversations.models import Connection
from conversations.models.connections import Secrets
from conversations.providers import connections

CANARY = "sk-canary-that-nobody-is-shown"
HEADER = "header-canary-that-nobody-is-shown"
LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))


def make_connection(base_url: str, *, slug: str = "team", **values: Any) -> Connection:
    """With a key and a header that must be seen nowhere. It counts at once."""
    row = Connection(slug=slug, base_url=base_url, **{"label": slug.title()} | values)
    row.set_secrets(Secrets(key=CANARY, headers={"X-Project": HEADER}))
    row.save()
    connections.reread()
    return row
