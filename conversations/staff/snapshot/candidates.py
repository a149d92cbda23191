"""Memories, topics, summaries, artifacts and recalled turns that a request was told of or might have been, as of now."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import UUIDField, Value
from django.db.models.functions import Cast, Left

from conversations.context.reasons import Reason
from conversations.context.sources import all_sources, source_of
from conversations.models import Assistant, Message

EXCERPT_CHARS = 300
PLURALS = {"memory": "memories", "summary": "summaries"}
NOWHERE = Cast(Value(None), UUIDField())


@dataclass(frozen=True, kw_only=True)
class PassageRow:
    """Of a turn, from one character to before another. ``text`` is that of today, empty where it may not be shown."""

    start: int
    end: int
    included: bool
    tokens: int
    text: str


@dataclass(frozen=True, kw_only=True)
class CandidateRow:
    """``excerpt`` is the text of today, empty where it may not be shown; ``message`` and ``thread`` are where it comes from.
    ``score`` is how much it bears on the message, beside the others; what stands all session long has none. ``replaced_by`` is
    the note that holds instead of what was noted from it."""

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
    passages: Sequence[PassageRow] = ()
    replaced_by: str | None = None


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
    """What each of these items is, those that were given first, and of these what bears most on the message. Two queries,
    whatever their number. Without ``shown`` what they say stays in the database."""
    rows_by_id = _candidate_rows([UUID(item["id"]) for item in items], shown=shown) if items else {}
    by_passages = [item["id"] for item in items if item.get("passages")]
    texts = _texts_of(by_passages) if shown and by_passages else {}
    rows = [
        CandidateRow(
            id=item["id"],
            included=item["included"],
            tokens=item["tokens"],
            code=item["reason"],
            reason=Reason(item["reason"]).item_label,
            rule="" if item["included"] else rule(item, assistant),
            score=item.get("score"),
            replaced_by=item.get("replaced_by"),
            passages=[_passage_row(part, texts.get(item["id"], "")) for part in item.get("passages", ())],
            **rows_by_id.get(item["id"], {"what": item["kind"]}),
        )
        for item in items
    ]
    return sorted(rows, key=lambda row: (not row.included, -(row.score or 0)))


def _texts_of(ids: Sequence[str]) -> dict[str, str]:
    return {str(id): text for id, text in Message.objects.filter(id__in=ids).values_list("id", "text")}


def _passage_row(part: Mapping[str, Any], text: str) -> PassageRow:
    start, end = part["start"], part["end"]
    return PassageRow(
        start=start, end=end, included=part["included"], tokens=part["tokens"], text=text[start:end] if text else ""
    )


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
    source = source_of(item)
    return source.rule(assistant) if source else Reason(item["reason"]).rule


def _candidate_rows(ids: Sequence[UUID], *, shown: bool) -> dict[str, dict[str, Any]]:
    kinds = {kind.model: kind for source in all_sources() for kind in source.kinds}
    first, *others = [
        model._default_manager.filter(id__in=ids).values_list(
            "id",
            Value(kind.what),
            Left(kind.text, EXCERPT_CHARS) if shown else Value(""),
            kind.turn or NOWHERE,
            kind.thread or NOWHERE,
        )
        for model, kind in kinds.items()
    ]
    return {
        str(id): {"what": what, "exists": True, "excerpt": excerpt, "message": message, "thread": thread}
        for id, what, excerpt, message, thread in first.union(*others, all=True)
    }
