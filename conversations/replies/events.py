"""The event log of replies, in PostgreSQL: what sockets and SSE streams send is read from here and nowhere else."""

import json
import os
import secrets
import socket
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from conversations import wire
from conversations.models import Message, Reply, ReplyEvent

OWNER = f"{socket.gethostname()[:60]}.{os.getpid()}.{secrets.token_hex(4)}"
"""This process, as the owner of the replies that it runs."""
LEASE = timedelta(seconds=8)
KEPT = timedelta(hours=1)
PURGED_AT_ONCE = 500
ENDINGS = ("reply.completed", "reply.stopped", "reply.interrupted", "reply.failed")


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One entry of a reply's log, as every reader gets it."""

    reply: uuid.UUID
    seq: int
    type: str
    data: dict[str, Any]
    at: datetime

    def envelope(self) -> dict[str, Any]:
        return {
            "type": self.type,
            "reply": str(self.reply),
            "seq": self.seq,
            "at": wire.moment(self.at),
            "data": self.data,
        }

    @property
    def is_last(self) -> bool:
        return self.type in ENDINGS


# One statement for all running replies of a process: renew their leases, append what they produced, and learn which of
# them still belong to this process and which are asked to stop. A reply that was taken away gets no event any more.
BEAT = """
WITH mine AS (
    UPDATE conversations_reply SET lease_until = now() + %(lease)s
    WHERE id = ANY(%(replies)s) AND owner = %(owner)s AND status = 'running'
    RETURNING id, stop_requested_at IS NOT NULL AS stop
), written AS (
    INSERT INTO conversations_replyevent (reply_id, seq, type, data, at)
    SELECT event.* FROM unnest(
        %(ids)s::uuid[], %(seqs)s::int[], %(types)s::text[], %(data)s::jsonb[], %(times)s::timestamptz[]
    ) AS event (reply_id, seq, type, data, at)
    WHERE event.reply_id IN (SELECT id FROM mine)
    ON CONFLICT DO NOTHING
)
SELECT id, stop FROM mine
"""


def beat(*, replies: list[uuid.UUID], events: list[Event]) -> dict[uuid.UUID, bool]:
    """Append events and renew leases. Returns the replies that are still this process's: id to "is asked to stop"."""
    values: dict[str, Any] = {
        "lease": LEASE,
        "owner": OWNER,
        "replies": replies,
        "ids": [event.reply for event in events],
        "seqs": [event.seq for event in events],
        "types": [event.type for event in events],
        "data": [json.dumps(event.data) for event in events],
        "times": [event.at for event in events],
    }
    with connection.cursor() as cursor:
        cursor.execute(BEAT, values)
        return dict(cursor.fetchall())


def append(events: Iterable[Event]) -> None:
    """Those that are stored already – a write whose answer got lost – stay as they are."""
    rows = [
        ReplyEvent(reply_id=event.reply, seq=event.seq, type=event.type, data=event.data, at=event.at)
        for event in events
    ]
    ReplyEvent.objects.bulk_create(rows, ignore_conflicts=True)


def read(reply_id: uuid.UUID, after: int) -> list[Event]:
    """The events after ``after`` that are stored. Once they are purged, the whole text as one delta and the ending."""
    stored = ReplyEvent.objects.filter(reply_id=reply_id, seq__gt=after).order_by("seq")
    events = [Event(reply=reply_id, seq=row.seq, type=row.type, data=row.data, at=row.at) for row in stored]
    if events:
        return events
    reply = Reply.objects.filter(id=reply_id).first()
    if reply is None or reply.status == Reply.Status.RUNNING or ReplyEvent.objects.filter(reply_id=reply_id).exists():
        return []
    return _summary(reply)


def text_of(reply_id: uuid.UUID) -> str:
    """What the model has said so far."""
    deltas = ReplyEvent.objects.filter(reply_id=reply_id, type="reply.delta").order_by("seq")
    return "".join(data["text"] for data in deltas.values_list("data", flat=True))


def last_seq(reply_id: uuid.UUID) -> int:
    last = ReplyEvent.objects.filter(reply_id=reply_id).order_by("-seq").values_list("seq", flat=True).first()
    return last or 0


def ending(reply: Reply, message: Message | None, *, seq: int) -> Event:
    """The last event of a reply that has ended; ``message`` is the assistant turn, where there is one."""
    described = wire.reply_with_request(reply)
    data = {
        "thread": str(reply.thread_id),
        "message": wire.message_object(message, described) if message else None,
        "user_message": str(reply.user_message_id),
        "usage": reply.usage,
        "stop_reason": reply.stop_reason,
        "request": described["request"],
    }
    if reply.error:
        data["error"] = reply.error
    return Event(
        reply=reply.id, seq=seq, type=f"reply.{reply.status}", data=data, at=reply.ended_at or reply.created_at
    )


def purge() -> int:
    """Forget the events of replies that ended long enough ago; the stored turn says the same. Returns how many."""
    ended = Reply.objects.filter(ended_at__lt=timezone.now() - KEPT, events__seq=1).values_list("id", flat=True)
    deleted, _ = ReplyEvent.objects.filter(reply_id__in=list(ended[:PURGED_AT_ONCE])).delete()
    return deleted


def _summary(reply: Reply) -> list[Event]:
    message = Message.objects.filter(reply=reply).first()
    if message is None:
        return [ending(reply, None, seq=1)]
    data = {"text": message.text, "whole": True}
    return [
        Event(reply=reply.id, seq=1, type="reply.delta", data=data, at=message.created_at),
        ending(reply, message, seq=2),
    ]
