"""The connections that staff made, as providers: their rows, kept in memory for a few seconds, as every request asks for one.

Rows are read again in synchronous code alone. On the event loop those that are known are used, so that no query waits there;
the context of a request is built in synchronous code just before.
"""

import asyncio
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

from django.conf import settings
from django.utils.module_loading import import_string

from conversations.models import Connection
from conversations.models.connections import Kind, Secrets, SecretsOfAnotherPlace
from conversations.providers import model_catalog
from conversations.providers.base import Provider, ProviderError
from conversations.providers.clouds import CLOUDS
from conversations.providers.endpoints import ANTHROPIC_URL, OPENAI_URL, Endpoint, EndpointReader
from conversations.runtime.encryption import NotDecryptable

KEEP_SECONDS = 5.0

CLASSES: dict[str, str] = {
    Kind.ANTHROPIC: "conversations.providers.anthropic.AnthropicProvider",
    Kind.OPENAI: "conversations.providers.openai.OpenAIProvider",
    Kind.BEDROCK: "conversations.providers.cloud_providers.BedrockProvider",
}
"""By dotted name, because importing an SDK takes seconds."""
ADDRESSES: dict[str, str] = {Kind.ANTHROPIC: ANTHROPIC_URL, Kind.OPENAI: OPENAI_URL}
"""Where a connection without an address leads: the maker's own. Said, or the SDK would take it from the environment. Those of
clouds are found by their region."""

UNREADABLE = (
    "The key of the connection “{label}” can't be read: it was stored with another SECRET_KEY. Whoever runs this Openbook "
    "has to enter it again, or to name the former SECRET_KEY in SECRET_KEY_FALLBACKS."
)
MOVED = "The key of the connection “{label}” is for another address. Whoever runs this Openbook has to enter it again."
INACTIVE = (
    "The connection “{label}” is switched off. Whoever runs this Openbook can switch it on, or choose another one."
)
NO_MODEL = (
    "The connection “{label}” has no model. Whoever runs this Openbook can add one on its page in the admin, by “See its "
    "models”."
)
DELETED = "The connection “{slug}” has been deleted. Whoever runs this Openbook has to choose another one."


@dataclass
class CachedConnections:
    rows: Mapping[str, Connection] = field(default_factory=dict)
    until: float = 0.0


_cached = CachedConnections()


def find(slug: str) -> Connection | None:
    return _rows().get(slug)


def known_slugs() -> Collection[str]:
    """Of the connections as they were last read. Reads nothing itself."""
    return _cached.rows.keys()


def reread() -> None:
    """The next question reads the rows again: staff have changed one. Until then the event loop uses those that are known."""
    _cached.until = 0.0


def find_provider(slug: str) -> Provider | None:
    """The provider of a connection, also of one that is switched off: what was recorded of it can still be rendered."""
    row = find(slug)
    return kept_provider(slug, row.kind) if row else None


def provider_of(row: Connection, endpoint: EndpointReader | None = None) -> Provider:
    """A provider of its own for this row as it is, whatever is cached."""
    provider: Provider = import_string(CLASSES[row.kind])(
        endpoint or (lambda: endpoint_of(row)), name=row.slug, default_model=lambda: first_model(row)
    )
    return provider


def address_of(name: str) -> str:
    """Where models of the provider of this name are asked, of those whose makers have price lists; else empty. A cloud's prices
    are those of its region, also behind another address."""
    row = find(name)
    kind = row.kind if row else name
    if kind in CLOUDS:
        return CLOUDS[kind].address_in(row.region if row else getattr(settings, CLOUDS[kind].needs["region"]))
    if row:
        return address_of_row(row)
    return settings.OPENAI_BASE_URL or ADDRESSES[Kind.OPENAI] if name == Kind.OPENAI else ""


def address_of_row(row: Connection) -> str:
    return row.base_url or (CLOUDS[row.kind].address_in(row.region) if row.kind in CLOUDS else ADDRESSES[row.kind])


def endpoint_of(row: Connection) -> Endpoint:
    """Where the key can't be read, it is missing and the ``problem`` says so."""
    secrets, problem = Secrets(), None
    try:
        secrets = row.read_secrets()
    except NotDecryptable:
        problem = misconfigured(UNREADABLE, row)
    except SecretsOfAnotherPlace:
        problem = misconfigured(MOVED, row)
    return Endpoint(
        base_url=address_of_row(row),
        key=secrets.key,
        headers=secrets.headers,
        connect_seconds=row.connect_seconds,
        proxy=row.proxy,
        key_name=f"the key of the connection “{row.label}”",
        needs_key=row.kind != Kind.OPENAI or not row.base_url,
        server=row.server,
        region=row.region,
        networks=settings.OPENBOOK_INNER_NETWORKS,
        problem=problem,
    )


def first_model(row: Connection) -> str:
    """The model of assistants that name none: the server's, where this is its provider, else the first that staff are offered.
    Raises ``ProviderError`` where there is none."""
    if settings.OPENBOOK_MODEL and row.slug == settings.OPENBOOK_PROVIDER:
        return str(settings.OPENBOOK_MODEL)
    if offered := model_catalog.offered(row.slug):
        return offered[0].name
    raise misconfigured(NO_MODEL, row)


def misconfigured(words: str, row: Connection) -> ProviderError:
    return ProviderError("misconfigured", words.format(label=row.label), retryable=False)


@cache
def kept_provider(slug: str, kind: str) -> Provider:
    """One a process, so that its connections are used again."""

    def endpoint() -> Endpoint:
        row = find(slug)
        if row is None:
            return Endpoint(problem=ProviderError("misconfigured", DELETED.format(slug=slug), retryable=False))
        known = endpoint_of(row)
        return known if row.is_active else replace(known, problem=misconfigured(INACTIVE, row))

    row = find(slug)
    assert row
    return provider_of(row, endpoint)


def _rows() -> Mapping[str, Connection]:
    if time.monotonic() >= _cached.until and not _is_on_event_loop():
        until = time.monotonic() + KEEP_SECONDS
        _cached.rows = {row.slug: row for row in Connection.objects.all()}
        _cached.until = until
    return _cached.rows


def _is_on_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
