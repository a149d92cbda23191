"""What stands for a turn once it is no longer sent: the summary of its part, and what is remembered of it."""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Model, Q, QuerySet, Value
from django.db.models.functions import Left
from django.urls import reverse

from conversations.models import ContextBlock, ContextSnapshot, Message, Thread
from conversations.staff import display
from conversations.staff.trace import trace_reads
from memory.models import Memory, ThreadSummary, Topic

GIVEN_SHOWN = 5
THREADS_LOOKED_AT, REQUESTS_LOOKED_AT = 20, 1_000
EXCERPT_CHARS = 300


@dataclass(frozen=True, kw_only=True)
class RequestLink:
    """A request that was given something, in its thread."""

    id: UUID
    thread: UUID
    at: datetime


@dataclass(frozen=True, kw_only=True)
class StandIn:
    """What tells of the turn now. ``given`` are requests that it was given to, the newest first; ``stands``
    tells whether it still does."""

    kind: str
    id: UUID
    model: str
    state: str
    stands: bool
    excerpt: str = ""
    given: Sequence[RequestLink] = ()

    @property
    def url(self) -> str:
        return reverse(f"admin:{self.model}_change", args=[self.id])

    @property
    def shown(self) -> Sequence[RequestLink]:
        return self.given[:GIVEN_SHOWN]


def covered(stand_ins: Sequence[StandIn]) -> str:
    """What stands for the turn now. Pure."""
    kinds = [one.kind for one in stand_ins if one.stands]
    rows = [words for kind, words in (("summary", "A summary covers it"),) if kind in kinds]
    resting = [
        display.with_noun(kinds.count(kind), kind) if kind == "topic" else _memories(kinds.count(kind))
        for kind in ("memory", "topic")
        if kind in kinds
    ]
    if resting:
        many = sum(kind in ("memory", "topic") for kind in kinds) > 1
        rows.append(f"{' and '.join(resting)} {'rest' if many else 'rests'} on it")
    return f"{'; '.join(rows)}." if rows else "No summary covers it, and no memory rests on it."


def _memories(count: int) -> str:
    return "1 memory" if count == 1 else f"{count:,} memories"


def stand_ins_of(message: Message, *, shown: bool) -> list[StandIn]:
    """The summary of its part, memories and topics that rest on it, and the turn itself where another thread was given it."""
    thread, position = message.thread, message.position
    parts = ThreadSummary.objects.filter(thread=thread, first_position__lte=position, last_position__gte=position)
    resting = {"user": thread.user_id, "sources__contains": [message.id]}
    memories, topics = Memory.objects.filter(**resting), Topic.objects.filter(**resting)
    found = [
        *(
            ("summary", part.id, "memory_threadsummary", *part_state(part), excerpt)
            for part, excerpt in excerpted(parts.exclude(text=""), "text", shown=shown)
        ),
        *(
            ("memory", memory.id, "memory_memory", *memory_state(memory), excerpt)
            for memory, excerpt in excerpted(memories.order_by("created_at", "id"), "content", shown=shown)
        ),
        *(
            ("topic", topic.id, "memory_topic", *topic_state(topic), excerpt)
            for topic, excerpt in excerpted(topics.order_by("opened_at", "id"), "title", shown=shown)
        ),
    ]
    given = given_to(message, [id for _, id, *_ in found])
    rows = [
        StandIn(
            kind=kind, id=id, model=model, state=state, stands=stands, excerpt=excerpt, given=given.get(str(id), [])
        )
        for kind, id, model, state, stands, excerpt in found
    ]
    elsewhere = [link for link in given.get(str(message.id), []) if link.thread != thread.id]
    if elsewhere:
        itself = "the turn itself, recalled in other threads"
        rows.append(
            StandIn(
                kind="turn", id=message.id, model="conversations_message", state=itself, stands=False, given=elsewhere
            )
        )
    return rows


def excerpted[M: Model](found: QuerySet[M], field: str, *, shown: bool) -> list[tuple[M, str]]:
    """The rows with the beginning of a text, which else stays in the database."""
    excerpt = Left(field, EXCERPT_CHARS) if shown else Value("")
    rows: QuerySet[Any] = found.defer(field).annotate(excerpt=excerpt)
    return [(row, row.excerpt) for row in rows]


def part_state(part: ThreadSummary) -> tuple[str, bool]:
    turns = f"of turns {part.first_position:,} to {part.last_position:,}"
    return (f"{turns}, to be made anew", True) if part.stale_since else (turns, True)


def memory_state(memory: Memory) -> tuple[str, bool]:
    if memory.superseded_by_id:
        return "replaced by a newer one", False
    if memory.ended_at:
        return f"ended {display.moment(memory.ended_at)}", False
    return "holds", True


def topic_state(topic: Topic) -> tuple[str, bool]:
    return (f"resolved {display.moment(topic.resolved_at)}", False) if topic.resolved_at else ("open", True)


def given_to(message: Message, ids: Sequence[UUID]) -> Mapping[str, list[RequestLink]]:
    """The newest of the person's requests since the turn was said that were given one of these, or the turn itself; by id.

    Looks at the threads that were written to last, and at so many of their requests.
    """
    threads = Thread.objects.filter(user=message.thread.user_id).order_by("-updated_at").values("id")
    since = ContextSnapshot.objects.filter(
        thread__in=threads[:THREADS_LOOKED_AT], created_at__gte=message.created_at, purpose__in=trace_reads.REPLYING
    )
    looked_at = since.order_by("-created_at").values("id")[:REQUESTS_LOOKED_AT]
    wanted = [str(id) for id in [message.id, *ids]]
    named = standing_accounts(looked_at, [str(id) for id in ids]) if ids else {}
    recalled = Q()
    for id in wanted:
        recalled |= Q(recalled__contains=[{"id": id, "included": True}])
    rows = ContextSnapshot.objects.filter(Q(id__in=looked_at) & (recalled | Q(items__in=list(named))))
    given: defaultdict[str, list[RequestLink]] = defaultdict(list)
    for pk, thread, at, items, beside in rows.order_by("-created_at", "-id").values_list(
        "id", "thread", "created_at", "items", "recalled"
    ):
        told = {item["id"] for item in beside or [] if item["included"]} | named.get(bytes(items or b""), set())
        for id in told.intersection(wanted):
            given[id].append(RequestLink(id=pk, thread=thread, at=at))
    return given


def standing_accounts(requests: QuerySet[ContextSnapshot, Any], ids: Collection[str]) -> dict[bytes, set[str]]:
    """Which of these ids the tiers of these requests held, by the digest of their account."""
    digests = ContextSnapshot.objects.filter(id__in=requests, items__isnull=False).values("items").distinct()
    threads = ContextSnapshot.objects.filter(id__in=requests).values("thread").distinct()
    naming = Q()
    for id in ids:
        naming |= Q(text__contains=id)
    blocks = ContextBlock.objects.filter(naming, thread__in=threads, sha256__in=digests)
    return {
        bytes(digest): {item["id"] for item in json.loads(text) if item["included"]}.intersection(ids)
        for digest, text in blocks.values_list("sha256", "text")
    }
