"""How turns and parts of files are quoted to a model that searched for them: so that a quote can be found again, and forgotten.
Pure."""

from collections.abc import Iterable
from datetime import datetime

SEARCH_TOOL = "search_messages"
BETWEEN = "\n\n---\n\n"
CUT = "…"


COLON = ": "


def quote(at: datetime, role: str, excerpt: str) -> str:
    return f"{source_of(at, role)}{COLON}{excerpt}"


def quote_of_part(at: datetime, name: str, label: str, excerpt: str) -> str:
    """``at`` is when the file was uploaded. ``excerpt`` is on one line."""
    return f"{source_of_part(at, name, label)}{COLON}{excerpt}"


def source_of_part(at: datetime, name: str, label: str) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC, file “{name}”, {label}".replace(COLON, ":")


def source_of(at: datetime, role: str) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC, {role}"


def joined(quotes: Iterable[str]) -> str:
    return BETWEEN.join(quotes)


def quotes_in(text: str) -> Iterable[tuple[str, str]]:
    """What may be quotes in a text: where each is from, and its words without the marks of cuts."""
    for part in text.split(BETWEEN):
        source, colon, words = part.partition(COLON)
        if colon:
            yield source, words.removeprefix(f"{CUT} ").removesuffix(f" {CUT}").strip()
