"""Where a provider is reached, and with what key: by the environment's settings, or by a row that staff made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from django.conf import settings

OPENAI_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One service that models are asked of. The key is in no representation of it, so that it gets into no log.

    ``base_url`` is empty for the SDK's own default, ``proxy`` for none. ``connect_seconds`` is for the connection alone:
    how long an answer may take is watched by what it says. ``key_name`` is what whoever runs this Openbook knows the key by.
    ``server`` names a row of ``dialects.toml`` where the address doesn't tell what kind of server it is.
    """

    base_url: str = ""
    key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    connect_seconds: float = 5.0
    proxy: str = ""
    key_name: str = "the API key"
    needs_key: bool = True
    server: str = ""

    @property
    def cache_key(self) -> tuple[str, ...]:
        """Equal where one client serves both."""
        headers = (part for header in sorted(self.headers.items()) for part in header)
        return (self.base_url, self.key, str(self.connect_seconds), self.proxy, *headers)


EndpointReader = Callable[[], Endpoint]
"""Asked at each call: settings change in tests, rows by staff. Reads no database."""


def anthropic_from_settings() -> Endpoint:
    return Endpoint(base_url=settings.ANTHROPIC_BASE_URL, key=settings.ANTHROPIC_API_KEY, key_name="ANTHROPIC_API_KEY")


def openai_from_settings() -> Endpoint:
    """Servers of one's own mostly want no key; the one in the cloud does."""
    return Endpoint(
        base_url=settings.OPENAI_BASE_URL or OPENAI_URL,
        key=settings.OPENAI_API_KEY,
        key_name="OPENAI_API_KEY",
        needs_key=not settings.OPENAI_BASE_URL,
        server=settings.OPENBOOK_OPENAI_SERVER,
    )
