"""The event log of replies, in PostgreSQL: what sockets and SSE streams send is read from here and nowhere else."""

import json
import os
import secrets
import socket
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate, chain
from typing import Any, cast

from django.db import connection

from artifacts import services
from conversations import wire
from conversations.context.record.usage import usage_answer
from conversations.models import ContextSnapshot, Message, Reply, ReplyEvent, Thread
from conversations.runtime.shapes import fill, moment
from conversations.runtime.sql_files import read_statements
from conversations.threads import paths
from conversations.wire.artifacts import artifact_note
from conversations.wire.events import (
    ArtifactRequestedData,
    Envelope,
    MessageSavedData,
    ReplyBrokenData,
    ReplyDeltaData,
    ReplyEndedData,
)

OWNER = f"{socket.gethostname()[:60]}.{os.getpid()}.{secrets.token_hex(4)}"
"""This process, as the owner of the replies that it runs."""
LEASE = timedelta(seconds=6)
LONGEST_LEASE = timedelta(minutes=1)
"""One that lasts longer was given before the clock was set back: whoever lives has renewed it since."""
BEAT = read_statements(__file__)["beat"]
READ_AT_ONCE = 50
HELD_CHARS = 64 * 1024
"""So many characters of text wait in memory for a reader who doesn't read, and what stands in one event more."""
ENDINGS = ("reply.completed", "reply.stopped", "reply.interrupted", "reply.failed")


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One entry of a reply's log, as every reader gets it."""

    reply: uuid.UUID
    seq: int
    type: str
    data: Mapping[str, Any]
    at: datetime

    def envelope(self) -> Envelope:
        return {
            "type": self.type,
            "reply": str(self.reply),
            "seq": self.seq,
            "at": moment(self.at),
            "data": self.data,
        }

    @property
    def is_last(self) -> bool:
        return self.type in ENDINGS


def data_of[S](event: Event, shape: type[S]) -> S:
    """The data of an event whose type has this shape."""
    return cast("S", event.data)


def beat(*, users: Collection[int], replies: list[uuid.UUID], events: list[Event]) -> dict[uuid.UUID, bool]:
    """Append events and renew leases. Returns the replies that are still this process's: id to "is asked to stop"."""
    values: dict[str, Any] = {
        "lease": LEASE,
        "owner": OWNER,
        "users": list(users),
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


def read_after(user_id: int, reply_id: uuid.UUID, after: int) -> list[Event]:
    """The next events after ``after`` that there are. Once they are purged, the whole text as one delta and the ending."""
    stored = ReplyEvent.objects.filter(user=user_id, reply=reply_id, seq__gt=after)
    rows = _held(list(stored.order_by("seq")[:READ_AT_ONCE]))
    events = [Event(reply=row.reply_id, seq=row.seq, type=row.type, data=row.data, at=row.at) for row in rows]
    if after > 0 and events and not events[-1].is_last:
        return events
    reply = (
        Reply.objects.select_related("thread__assistant")
        .filter(user=user_id, thread__user=user_id, id=reply_id)
        .first()
    )
    if reply is None:
        return []
    if reply.user_message_id:
        reply.user_message = Message.objects.filter(user=user_id, id=reply.user_message_id).first()
    if events and events[-1].is_last:
        events[-1] = _ending(reply, seq=events[-1].seq)
    elif reply.status != Reply.Status.RUNNING and not ReplyEvent.objects.filter(user=user_id, reply=reply_id).exists():
        return _summary(reply)
    return [opening(reply), *events] if after < 1 else events


def _held(rows: Sequence[ReplyEvent]) -> list[ReplyEvent]:
    """The first ones that a reader may keep in memory, at least one."""
    chars = accumulate(len(row.data.get("text", "")) for row in rows)
    return [row for row, before in zip(rows, chain([0], chars), strict=False) if before < HELD_CHARS]


def text_of(user_id: int, reply_id: uuid.UUID) -> str:
    """What the model has said so far."""
    deltas = ReplyEvent.objects.filter(user=user_id, reply=reply_id, type="reply.delta").order_by("seq")
    return "".join(data["text"] for data in deltas.values_list("data", flat=True))


def opening(reply: Reply) -> Event:
    """The first event of a reply. It isn't stored: the turn that it answers says it, or the reply itself."""
    if reply.user_message:
        return saved_event(reply, reply.user_message, reply.thread)
    return requested(reply)


def requested(reply: Reply) -> Event:
    """The first event of a preset's silent work."""
    data: ArtifactRequestedData = {"thread": str(reply.thread_id), "preset": reply.preset}
    return Event(reply=reply.id, seq=1, type="artifact.requested", data=data, at=reply.created_at)


def saved_event(reply: Reply, message: Message, thread: Thread) -> Event:
    """The first event of a reply to a user turn."""
    fresh = wire.reply_object(Reply(id=reply.id, model=reply.model, continues_id=reply.continues_id))
    data: MessageSavedData = {
        "thread": str(thread.id),
        "title": thread.title,
        "message": wire.message_object(message, fresh, paths.versions_of(message)),
    }
    return Event(reply=reply.id, seq=1, type="message.saved", data=data, at=reply.created_at)


def ending(
    reply: Reply,
    message: Message | None,
    request: ContextSnapshot | None,
    *,
    seq: int,
    question_status: str | None,
    fallback_model: str,
) -> Event:
    """The last event of a reply: the assistant turn, where there is one, and the newest model request. Stored without data."""
    described = wire.reply_object(reply, request, fallback_model=fallback_model)
    data = fill(
        ReplyBrokenData if reply.error else ReplyEndedData,
        reply,
        thread=reply.thread_id,
        message=message and wire.message_object(message, described, paths.versions_of(message)),
        user_message=reply.user_message_id,
        user_message_status=question_status,
        reply=described,
        usage=usage_answer(reply.usage),
        request=described["request"],
    )
    if reply.user_message_id is None:
        versions = services.made_by(reply)
        data["artifact"] = artifact_note(versions[-1].artifact) if versions else None
    return Event(
        reply=reply.id, seq=seq, type=f"reply.{reply.status}", data=data, at=reply.ended_at or reply.created_at
    )


def _ending(reply: Reply, *, seq: int) -> Event:
    return ending(
        reply,
        Message.objects.filter(user=reply.user_id, reply=reply).first(),
        wire.newest_request(reply),
        seq=seq,
        question_status=reply.user_message.status if reply.user_message else None,
        fallback_model=reply.thread.assistant.fallback_model,
    )


def _summary(reply: Reply) -> list[Event]:
    message = Message.objects.filter(user=reply.user_id, reply=reply).first()
    if message is None:
        return [_ending(reply, seq=1)]
    data: ReplyDeltaData = {"text": message.text, "whole": True}
    return [
        Event(reply=reply.id, seq=1, type="reply.delta", data=data, at=message.created_at),
        _ending(reply, seq=2),
    ]
