"""The objects that REST, SSE and WebSocket share. Names are those of the contract."""

import json
from datetime import UTC, datetime
from typing import Any

from django.db.models import Q, QuerySet

from artifacts.models import Artifact
from conversations.models import ContextSnapshot, Message, Reply, Thread

REQUEST_FIELDS = ("id", "reply_id", "message_history_count", "total_tokens")
"""Of a snapshot, for ``reply_object``."""


def moment(at: datetime | None) -> str | None:
    """ISO 8601 in UTC."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z") if at else None


def frame(envelope: dict[str, Any]) -> str:
    """The JSON of one event, the same whether it comes from memory or from PostgreSQL, which orders keys its own way."""
    return json.dumps(envelope, sort_keys=True)


def thread_object(thread: Thread, running: Reply | None) -> dict[str, Any]:
    return {
        "id": str(thread.id),
        "title": thread.title,
        "assistant": thread.assistant.slug,
        "created_at": moment(thread.created_at),
        "updated_at": moment(thread.updated_at),
        "message_count": thread.message_count,
        "running_reply": str(running.id) if running else None,
    }


def artifact_note(artifact: Artifact) -> dict[str, Any]:
    """An artifact as events tell of it."""
    return {
        "id": str(artifact.id),
        "title": artifact.title,
        "kind": str(artifact.kind),
        "language": artifact.language,
        "version": artifact.version,
    }


def message_object(message: Message, reply: dict[str, Any] | None = None) -> dict[str, Any]:
    """``reply``: on a user turn its newest reply, on an assistant turn the reply that wrote it."""
    return {
        "id": str(message.id),
        "position": message.position,
        "role": str(message.role),
        "content": message.blocks,
        "text": message.text,
        "status": str(message.status),
        "created_at": moment(message.created_at),
        "token_count": message.token_count,
        "client_message_id": message.client_message_id,
        "reply": reply,
    }


def reply_object(reply: Reply, request: ContextSnapshot | None = None) -> dict[str, Any]:
    return {
        "id": str(reply.id),
        "status": str(reply.status),
        "error": reply.error,
        "request": str(request.id) if request else None,
        "message_history_count": request.message_history_count if request else None,
        "total_tokens": request.total_tokens if request else None,
    }


def reply_with_request(reply: Reply) -> dict[str, Any]:
    """The reply object with the newest model request of the reply."""
    return reply_object(reply, newest_request(reply))


def newest_request(reply: Reply) -> ContextSnapshot | None:
    return _answering().filter(reply=reply).order_by("-round").first()


def messages_with_replies(messages: list[Message]) -> list[dict[str, Any]]:
    """Message objects with their replies, in two statements however many there are."""
    turns = [message.id for message in messages if message.role == Message.Role.USER]
    wrote = [message.reply_id for message in messages if message.reply_id]
    asked = Q(thread__in={message.thread_id for message in messages}, user_message__in=turns)
    replies = list(Reply.objects.filter(asked | Q(id__in=wrote)).order_by("created_at"))
    requests = {snapshot.reply_id: snapshot for snapshot in _answering().filter(reply__in=replies).order_by("round")}
    newest = {reply.user_message_id: reply for reply in replies}
    by_id = {reply.id: reply for reply in replies}

    def reply_of(message: Message) -> dict[str, Any] | None:
        reply = by_id.get(message.reply_id) if message.reply_id else newest.get(message.id)
        return reply_object(reply, requests.get(reply.id)) if reply else None

    return [message_object(message, reply_of(message)) for message in messages]


def _answering() -> QuerySet[ContextSnapshot]:
    """The requests that replies are made of; a reply may also have asked a model for a contextualised query."""
    return ContextSnapshot.objects.exclude(purpose=ContextSnapshot.Purpose.REWRITE).only(*REQUEST_FIELDS)
