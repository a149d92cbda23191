"""Where a provider is reached, and with what key: by the environment's settings, or by a row that staff made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from django.conf import settings

from conversations.providers.base import ProviderError
from conversations.providers.clouds import CLOUDS
from conversations.providers.inner_networks import Network

ANTHROPIC_URL = "https://api.anthropic.com"
OPENAI_URL = "https://api.openai.com/v1"
LEAST_SECRET_CHARS = 8
"""A shorter value of a header is no secret, and taking it out of a text would garble the text."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One service that models are asked of. The key is in no representation of it, so that it gets into no log.

    ``proxy`` is empty for none. ``connect_seconds`` is for looking up the name, and for the connection: how long an
    answer may take is watched by what it says. ``key_name`` is what whoever runs this Openbook knows the key by.
    ``region`` and ``project`` are places of a cloud.
    ``server`` names a row of ``dialects.toml`` where the address doesn't tell what kind of server it is.
    ``networks`` are the inner networks that it may lead into; ``None`` for any, as the operator's own settings may.
    ``problem`` is why it can't be used, where something is known.
    """

    base_url: str = ""
    key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    connect_seconds: float = 5.0
    proxy: str = ""
    key_name: str = "the API key"
    needs_key: bool = True
    server: str = ""
    region: str = ""
    project: str = ""
    networks: tuple[Network, ...] | None = None
    problem: ProviderError | None = None

    @property
    def cache_key(self) -> tuple[str, ...]:
        """Equal where one client serves both."""
        headers = (part for header in sorted(self.headers.items()) for part in header)
        place = (self.base_url, self.region, self.project, self.proxy, str(self.networks))
        return (*place, self.key, str(self.connect_seconds), *headers)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must stand in no message, also where the service repeats it."""
        parts = (self.key, *self.key.split(":")) if ":" in self.key else (self.key,)  # id and secret of an access key
        values = (value for value in (*parts[1:], *self.headers.values()) if len(value) >= LEAST_SECRET_CHARS)
        return tuple(filter(None, (self.key, *values)))


EndpointReader = Callable[[], Endpoint]
"""Asked at each call: settings change in tests, rows by staff. Reads no database."""


def anthropic_from_settings() -> Endpoint:
    return Endpoint(
        base_url=settings.ANTHROPIC_BASE_URL or ANTHROPIC_URL,
        key=settings.ANTHROPIC_API_KEY,
        key_name="ANTHROPIC_API_KEY",
    )


def bedrock_from_settings() -> Endpoint:
    """Without a key it is asked with what the machine has."""
    return Endpoint(
        base_url=settings.ANTHROPIC_BEDROCK_BASE_URL or CLOUDS["bedrock"].address_in(settings.AWS_REGION),
        key=settings.AWS_BEARER_TOKEN_BEDROCK,
        key_name="the credentials for Amazon Bedrock",
        needs_key=False,
        region=settings.AWS_REGION,
    )


def vertex_from_settings() -> Endpoint:
    return Endpoint(
        base_url=settings.ANTHROPIC_VERTEX_BASE_URL or CLOUDS["vertex"].address_in(settings.CLOUD_ML_REGION),
        key_name="the Application Default Credentials for Google Vertex AI",
        needs_key=False,
        region=settings.CLOUD_ML_REGION,
        project=settings.ANTHROPIC_VERTEX_PROJECT_ID,
    )


def openai_from_settings() -> Endpoint:
    """Servers of one's own mostly want no key; the one in the cloud does."""
    return Endpoint(
        base_url=settings.OPENAI_BASE_URL or OPENAI_URL,
        key=settings.OPENAI_API_KEY,
        key_name="OPENAI_API_KEY",
        needs_key=not settings.OPENAI_BASE_URL,
        server=settings.OPENBOOK_OPENAI_SERVER,
    )
