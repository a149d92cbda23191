"""Memories, topics, summaries, artifacts and recalled turns that a request was told of or might have been, as of now."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Model, UUIDField, Value
from django.db.models.functions import Left

from artifacts.models import Artifact
from conversations.context.reasons import Reason
from conversations.models import Assistant, Message
from memory.models import DailySummary, Memory, ThreadSummary, Topic
from memory.sources.sections import LONGEST_MEMORY

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
class CandidateRow:
    """``excerpt`` is the text of today, empty where it may not be shown; ``message`` and ``thread`` are where it comes from.
    ``score`` is how much it bears on the message, beside the others; what stands all session long has none."""

    what: str
    id: str
    included: bool
    tokens: int
    code: str
    reason: str
    rule: str = ""
    score: float | None = None
    exists: bool = False
    excerpt: str = ""
    message: UUID | None = None
    thread: UUID | None = None


@dataclass(frozen=True, kw_only=True)
class Tally:
    """How many have the same fate, and what they are."""

    count: int
    what: str
    included: bool
    code: str
    reason: str
    rule: str = ""

    @property
    def noun(self) -> str:
        return self.what if self.count == 1 else PLURALS.get(self.what, f"{self.what}s")


def known_rows(items: Sequence[dict[str, Any]], assistant: Assistant, *, shown: bool) -> list[CandidateRow]:
    """What each of these items is, those that were given first, and of these what bears most on the message. One query,
    whatever their number. Without ``shown`` what they say stays in the database."""
    rows_by_id = _candidate_rows([UUID(item["id"]) for item in items], shown=shown) if items else {}
    rows = [
        CandidateRow(
            id=item["id"],
            included=item["included"],
            tokens=item["tokens"],
            code=item["reason"],
            reason=REASONS.get(item["reason"], Reason(item["reason"]).label),
            rule="" if item["included"] else rule(item, assistant),
            score=item.get("score"),
            **rows_by_id.get(item["id"], {"what": item["kind"]}),
        )
        for item in items
    ]
    return sorted(rows, key=lambda row: (not row.included, -(row.score or 0)))


def tallied(rows: Sequence[CandidateRow]) -> list[Tally]:
    counts = Counter((row.what, row.included, row.code, row.reason, row.rule) for row in rows)
    return [
        Tally(what=what, included=included, code=code, reason=reason, rule=rule, count=count)
        for (what, included, code, reason, rule), count in counts.items()
    ]


def rule(item: Mapping[str, Any], assistant: Assistant) -> str:
    """What kept it out, with the numbers of the assistant as it is set today."""
    if item["reason"] == Reason.EXPIRED:
        return "What was true for a while is not told after it."
    if item["reason"] != Reason.OVER_BUDGET:
        return Reason(item["reason"]).rule
    if "score" in item:
        return f"What is recalled beside a message takes at most {assistant.recall_tokens:,} tokens, best first."
    match item["kind"]:
        case "memory":
            return f"The memory takes at most {assistant.memory_tokens:,} tokens and {LONGEST_MEMORY:,} characters."
        case "topic":
            return f"Open threads take at most {assistant.open_threads_tokens:,} tokens."
        case "summary":
            today, last = assistant.today_tokens, assistant.last_conversation_tokens
            return f"Today takes at most {today:,} tokens, the last conversation {last:,}."
    return "What stands beside a message goes where the message needs the room itself."


def _candidate_rows(ids: Sequence[UUID], *, shown: bool) -> dict[str, dict[str, Any]]:
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
            "id", Value(what), Left(text, EXCERPT_CHARS) if shown else Value(""), message, thread
        )
        for model, what, text, message, thread in sources
    ]
    return {
        str(id): {"what": what, "exists": True, "excerpt": excerpt, "message": message, "thread": thread}
        for id, what, excerpt, message, thread in first.union(*others, all=True)
    }
