"""Everything of a user as a document, in pieces: it is never in memory as a whole, and no connection is held between them."""

import json
import uuid
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Any

from django.contrib.auth.models import User
from django.db.models import F, Model, OuterRef, Q, QuerySet, Subquery

from artifacts.models import Artifact, ArtifactVersion
from conversations.db import in_database
from conversations.exchange import FORMAT
from conversations.models import Message, Thread
from conversations.threads import messages_of
from conversations.wire import moment
from memory.models import Memory

PAGE = 200
"""Threads, turns or memories that are read at once."""

TURN_FIELDS = ("id", "thread_id", "position", "role", "content", "text", "created_at", "status")


async def export(user: User) -> AsyncIterator[bytes]:
    """The document in UTF-8: threads oldest first with the turns of their active path, artifacts and memories."""
    yield f'{{"format": "{FORMAT}", "threads": ['.encode()
    between, after = "", None
    while threads := await in_database(_threads)(user, after):
        for group in grouped(threads):
            async for piece in _group(group):
                yield (between + piece).encode()
                between = ""
            between = ",\n"
        after = threads[-1]
    yield b'], "memories": ['
    between, memory = "", None
    while memories := await in_database(_memories)(user, memory):
        yield (between + _listed(map(_memory_object, memories))).encode()
        between, memory = ",\n", memories[-1]
    yield b"]}\n"


def grouped(threads: Iterable[Thread]) -> Iterator[list[Thread]]:
    """Neighbouring threads whose turns are read together: a page at most, or one long thread."""
    group: list[Thread] = []
    for thread in threads:
        if group and sum(each.message_count for each in group) + thread.message_count > PAGE:
            yield group
            group = []
        group.append(thread)
    if group:
        yield group


async def _group(threads: list[Thread]) -> AsyncIterator[str]:
    artifacts = await in_database(_artifacts)(threads)
    if len(threads) > 1:
        turns = await in_database(_turns)(threads)
        yield ",\n".join(
            _opening(thread) + _listed(turns.get(thread.id, [])) + _closing(artifacts.get(thread.id, []))
            for thread in threads
        )
        return
    (thread,) = threads
    yield _opening(thread)
    between = ""
    for position in range(1, thread.last_position + 1, PAGE):
        if page := await in_database(_page)(thread, position):
            yield between + _listed(page)
            between = ",\n"
    yield _closing(artifacts.get(thread.id, []))


def _threads(user: User, after: Thread | None) -> list[Thread]:
    found = Thread.objects.filter(user=user).select_related("assistant")
    return list(_next(found, after))


def _memories(user: User, after: Memory | None) -> list[Memory]:
    source = Message.objects.filter(id=OuterRef("source_id"), is_active=True)
    return list(_next(Memory.objects.filter(user=user).annotate(exported_source=Subquery(source.values("id"))), after))


def _next[M: Model](rows: QuerySet[M], after: Any) -> QuerySet[M]:
    if after:
        rows = rows.filter(Q(created_at__gt=after.created_at) | Q(created_at=after.created_at, id__gt=after.id))
    return rows.order_by("created_at", "id")[:PAGE]


def _turns(threads: list[Thread]) -> dict[uuid.UUID, list[dict[str, Any]]]:
    found: dict[uuid.UUID, list[dict[str, Any]]] = {}
    turns = Message.objects.filter(thread__in=threads, is_active=True).order_by("thread_id", "position")
    for turn in turns.only(*TURN_FIELDS):
        found.setdefault(turn.thread_id, []).append(_turn_object(turn))
    return found


def _page(thread: Thread, position: int) -> list[dict[str, Any]]:
    turns = messages_of(thread).filter(position__gte=position, position__lt=position + PAGE)
    return [_turn_object(turn) for turn in turns.only(*TURN_FIELDS)]


def _artifacts(threads: list[Thread]) -> dict[uuid.UUID, list[dict[str, Any]]]:
    newest = ArtifactVersion.objects.filter(artifact=OuterRef("id"), number=OuterRef("version"))
    maker = Message.objects.filter(
        Q(id=OuterRef("versions__message_id")) | Q(reply=OuterRef("versions__reply_id")), is_active=True
    )
    rows = (
        Artifact.objects.filter(thread__in=threads, deleted_at=None, versions__number=F("version"))
        .annotate(content=Subquery(newest.values("content")[:1]), maker=Subquery(maker.values("id")[:1]))
        .order_by("created_at", "id")
    )
    found: dict[uuid.UUID, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row.thread_id, []).append(_artifact_object(row))
    return found


def _opening(thread: Thread) -> str:
    values = {
        "id": str(thread.id),
        "title": thread.title,
        "assistant": thread.assistant.slug,
        "created_at": moment(thread.created_at),
    }
    return _json(values)[:-1] + ', "messages": ['


def _closing(artifacts: Iterable[dict[str, Any]]) -> str:
    return f'], "artifacts": [{_listed(artifacts)}]}}'


def _turn_object(turn: Message) -> dict[str, Any]:
    status = {} if turn.status == Message.Status.COMPLETE else {"status": turn.status}
    kept = {"id": str(turn.id), "role": turn.role, "content": turn.blocks}
    return kept | {"created_at": moment(turn.created_at)} | status


def _artifact_object(artifact: Any) -> dict[str, Any]:
    return {
        "id": str(artifact.id),
        "title": artifact.title,
        "kind": artifact.kind,
        "content": artifact.content or "",
        "created_at": moment(artifact.created_at),
        "message": str(artifact.maker) if artifact.maker else None,
    }


def _memory_object(memory: Any) -> dict[str, Any]:
    return {
        "id": str(memory.id),
        "content": memory.content,
        "tags": memory.tags,
        "source": str(memory.exported_source) if memory.exported_source else None,
        "created_at": moment(memory.created_at),
        "valid_until": moment(memory.valid_until),
    }


def _listed(values: Iterable[dict[str, Any]]) -> str:
    return ",\n".join(map(_json, values))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
