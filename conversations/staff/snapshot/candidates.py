"""Memories, topics, summaries, artifacts and recalled turns that a request was told of or might have been, as of now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import UUIDField, Value
from django.db.models.functions import Cast, Left
from django.urls import reverse
from django.utils.translation import gettext

from conversations.context.reasons import Reason
from conversations.context.record.fates import forms_of
from conversations.context.record.snapshot_shapes import FateAnswer
from conversations.context.sources import Source, all_sources, source_of
from conversations.models import Assistant, Message
from conversations.runtime.wording import counted

EXCERPT_CHARS = 300
USES = {"memory": "admin:memory_memory_uses", "message": "admin:conversations_message_uses"}
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
    uses: str = ""
    """The page of the requests that held it."""


@dataclass(frozen=True, kw_only=True)
class Tally:
    """What has the same fate, such as ``3 memories``."""

    what: str
    included: bool
    code: str
    reason: str
    rule: str = ""


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
            reason=gettext(Reason(item["reason"]).item_label),
            rule="" if item["included"] else rule(Reason(item["reason"]), source_of(item), assistant),
            score=item.get("score"),
            replaced_by=item.get("replaced_by"),
            uses=reverse(USES[item["kind"]], args=[item["id"]]) if item["kind"] in USES else "",
            passages=[_passage_row(part, texts.get(item["id"], "")) for part in item.get("passages", ())],
            **rows_by_id.get(item["id"], {"what": gettext(item["kind"])}),
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


def tallied(fates: Sequence[FateAnswer], assistant: Assistant) -> list[Tally]:
    """What the sources hold; of turns in their place and of files the page tells elsewhere."""
    sources = {source.name: source for source in all_sources()}
    return [
        Tally(
            what=counted(*forms_of(fate["kind"]), fate["count"]),
            included=fate["included"],
            code=reason.value,
            reason=gettext(reason.item_label),
            rule="" if fate["included"] else rule(reason, sources.get(fate["source"]), assistant),
        )
        for fate in sorted(fates, key=lambda fate: not fate["included"])
        if fate["source"]
        for reason in [Reason(fate["reason"])]
    ]


def rule(reason: Reason, source: Source[Any] | None, assistant: Assistant) -> str:
    """What kept it out, with the numbers of the assistant as it is set today."""
    if reason is Reason.EXPIRED:
        return gettext("What was true for a while is not told after it.")
    return source.rule(assistant) if source and reason is Reason.OVER_BUDGET else gettext(reason.rule)


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
        str(id): {"what": gettext(what), "exists": True, "excerpt": excerpt, "message": message, "thread": thread}
        for id, what, excerpt, message, thread in first.union(*others, all=True)
    }
