"""What the exports have in common. Pure."""

import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from conversations.import_export.values import EARLIEST, LATEST, TITLE_CHARS
from conversations.runtime.text import one_line

ATTACHED_CHARS = 100_000
"""Of a file whose text came along."""


def stored_id(given: Any, product: str) -> uuid.UUID | None:
    """Theirs where it is a UUID; else always the same for the same id, so that nothing is imported twice unnoticed."""
    if not isinstance(given, str) or not given:
        return None
    try:
        return uuid.UUID(given)
    except ValueError:
        return derived_id(uuid.NAMESPACE_URL, f"{product}:{given}")


def derived_id(space: uuid.UUID, name: str) -> uuid.UUID:
    """Of any name that JSON can give, halves of characters among it."""
    return uuid.uuid5(space, name.encode(errors="surrogatepass"))


def titled(name: Any) -> dict[str, str]:
    """The title, where there is one."""
    title = one_line(name)[:TITLE_CHARS] if isinstance(name, str) else ""
    return {"title": title} if title else {}


def moment_of(value: Any) -> str | None:
    """Seconds since 1970 or an ISO 8601 time; ``None`` for what is no time."""
    try:
        time = datetime.fromtimestamp(value, UTC) if isinstance(value, int | float) else datetime.fromisoformat(value)
        at = time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    return at.isoformat() if EARLIEST < at < LATEST else None


def paragraphs(texts: Iterable[str]) -> str:
    return "\n\n".join(text.strip("\n") for text in texts if text.strip())


def attached(name: Any, text: Any = None) -> str:
    """A file that belonged to a message, with its text where that came along."""
    named = f"[attached: {name}]" if isinstance(name, str) and name else "[attached: a file]"
    if not isinstance(text, str) or not text.strip():
        return named
    cut = f"\n[… {len(text) - ATTACHED_CHARS:,} more characters]" if len(text) > ATTACHED_CHARS else ""
    return f"{named}\n\n{fenced(text[:ATTACHED_CHARS] + cut)}"


def fenced(code: str, language: str = "") -> str:
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"


def as_list(values: Any) -> list[Any]:
    return values if isinstance(values, list) else []
