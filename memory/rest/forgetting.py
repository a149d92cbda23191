"""Forgetting for good: one memory, one turn, all turns of a thread, or everything. What it would do can be seen before."""

import uuid
from collections.abc import Callable

from django.contrib.auth.models import User
from rest_framework.request import Request
from rest_framework.response import Response

from conversations import threads
from conversations.models import Scope, Thread
from conversations.rest.base import AsyncAPIView, caller
from conversations.rest.deleted import RESPONSES, deleted
from conversations.rest.descriptions import describe
from conversations.rest.serializers import described, valid
from conversations.runtime import long_work
from conversations.runtime.long_work import WorkKind
from conversations.runtime.shapes import fill
from conversations.threads import deletion
from memory import forgetting, services
from memory.forgetting import Clearing, Forgetting
from memory.rest.shapes import ClearingAnswer, Everything, ForgettingAnswer, ForgottenTurnAnswer

type ForgetById = Callable[[User, uuid.UUID], Forgetting]


class MemoryForgetting(AsyncAPIView):
    part = Scope.MEMORY

    @describe(responses=described(ForgettingAnswer))
    async def get(self, request: Request, memory_id: str) -> Response:
        """What forgetting this memory would do. Changes nothing."""
        return await _of_memory(request, memory_id, forgetting.what_memory)


class MemoryForget(AsyncAPIView):
    part = Scope.MEMORY

    @describe(request=None, responses=described(ForgettingAnswer))
    async def post(self, request: Request, memory_id: str) -> Response:
        """Forget a memory for good, with all that tells of it: turns, summaries, what was recorded of requests."""
        return await _of_memory(request, memory_id, forgetting.forget_memory)


class EverythingForgetting(AsyncAPIView):
    part = Scope.MEMORY

    @describe(operation_id="memories_forgetting_all", responses=described(ForgettingAnswer))
    async def get(self, request: Request) -> Response:
        """What forgetting everything would do. Changes nothing."""
        return await _run(request, forgetting.what_all)


class EverythingForget(AsyncAPIView):
    part = Scope.MEMORY

    @describe(operation_id="memories_forget_all", request=described(Everything), responses=described(ForgettingAnswer))
    async def post(self, request: Request) -> Response:
        """Forget all that is remembered of the caller, for good. What was said otherwise stays."""
        valid(Everything, request)
        return await _run(request, forgetting.forget_all)


class MessageDetail(AsyncAPIView):
    @describe(responses=RESPONSES)
    async def delete(self, request: Request, message_id: str) -> Response:
        """Forget a turn for good, as `messages/{id}/forget/` does. 200 in place of 204 tells what a legal hold keeps."""
        return deleted((await _of_turn(request, message_id, forgetting.forget_turn)).data["held"])


class MessageForgetting(AsyncAPIView):
    @describe(responses=described(ForgettingAnswer))
    async def get(self, request: Request, message_id: str) -> Response:
        """What forgetting this turn would do. Changes nothing."""
        return await _of_turn(request, message_id, forgetting.what_turn)


class MessageForget(AsyncAPIView):
    @describe(request=None, responses=described(ForgettingAnswer))
    async def post(self, request: Request, message_id: str) -> Response:
        """Forget a turn for good: its place stays, its text goes, also from what was recorded of requests."""
        return await _of_turn(request, message_id, forgetting.forget_turn)


class ThreadClearing(AsyncAPIView):
    @describe(responses=described(ClearingAnswer))
    async def get(self, request: Request, thread_id: str) -> Response:
        """What clearing this thread would do. Changes nothing."""
        return await _clear(request, thread_id, deletion.what_clearing)


class ThreadClear(AsyncAPIView):
    @describe(request=None, responses=described(ClearingAnswer))
    async def post(self, request: Request, thread_id: str) -> Response:
        """Forget all turns of a thread for good, with what rests on them. The thread and its artifacts stay."""
        return await _clear(request, thread_id, deletion.clear_thread)


async def _of_memory(request: Request, memory_id: str, work: ForgetById) -> Response:
    return await _run(request, lambda user: work(user, services.memory_of(user, memory_id).id))


async def _of_turn(request: Request, message_id: str, work: ForgetById) -> Response:
    return await _run(request, lambda user: work(user, threads.message_of(user, message_id).id))


async def _run(request: Request, work: Callable[[User], Forgetting]) -> Response:
    user = caller(request)
    done = await long_work.run(user.pk, WorkKind.CHANGE, lambda: work(user))
    return Response(forgetting_object(done))


def forgetting_object(done: Forgetting) -> ForgettingAnswer:
    turns = [fill(ForgottenTurnAnswer, turn, message=turn.id) for turn in done.turns]
    return fill(ForgettingAnswer, done, turns=turns)


async def _clear(request: Request, thread_id: str, work: Callable[[Thread], Clearing]) -> Response:
    def cleared() -> ClearingAnswer:
        thread = threads.get(caller(request), thread_id)
        return fill(ClearingAnswer, work(thread), thread=thread.id)

    return Response(await long_work.run(caller(request).pk, WorkKind.CHANGE, cleared))
