"""What is remembered of the caller: read, added and changed. How it is forgotten is in ``memory.rest.forgetting``."""

import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.authentication import SessionAuthentication
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import threads
from conversations.errors import InvalidMessage, ThreadNotFound
from conversations.models import Message
from conversations.rest.base import APIView, AsyncAPIView, caller, valid
from conversations.rest.pagination import MemoryPagination
from conversations.rest.query_params import switched, words
from conversations.runtime import long_work
from conversations.runtime.db import in_database
from conversations.runtime.long_work import WorkKind
from conversations.runtime.text import clean
from conversations.wire import moment
from memory import forgetting, services
from memory.models import Memory
from memory.rest import serializers as shapes
from memory.tags import user_tag


class MemoryList(APIView):
    pagination_class = MemoryPagination

    @extend_schema(
        responses=shapes.MemoryAnswer(many=True),
        parameters=[
            OpenApiParameter("q", OpenApiTypes.STR, description="Only those that hold all of these words."),
            OpenApiParameter(
                "thread", OpenApiTypes.UUID, description="Only those that come from this thread, or belong to it."
            ),
            OpenApiParameter("tag", OpenApiTypes.STR, description="Only those that have exactly this tag."),
            OpenApiParameter("ended", OpenApiTypes.BOOL, description="`true`: also those that were replaced or ended."),
        ],
    )
    def get(self, request: Request) -> Response:
        """What is remembered of the caller, newest first."""
        thread = request.query_params.get("thread")
        memories = services.memories_of(
            caller(request),
            ended=switched(request, "ended"),
            words=words(request),
            thread=threads.get(caller(request), thread) if thread else None,
        )
        if tag := request.query_params.get("tag"):
            memories = memories.filter(tags__contains=[clean(tag)])
        paginator = self.pagination_class()
        page: list[Memory] = paginator.paginate_queryset(memories, request)
        sources = services.sources_of(caller(request), page)
        return paginator.get_paginated_response([_object(memory, sources) for memory in page])

    @extend_schema(request=shapes.NewMemory, responses={201: shapes.MemoryAnswer})
    def post(self, request: Request) -> Response:
        """Have something remembered."""
        payload = valid(shapes.NewMemory, request)
        by_hand = isinstance(request.successful_authenticator, SessionAuthentication)
        memory = services.remember(
            user=caller(request),
            content=payload["content"],
            tags=_own(request, payload.get("tags", [])),
            origin=Memory.Origin.HAND if by_hand else Memory.Origin.PROGRAM,
            at=timezone.now(),
            valid_until=payload.get("valid_until"),
        )
        return Response(_object(memory, {}), status=201)


class MemoryDetail(AsyncAPIView):
    @extend_schema(responses=shapes.MemoryAnswer)
    async def get(self, request: Request, memory_id: str) -> Response:
        """One memory."""
        return await in_database(self._get)(request, memory_id)

    def _get(self, request: Request, memory_id: str) -> Response:
        return Response(_alone(request, services.memory_of(caller(request), memory_id)))

    @extend_schema(request=shapes.MemoryChange, responses=shapes.MemoryAnswer)
    async def patch(self, request: Request, memory_id: str) -> Response:
        """Correct a memory. Words that came from a conversation are kept as replaced, see `?ended=true`."""
        return await in_database(self._patch)(request, memory_id)

    def _patch(self, request: Request, memory_id: str) -> Response:
        memory = services.memory_of(caller(request), memory_id)
        changes = valid(shapes.MemoryChange, request)
        if "tags" in changes:
            changes["tags"] = _own(request, changes["tags"]) or [user_tag(caller(request).pk)]
        return Response(_alone(request, services.change(memory, at=timezone.now(), **changes)))

    @extend_schema(responses={204: None})
    async def delete(self, request: Request, memory_id: str) -> Response:
        """Forget a memory for good, as `memories/{id}/forget/` does."""
        user = caller(request)
        await long_work.run(
            user.pk,
            WorkKind.CHANGE,
            lambda: forgetting.forget_memory(user, services.memory_of(user, memory_id).id),
        )
        return Response(status=204)


def source_object(turn: Message) -> dict[str, Any]:
    return {
        "message": str(turn.id),
        "thread": str(turn.thread_id),
        "position": turn.position,
        "created_at": moment(turn.created_at),
    }


def source_objects(ids: Iterable[uuid.UUID], turns: Mapping[uuid.UUID, Message]) -> list[dict[str, Any]]:
    """Of those that are still there, in order."""
    return [source_object(turns[id]) for id in ids if id in turns]


def _object(memory: Memory, turns: Mapping[uuid.UUID, Message]) -> dict[str, Any]:
    sources = source_objects(memory.sources, turns)
    return {
        "id": str(memory.id),
        "content": memory.content,
        "tags": memory.tags,
        "origin": str(memory.origin),
        "source": sources[0] if sources else None,
        "sources": sources,
        "created_at": moment(memory.created_at),
        "valid_from": moment(memory.valid_from),
        "valid_until": moment(memory.valid_until),
        "ended_at": moment(memory.ended_at),
        "superseded_by": str(memory.superseded_by_id) if memory.superseded_by_id else None,
    }


def _alone(request: Request, memory: Memory) -> dict[str, Any]:
    return _object(memory, services.sources_of(caller(request), [memory]))


def _own(request: Request, tags: list[str]) -> list[str]:
    """The tags, without repetitions. Raises ``InvalidMessage`` where one names somebody else, or a thread of somebody else."""
    for tag in tags:
        kind, _, named = tag.partition(":")
        if kind == "user" and tag != user_tag(caller(request).pk):
            raise InvalidMessage(
                f"Your own tag is `{user_tag(caller(request).pk)}`; another user's can't be given.", field="tags"
            )
        if kind == "thread":
            try:
                threads.get(caller(request), named)
            except ThreadNotFound:
                raise InvalidMessage("A `thread:` tag must hold the id of one of your threads.", field="tags") from None
    return list(dict.fromkeys(tags))
