"""What is asked of the API, before anything is sent."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict
from urllib.parse import quote

ROOT = "/api/v1/"


class Page[T](TypedDict):
    """``next`` and ``previous`` are addresses; null: there is none."""

    next: str | None
    previous: str | None
    results: list[T]


@dataclass(frozen=True)
class Call[T]:
    """``path`` is below ``/api/v1/``, or a whole address of the same server. What of ``query`` is ``None`` is left out.
    ``is_binary``: the answer is a file's bytes, else JSON or nothing."""

    method: str
    path: str
    query: Mapping[str, Any] | None = None
    body: Any = None
    is_binary: bool = False

    @property
    def is_repeatable(self) -> bool:
        """Whether it has the same effect twice as once."""
        return self.method == "GET" or (isinstance(self.body, dict) and bool(self.body.get("client_message_id")))

    @property
    def parameters(self) -> dict[str, str]:
        values = {name: value for name, value in (self.query or {}).items() if value is not None}
        return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in values.items()}


def part(value: str | int) -> str:
    """An id as a part of an address. Raises ``ValueError`` for what would be another address."""
    if str(value) in ("", ".", ".."):
        raise ValueError(f"{value!r} is no id.")
    return quote(str(value), safe="")
