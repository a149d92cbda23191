"""Presets over REST: what an assistant offers, and making it silently."""

from typing import Any

from django.contrib.auth.models import User
from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from artifacts import services
from artifacts.models import Artifact
from artifacts.rest import serializers
from conversations import replies, threads, wire
from conversations.models import Reply
from conversations.replies.model_requests import OpenedReply
from conversations.rest.base import APIView, AsyncAPIView, caller, event_stream, token_of, valid
from conversations.rest.errors import ReplyFailed
from conversations.rest.pagination import PresetPagination
from conversations.runtime.db import in_database


class PresetList(APIView):
    pagination_class = PresetPagination

    @extend_schema(responses=serializers.PresetAnswer(many=True))
    def get(self, request: Request, thread_id: str) -> Response:
        """What the thread's assistant can make of the conversation at once, and what it has made so far."""
        thread = threads.get(caller(request), thread_id)
        paginator = self.pagination_class()
        page = paginator.paginate_queryset(threads.presets_of(thread), request)
        return paginator.get_paginated_response(serializers.PresetAnswer(page, many=True).data)


class PresetRun(AsyncAPIView):
    @extend_schema(request=serializers.PresetRequest, responses={201: serializers.MadeAnswer})
    async def post(self, request: Request, thread_id: str, slug: str) -> Response:
        """Make an artifact of the conversation and wait for it. Nothing of this enters the thread's history."""
        opened = await _start(request, thread_id, slug)
        async for _ in replies.follow(opened.reply.id):
            pass
        return Response(await in_database(_made_artifact)(caller(request), opened), status=201)


class PresetStream(AsyncAPIView):
    @extend_schema(request=serializers.PresetRequest, responses={(200, "text/event-stream"): OpenApiTypes.STR})
    async def post(self, request: Request, thread_id: str, slug: str) -> HttpResponseBase:
        """Make an artifact of the conversation and watch it being written, as Server-Sent Events."""
        opened = await _start(request, thread_id, slug)
        return event_stream(replies.follow(opened.reply.id))


async def _start(request: Request, thread_id: str, slug: str) -> OpenedReply:
    payload = valid(serializers.PresetRequest, request)
    return await replies.start_preset(
        user=caller(request),
        thread_id=thread_id,
        preset=slug,
        client_message_id=payload["client_message_id"],
        token=token_of(request),
    )


def _made_artifact(user: User, opened: OpenedReply) -> dict[str, Any]:
    """What a silent reply that has ended made. Raises ``ReplyFailed`` where it failed, ``ReplyNotFound`` where its thread was
    deleted right after."""
    reply = threads.reply_of(user, opened.reply.id)
    described = wire.reply_with_request(reply)
    if reply.status in (Reply.Status.FAILED, Reply.Status.INTERRUPTED):
        raise ReplyFailed(reply.error or {}, thread=str(reply.thread_id), reply=str(reply.id))
    versions = services.made_by(reply.id, reply.thread_id)
    artifact = None
    if versions:
        artifacts = Artifact.objects.filter(id=versions[-1].artifact_id)
        artifact = wire.artifact_object(wire.artifact_rows(artifacts, whole=True).get(), whole=True)
    return {
        "thread": str(reply.thread_id),
        "reply": described,
        "artifact": artifact,
        "request": described["request"],
    }
