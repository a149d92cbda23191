"""What stands for a turn once it is no longer sent: the summary of its part, and what is remembered of it."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet, Value
from django.db.models.functions import Left
from django.urls import reverse
from django.utils.translation import gettext

from conversations.models import ContextBlock, ContextSnapshot, Message, Thread
from conversations.runtime.wording import counted, filled, joined
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
    standing = Counter(stand_in.kind for stand_in in stand_ins if stand_in.stands)
    memories, topics = standing["memory"], standing["topic"]
    sentences = [gettext("A summary covers it")] if standing["summary"] else []
    if memories or topics:
        named = [counted("{count} memory", "{count} memories", memories)] if memories else []
        named += [display.with_noun(topics, "topic")] if topics else []
        rows, number = joined(named), memories + topics
        sentences.append(
            filled("{rows} rests on it", rows=rows) if number == 1 else filled("{rows} rest on it", rows=rows)
        )
    return f"{'; '.join(sentences)}." if sentences else gettext("No summary covers it, and no memory rests on it.")


def stand_ins_of(message: Message, *, shown: bool) -> list[StandIn]:
    """The summary of its part, memories and topics that rest on it, and the turn itself where another thread was given it."""
    thread, position = message.thread, message.position
    parts = ThreadSummary.objects.filter(thread=thread, first_position__lte=position, last_position__gte=position)
    resting = {"user": thread.user_id, "sources__contains": [message.id]}
    memories, topics = Memory.objects.filter(**resting), Topic.objects.filter(**resting)
    rows = [
        *(("summary", part) for part in excerpted(parts.exclude(text=""), "text", shown=shown)),
        *(("memory", row) for row in excerpted(memories.order_by("created_at", "id"), "content", shown=shown)),
        *(("topic", row) for row in excerpted(topics.order_by("opened_at", "id"), "title", shown=shown)),
    ]
    given = given_to(message, [row.id for _, row in rows])
    stand_ins = [
        StandIn(
            kind=kind,
            id=row.id,
            model=row._meta.label_lower.replace(".", "_"),
            excerpt=row.excerpt,
            state=state_of(row),
            stands=is_standing(row),
            given=given.get(str(row.id), []),
        )
        for kind, row in rows
    ]
    elsewhere = [link for link in given.get(str(message.id), []) if link.thread != thread.id]
    if elsewhere:
        itself = gettext("the turn itself, recalled in other threads")
        stand_ins.append(
            StandIn(
                kind="turn", id=message.id, model="conversations_message", state=itself, stands=False, given=elsewhere
            )
        )
    return stand_ins


def excerpted(rows: QuerySet[Any], field: str, *, shown: bool) -> QuerySet[Any]:
    """The rows with the beginning of a text as ``excerpt``, which else stays in the database."""
    excerpts: QuerySet[Any] = rows.defer(field).annotate(excerpt=Left(field, EXCERPT_CHARS) if shown else Value(""))
    return excerpts


def state_of(row: ThreadSummary | Memory | Topic) -> str:
    match row:
        case ThreadSummary():
            made_anew = gettext(", to be made anew") if row.stale_since else ""
            return filled(
                "of turns {first} to {last}{made_anew}",
                first=row.first_position,
                last=row.last_position,
                made_anew=made_anew,
            )
        case Memory(superseded_by_id=newer) if newer:
            return gettext("replaced by a newer one")
        case Memory():
            return filled("ended {when}", when=display.moment(row.ended_at)) if row.ended_at else gettext("holds")
        case Topic():
            return (
                filled("resolved {when}", when=display.moment(row.resolved_at)) if row.resolved_at else gettext("open")
            )


def is_standing(row: ThreadSummary | Memory | Topic) -> bool:
    """Whether it still tells of the turn. What replaced a memory ended it."""
    match row:
        case Memory():
            return row.ended_at is None
        case Topic():
            return row.resolved_at is None
    return True


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
        given_ids = {item["id"] for item in beside or [] if item["included"]} | named.get(bytes(items or b""), set())
        for id in given_ids.intersection(wanted):
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
