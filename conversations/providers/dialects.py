"""How servers that speak Chat Completions differ: the rows of ``dialects.toml``. Pure."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self
from urllib.parse import urlsplit

from conversations.providers.thinking import ThinkingPlan
from conversations.runtime.word_tables import read_tables

TABLES = read_tables(__file__)
PLAIN = "plain"
ID_CHARS = 9
ROOM = "{room}"


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """A row; what its columns mean stands above them."""

    name: str
    most_tokens: str
    asks_usage: bool
    takes_choice: bool
    call_ids: str
    words_with_calls: bool
    after_results: str
    thoughts: str
    thoughts_due: bool
    thoughts_in_text: bool
    streams_calls: bool
    efforts: Mapping[str, str] = field(hash=False)
    no_thinking: Mapping[str, Any] = field(hash=False)
    budget: Mapping[str, Any] = field(hash=False)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """From a row, or from what ``as_dict`` recorded of one, maybe before there was a column that [plain] has now."""
        known = {part.name for part in fields(cls)}
        return cls(**{name: value for name, value in {**TABLES[PLAIN], **values}.items() if name in known})

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def call_id(self, id: str) -> str:
        """The id of a tool call as the server takes it: the same for the same one."""
        if not self.call_ids or re.fullmatch(self.call_ids, id):
            return id
        return hashlib.sha256(id.encode()).hexdigest()[:ID_CHARS]

    def thinking_fields(self, plan: ThinkingPlan) -> dict[str, Any]:
        """What a plan adds to a request."""
        match plan.mode:
            case "disabled" | "between_tools":
                return dict(self.no_thinking)
            case "enabled" if self.budget:
                return filled(self.budget, plan.room)
        return {"reasoning_effort": self.efforts.get(plan.effort, plan.effort)} if plan.effort else {}


def is_cloud(dialect: Dialect) -> bool:
    """Whether it is that of a service known by its address, and not of a server of one's own."""
    return "hosts" in TABLES.get(dialect.name, {})


DIALECTS = {name: Dialect.of({**row, "name": name}) for name, row in TABLES.items()}


def dialect_at(base_url: str, server: str = "") -> Dialect:
    """The dialect of the server at an address, or of the kind that ``server`` names."""
    if server in DIALECTS:
        return DIALECTS[server]
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname or "", parts.port
    except ValueError:  # no address at all; the call says so
        host, port = "", None
    named = (name for name, row in TABLES.items() if is_at(host, port, row))
    return DIALECTS[next(named, PLAIN)]


@dataclass(frozen=True, kw_only=True)
class CountCall:
    """Where a server counts the tokens of a text, and the field that the text goes into."""

    url: str
    field: str


def count_call_at(base_url: str, server: str = "") -> CountCall | None:
    """``None`` where the server at an address can't be asked for that, or is not known well enough."""
    counts = TABLES[dialect_at(base_url, server).name].get("counts")
    root = base_url.rstrip("/").removesuffix("/v1")
    return CountCall(url=f"{root}{counts['path']}", field=counts["text"]) if counts else None


def is_at(host: str, port: int | None, row: Mapping[str, Any]) -> bool:
    hosts = row.get("hosts", ())
    return port in row.get("ports", ()) or any(
        host.endswith(name) if name.startswith(".") else host == name for name in hosts
    )


def filled(template: Mapping[str, Any], room: int) -> dict[str, Any]:
    return {
        name: filled(value, room) if isinstance(value, dict) else room if value == ROOM else value
        for name, value in template.items()
    }
