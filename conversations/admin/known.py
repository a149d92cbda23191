"""Memories, topics, summaries, artifacts and recalled turns that a request was told of or might have been, as of now."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Model, UUIDField, Value
from django.db.models.functions import Left

from artifacts.models import Artifact
from conversations.context.reasons import Reason
from conversations.models import Message
from memory.models import DailySummary, Memory, ThreadSummary, Topic

EXCERPT_CHARS = 300
PLURALS = {"memory": "memories", "summary": "summaries"}
NOWHERE = Value(None, output_field=UUIDField())
# Of turns they say something else.
REASONS = {
    Reason.REMEMBERED: "Known as the session began",
    Reason.OVER_BUDGET: "No room for it",
    Reason.SHORTENED: "Shortened to the room that it has",
}


@dataclass(frozen=True, kw_only=True)
class Known:
    """``excerpt`` is the text of today, empty once it is deleted; ``message`` and ``thread`` are where it comes from."""

    what: str
    id: str
    included: bool
    tokens: int
    reason: str
    excerpt: str = ""
    message: UUID | None = None
    thread: UUID | None = None


@dataclass(frozen=True, kw_only=True)
class Tally:
    """How many have the same fate, and what they are."""

    count: int
    what: str
    included: bool
    reason: str

    @property
    def noun(self) -> str:
        return self.what if self.count == 1 else PLURALS.get(self.what, f"{self.what}s")


def known_rows(items: Sequence[dict[str, Any]]) -> list[Known]:
    """What each of these items is, those that were given first. One query, whatever their number."""
    found = _found([UUID(item["id"]) for item in items]) if items else {}
    rows = [
        Known(
            id=item["id"],
            included=item["included"],
            tokens=item["tokens"],
            reason=REASONS.get(item["reason"], Reason(item["reason"]).label),
            **found.get(item["id"], {"what": item["kind"]}),
        )
        for item in items
    ]
    return sorted(rows, key=lambda row: not row.included)


def tallied(rows: Sequence[Known]) -> list[Tally]:
    counts = Counter((row.what, row.included, row.reason) for row in rows)
    return [
        Tally(what=what, included=included, reason=reason, count=count)
        for (what, included, reason), count in counts.items()
    ]


def _found(ids: Sequence[UUID]) -> dict[str, dict[str, Any]]:
    sources: list[tuple[type[Model], str, str, str | Value, str | Value]] = [
        (Memory, "memory", "content", "sources__0", NOWHERE),
        (Topic, "topic", "title", NOWHERE, "thread"),
        (DailySummary, "summary of the day", "text", NOWHERE, NOWHERE),
        (Artifact, "artifact", "title", NOWHERE, "thread"),
        (ThreadSummary, "summary of the last conversation", "text", NOWHERE, "thread"),
        (Message, "earlier turn", "text", "id", "thread"),
    ]
    first, *others = [
        model._default_manager.filter(id__in=ids).values_list(
            "id", Value(what), Left(text, EXCERPT_CHARS), message, thread
        )
        for model, what, text, message, thread in sources
    ]
    return {
        str(id): {"what": what, "excerpt": excerpt, "message": message, "thread": thread}
        for id, what, excerpt, message, thread in first.union(*others, all=True)
    }
