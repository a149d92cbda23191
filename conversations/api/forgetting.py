"""Forgetting for good: one memory, one turn, all turns of a thread, or everything. What it would do can be seen before."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import deletion, forgetting, remembered, threads
from conversations.api import memory_serializers as shapes
from conversations.api.base import APIView, caller, valid
from conversations.forgetting import Forgetting


class MemoryForgetting(APIView):
    @extend_schema(responses=shapes.ForgettingAnswer)
    def get(self, request: Request, memory_id: str) -> Response:
        """What forgetting this memory would do. Changes nothing."""
        memory = remembered.memory_of(caller(request), memory_id)
        return Response(_object(forgetting.what_memory(caller(request), memory.id)))


class MemoryForget(APIView):
    @extend_schema(request=None, responses=shapes.ForgettingAnswer)
    def post(self, request: Request, memory_id: str) -> Response:
        """Forget a memory for good, with all that tells of it: turns, summaries, what was recorded of requests."""
        memory = remembered.memory_of(caller(request), memory_id)
        return Response(_object(forgetting.forget_memory(caller(request), memory.id)))


class EverythingForgetting(APIView):
    @extend_schema(operation_id="memories_forgetting_all", responses=shapes.ForgettingAnswer)
    def get(self, request: Request) -> Response:
        """What forgetting everything would do. Changes nothing."""
        return Response(_object(forgetting.what_all(caller(request))))


class EverythingForget(APIView):
    @extend_schema(operation_id="memories_forget_all", request=shapes.Everything, responses=shapes.ForgettingAnswer)
    def post(self, request: Request) -> Response:
        """Forget all that is remembered of the caller, for good. What was said otherwise stays."""
        valid(shapes.Everything, request)
        return Response(_object(forgetting.forget_all(caller(request))))


class MessageDetail(APIView):
    @extend_schema(responses={204: None})
    def delete(self, request: Request, message_id: str) -> Response:
        """Forget a turn for good, as `messages/{id}/forget/` does."""
        message = threads.message_of(caller(request), message_id)
        forgetting.forget_turn(caller(request), message.id)
        return Response(status=204)


class MessageForgetting(APIView):
    @extend_schema(responses=shapes.ForgettingAnswer)
    def get(self, request: Request, message_id: str) -> Response:
        """What forgetting this turn would do. Changes nothing."""
        message = threads.message_of(caller(request), message_id)
        return Response(_object(forgetting.what_turn(caller(request), message.id)))


class MessageForget(APIView):
    @extend_schema(request=None, responses=shapes.ForgettingAnswer)
    def post(self, request: Request, message_id: str) -> Response:
        """Forget a turn for good: its place stays, its text goes, also from what was recorded of requests."""
        message = threads.message_of(caller(request), message_id)
        return Response(_object(forgetting.forget_turn(caller(request), message.id)))


class ThreadClearing(APIView):
    @extend_schema(responses=shapes.ClearingAnswer)
    def get(self, request: Request, thread_id: str) -> Response:
        """What clearing this thread would do. Changes nothing."""
        thread = threads.get(caller(request), thread_id)
        return Response({"thread": str(thread.id), **asdict(deletion.what_clearing(thread))})


class ThreadClear(APIView):
    @extend_schema(request=None, responses=shapes.ClearingAnswer)
    def post(self, request: Request, thread_id: str) -> Response:
        """Forget all turns of a thread for good, with what rests on them. The thread and its artifacts stay."""
        thread = threads.get(caller(request), thread_id)
        return Response({"thread": str(thread.id), **asdict(deletion.clear_thread(thread))})


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
