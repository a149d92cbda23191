"""The exact request for people: pretty, and raw as the digest is taken of it, each cut where a browser would choke on it."""

import re
from dataclasses import dataclass
from typing import Any

from conversations.context.render.rendering import canonical
from conversations.providers.base import Payload
from conversations.runtime.wording import filled
from conversations.staff import display

MOST_CHARS = 60_000
LONGEST_WORD = 1_000
PICTURE = re.compile(r"(?:data:image/\w+;base64,)?[A-Za-z0-9+/]+=*$")


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
    pretty = display.pretty(without_pictures(request))
    return Exact(pretty=ShownText.of(pretty), raw=ShownText.of(raw.decode()), bytes=len(raw))


def without_pictures(value: Any) -> Any:
    """The same with how long it is in the place of each picture's bytes."""
    match value:
        case dict():
            return {name: without_pictures(part) for name, part in value.items()}
        case list():
            return [without_pictures(part) for part in value]
        case str() if len(value) > LONGEST_WORD and " " not in value and PICTURE.match(value):
            return filled("({count} characters of base64)", count=len(value))
    return value
