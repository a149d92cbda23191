"""The exact request for people: pretty, and raw as the digest is taken of it, each cut where a browser would choke on it."""

from dataclasses import dataclass

from conversations.context.rendering import canonical
from conversations.providers.base import Payload
from conversations.staff import display

MOST_CHARS = 60_000


@dataclass(frozen=True, kw_only=True)
class ShownText:
    """``cut`` is how many characters are left away at the end."""

    text: str
    cut: int

    @property
    def characters(self) -> int:
        return len(self.text)

    @classmethod
    def of(cls, text: str) -> "ShownText":
        return cls(text=text[:MOST_CHARS], cut=max(0, len(text) - MOST_CHARS))


@dataclass(frozen=True, kw_only=True)
class Exact:
    pretty: ShownText
    raw: ShownText
    bytes: int


def exact(request: Payload) -> Exact:
    raw = canonical(request)
    return Exact(pretty=ShownText.of(display.pretty(request)), raw=ShownText.of(raw.decode()), bytes=len(raw))
