"""The objects that REST, SSE and WebSocket share. Names are those of the contract."""

import json
from datetime import UTC, datetime
from typing import Any

from django.db.models import F, FilteredRelation, OuterRef, Q, QuerySet, Subquery

from artifacts.models import Artifact, ArtifactVersion
from conversations.errors import OpenbookError, describe
from conversations.models import ContextSnapshot, Message, Reply, Thread
from conversations.providers import refusals
from conversations.replies import endings

REQUEST_FIELDS = ("id", "reply_id", "message_history_count", "total_tokens", "model", "fallback_for", "stop_details")
"""Of a snapshot, for ``reply_object``."""


def moment(at: datetime | None) -> str | None:
    """ISO 8601 in UTC."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z") if at else None


def frame(envelope: dict[str, Any]) -> str:
    """The JSON of one event, the same whether it comes from memory or from PostgreSQL, which orders keys its own way."""
    return json.dumps(envelope, sort_keys=True)


def error_event(error: OpenbookError) -> bytes:
    """The last event of a stream that ends early."""
    return f"event: error\ndata: {frame(describe(error))}\n\n".encode()


def thread_object(thread: Thread, running: Reply | None) -> dict[str, Any]:
    return {
        "id": str(thread.id),
        "title": thread.title,
        "assistant": thread.assistant.slug,
        "created_at": moment(thread.created_at),
        "updated_at": moment(thread.updated_at),
        "message_count": thread.message_count,
        "running_reply": str(running.id) if running else None,
        "remembers": thread.remembers,
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


def reply_object(reply: Reply, request: ContextSnapshot | None = None, *, fallback_model: str = "") -> dict[str, Any]:
    """``fallback_model`` is the assistant's, which can be asked where another one declined."""
    refused = reply.stop_reason == refusals.STOP_REASON
    other = fallback_model if refused and request and request.model != fallback_model else ""
    ways = endings.ways(
        status=str(reply.status),
        stop_reason=reply.stop_reason,
        error_code=reply.error["code"] if reply.error else "",
        silent=reply.user_message_id is None,
        fallback=bool(other),
    )
    return {
        "id": str(reply.id),
        "status": str(reply.status),
        "error": reply.error,
        "stop_reason": reply.stop_reason,
        "refusal": _refusal(reply, request) if refused else None,
        "ways": [way.value for way in ways],
        "fallback_model": other or None,
        "model": (request.model if request else reply.model) or None,
        "fallback_for": (request.fallback_for if request else "") or None,
        "continues": str(reply.continues_id) if reply.continues_id else None,
        "ended_at": moment(reply.ended_at),
        "request": str(request.id) if request else None,
        "message_history_count": request.message_history_count if request else None,
        "total_tokens": request.total_tokens if request else None,
    }


def reply_with_request(reply: Reply) -> dict[str, Any]:
    """The reply object with the newest model request of the reply."""
    return reply_object(reply, newest_request(reply), fallback_model=reply.thread.assistant.fallback_model)


def newest_request(reply: Reply) -> ContextSnapshot | None:
    return _answering().filter(reply=reply).order_by("-round").first()


def artifact_rows(artifacts: QuerySet[Artifact], *, whole: bool = False) -> QuerySet[Any]:
    """Artifacts with what their newest version says of itself, as ``artifact_object`` reads it."""
    newest = FilteredRelation("versions", condition=Q(versions__number=F("version")))
    content = {"content": F("newest__content")} if whole else {}
    return artifacts.annotate(newest=newest).annotate(
        **content,
        size=F("newest__size"),
        origin=F("newest__origin"),
        reply=F("newest__reply"),
        message=_maker("newest__message", "newest__reply"),
    )


def version_rows(versions: QuerySet[ArtifactVersion], *, whole: bool = False) -> QuerySet[Any]:
    """Versions with the turn that made them, as ``version_object`` reads them."""
    rows = versions.select_related("artifact").defer(*([] if whole else ["content"]))
    return rows.annotate(maker=_maker("message_id", "reply_id"))


def artifact_object(artifact: Any, *, whole: bool = False) -> dict[str, Any]:
    """Of a row of ``artifact_rows``, ``whole`` with its content."""
    return {
        "id": str(artifact.id),
        "thread": str(artifact.thread_id),
        "title": artifact.title,
        "kind": str(artifact.kind),
        "language": artifact.language,
        **({"content": artifact.content} if whole else {}),
        "version": artifact.version,
        "size": artifact.size,
        "created_at": moment(artifact.created_at),
        "updated_at": moment(artifact.updated_at),
        "deleted_at": moment(artifact.deleted_at),
        "message": _text(artifact.message),
        "reply": _text(artifact.reply),
        "preset": artifact.preset,
        "after_position": artifact.after_position,
        "origin": str(artifact.origin),
    }


def version_object(version: Any, *, whole: bool = False) -> dict[str, Any]:
    """Of a row of ``version_rows``, ``whole`` with its content."""
    return {
        "title": version.artifact.title,
        "kind": str(version.artifact.kind),
        **({"content": version.content} if whole else {}),
        "version": version.number,
        "size": version.size,
        "origin": str(version.origin),
        "created_at": moment(version.created_at),
        "message": _text(version.maker),
        "reply": _text(version.reply_id),
    }


def _maker(message: str, reply: str) -> Subquery:
    """The turn that made a version. One that was saved in the middle of a reply names only the reply, which names the turn."""
    turns = Message.objects.filter(
        Q(id=OuterRef(message)) | Q(reply=OuterRef(reply)), thread=OuterRef("thread"), is_active=True
    )
    return Subquery(turns.values("id")[:1])


def _text(id: Any) -> str | None:
    return str(id) if id else None


def messages_with_replies(messages: list[Message]) -> list[dict[str, Any]]:
    """Message objects with their replies, in two statements however many there are."""
    turns = [message.id for message in messages if message.role == Message.Role.USER]
    wrote = [message.reply_id for message in messages if message.reply_id]
    asked = Q(thread__in={message.thread_id for message in messages}, user_message__in=turns)
    fallback = F("thread__assistant__fallback_model")
    replies = list(Reply.objects.filter(asked | Q(id__in=wrote)).annotate(fallback=fallback).order_by("created_at"))
    requests = {snapshot.reply_id: snapshot for snapshot in _answering().filter(reply__in=replies).order_by("round")}
    newest = {reply.user_message_id: reply for reply in replies}
    by_id = {reply.id: reply for reply in replies}

    def reply_of(message: Message) -> dict[str, Any] | None:
        reply = by_id.get(message.reply_id) if message.reply_id else newest.get(message.id)
        return reply_object(reply, requests.get(reply.id), fallback_model=reply.fallback) if reply else None

    return [message_object(message, reply_of(message)) for message in messages]


def _refusal(reply: Reply, request: ContextSnapshot | None) -> dict[str, Any]:
    """Why the model declined; in words that do for whoever reads them, as its error has them where nothing had been written."""
    details = request.stop_details if request else None
    words = reply.error["message"] if reply.error else refusals.sentence(details, begun=True)
    return {"category": refusals.category_of(details), "message": words}


def _answering() -> QuerySet[ContextSnapshot]:
    """The requests that replies are made of; a reply may also have asked a model for a contextualised query."""
    return ContextSnapshot.objects.exclude(purpose=ContextSnapshot.Purpose.REWRITE).only(*REQUEST_FIELDS)
