"""Forgetting for good: one memory, one turn, all turns of a thread, or everything. What it would do can be seen before."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import threads
from conversations.models import Thread
from conversations.rest.base import AsyncAPIView, caller, valid
from conversations.runtime import long_work
from conversations.runtime.db import in_database
from conversations.runtime.long_work import WorkKind
from conversations.threads import deletion
from memory import forgetting, services
from memory.forgetting import Clearing, Forgetting
from memory.rest import serializers as shapes


class MemoryForgetting(AsyncAPIView):
    @extend_schema(responses=shapes.ForgettingAnswer)
    async def get(self, request: Request, memory_id: str) -> Response:
        """What forgetting this memory would do. Changes nothing."""
        return await _respond(
            request, lambda user: forgetting.what_memory(user, services.memory_of(user, memory_id).id)
        )


class MemoryForget(AsyncAPIView):
    @extend_schema(request=None, responses=shapes.ForgettingAnswer)
    async def post(self, request: Request, memory_id: str) -> Response:
        """Forget a memory for good, with all that tells of it: turns, summaries, what was recorded of requests."""
        return await _respond(
            request, lambda user: forgetting.forget_memory(user, services.memory_of(user, memory_id).id)
        )


class EverythingForgetting(AsyncAPIView):
    @extend_schema(operation_id="memories_forgetting_all", responses=shapes.ForgettingAnswer)
    async def get(self, request: Request) -> Response:
        """What forgetting everything would do. Changes nothing."""
        return await _respond(request, forgetting.what_all)


class EverythingForget(AsyncAPIView):
    @extend_schema(operation_id="memories_forget_all", request=shapes.Everything, responses=shapes.ForgettingAnswer)
    async def post(self, request: Request) -> Response:
        """Forget all that is remembered of the caller, for good. What was said otherwise stays."""
        await in_database(valid)(shapes.Everything, request)
        return await _respond(request, forgetting.forget_all)


class MessageDetail(AsyncAPIView):
    @extend_schema(responses={204: None})
    async def delete(self, request: Request, message_id: str) -> Response:
        """Forget a turn for good, as `messages/{id}/forget/` does."""
        await _respond(request, lambda user: forgetting.forget_turn(user, threads.message_of(user, message_id).id))
        return Response(status=204)


class MessageForgetting(AsyncAPIView):
    @extend_schema(responses=shapes.ForgettingAnswer)
    async def get(self, request: Request, message_id: str) -> Response:
        """What forgetting this turn would do. Changes nothing."""
        return await _respond(request, lambda user: forgetting.what_turn(user, threads.message_of(user, message_id).id))


class MessageForget(AsyncAPIView):
    @extend_schema(request=None, responses=shapes.ForgettingAnswer)
    async def post(self, request: Request, message_id: str) -> Response:
        """Forget a turn for good: its place stays, its text goes, also from what was recorded of requests."""
        return await _respond(
            request, lambda user: forgetting.forget_turn(user, threads.message_of(user, message_id).id)
        )


class ThreadClearing(AsyncAPIView):
    @extend_schema(responses=shapes.ClearingAnswer)
    async def get(self, request: Request, thread_id: str) -> Response:
        """What clearing this thread would do. Changes nothing."""
        return await _respond_cleared(request, thread_id, deletion.what_clearing)


class ThreadClear(AsyncAPIView):
    @extend_schema(request=None, responses=shapes.ClearingAnswer)
    async def post(self, request: Request, thread_id: str) -> Response:
        """Forget all turns of a thread for good, with what rests on them. The thread and its artifacts stay."""
        return await _respond_cleared(request, thread_id, deletion.clear_thread)


async def _respond(request: Request, work: Callable[[User], Forgetting]) -> Response:
    user = caller(request)
    return Response(_object(await long_work.run(user.pk, WorkKind.CHANGE, lambda: work(user))))


async def _respond_cleared(request: Request, thread_id: str, work: Callable[[Thread], Clearing]) -> Response:
    def cleared() -> dict[str, Any]:
        thread = threads.get(caller(request), thread_id)
        return {"thread": str(thread.id), **asdict(work(thread))}

    return Response(await long_work.run(caller(request).pk, WorkKind.CHANGE, cleared))


def _object(done: Forgetting) -> dict[str, Any]:
    return {
        "memories": [str(id) for id in done.memories],
        "turns": [
            {
                "message": str(turn.id),
                "thread": str(turn.thread),
                "position": turn.position,
                "role": str(turn.role),
                "text": turn.text,
                "why": turn.why,
            }
            for turn in done.turns
        ],
        "artifacts": done.artifacts,
        "topics": done.topics,
        "titles": done.titles,
        "summaries": done.summaries,
        "snapshots": done.snapshots,
    }
