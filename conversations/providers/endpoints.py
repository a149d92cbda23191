"""Where a provider is reached, and with what key: by the environment's settings, or by a row that staff made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from django.conf import settings


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One service that models are asked of. The key is in no representation of it, so that it gets into no log.

    ``base_url`` is empty for the SDK's own default, ``proxy`` for none. ``connect_seconds`` is for the connection alone:
    how long an answer may take is watched by what it says.
    """

    base_url: str = ""
    key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    connect_seconds: float = 5.0
    proxy: str = ""

    @property
    def cache_key(self) -> tuple[str, ...]:
        """Equal where one client serves both."""
        headers = (part for header in sorted(self.headers.items()) for part in header)
        return (self.base_url, self.key, str(self.connect_seconds), self.proxy, *headers)


EndpointReader = Callable[[], Endpoint]
"""Asked at each call: settings change in tests, rows by staff. Reads no database."""


def anthropic_from_settings() -> Endpoint:
    return Endpoint(base_url=settings.ANTHROPIC_BASE_URL, key=settings.ANTHROPIC_API_KEY)
