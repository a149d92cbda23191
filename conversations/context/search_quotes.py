"""How a turn is quoted to a model that searched for it: so that it can be found again, and forgotten. Pure."""

from collections.abc import Iterable
from datetime import datetime

SEARCH_TOOL = "search_messages"
BETWEEN = "\n\n---\n\n"
CUT = "…"


def quote(at: datetime, role: str, excerpt: str) -> str:
    return f"{source_of(at, role)}: {excerpt}"


def source_of(at: datetime, role: str) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC, {role}"


def joined(quotes: Iterable[str]) -> str:
    return BETWEEN.join(quotes)


def quotes_in(text: str) -> Iterable[tuple[str, str]]:
    """What may be quotes in a text: where each is from, and its words without the marks of cuts."""
    for part in text.split(BETWEEN):
        source, colon, words = part.partition(": ")
        if colon:
            yield source, words.removeprefix(f"{CUT} ").removesuffix(f" {CUT}").strip()
