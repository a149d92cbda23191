"""Presets over REST: what an assistant offers, and making it silently."""

from typing import Annotated, Any, TypedDict

from django.http import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from artifacts import services
from artifacts.models import Artifact, Kind
from conversations import replies, threads, wire
from conversations.replies.model_requests import OpenedReply
from conversations.rest.base import STREAMED, APIView, AsyncAPIView, caller, event_stream, token_of
from conversations.rest.descriptions import describe
from conversations.rest.messages import ended
from conversations.rest.pagination import ordered_by
from conversations.rest.serializers import described, valid
from conversations.runtime.db import in_database
from conversations.runtime.shapes import Id, Slug, fill
from conversations.wire.artifacts import ArtifactAnswer, artifact_object, artifact_rows
from conversations.wire.events import ReplyEndedData


class PresetRequest(TypedDict):
    client_message_id: Annotated[
        Any,
        {"default": None},
        "Your own id of the click, at most 100 characters: the same one again makes nothing new.",
    ]


class PresetAnswer(TypedDict):
    slug: Annotated[Slug, "Its name in the API."]
    name: Annotated[str, "On the button, and the title of what it makes."]
    description: Annotated[str, "One line that tells what it makes."]
    kind: Annotated[str, Kind, "What it makes."]
    artifact: Annotated[Id | None, "What it made in this thread, if it did."]


class MadeAnswer(TypedDict):
    thread: Annotated[Id, "Id of the thread."]
    reply: Annotated[wire.ReplyAnswer, "The attempt that made it."]
    artifact: Annotated[ArtifactAnswer | None, "Null where it was stopped before it was made."]
    request: Annotated[Id | None, "The model request; read it at requests/{id}/."]


class PresetList(APIView):
    pagination_class = ordered_by("order", "name")

    @describe(responses=described(PresetAnswer, many=True))
    def get(self, request: Request, thread_id: str) -> Response:
        """What the thread's assistant can make of the conversation at once, and what it has made so far."""
        thread = threads.get(caller(request), thread_id)
        presets = threads.presets_of(thread)
        return self.page(request, presets, lambda page: [fill(PresetAnswer, preset) for preset in page])


class PresetRun(AsyncAPIView):
    @describe(request=described(PresetRequest), responses={201: described(MadeAnswer)})
    async def post(self, request: Request, thread_id: str, slug: str) -> Response:
        """Make an artifact of the conversation and wait for it. Nothing of this enters the thread's history."""
        opened = await _start(request, thread_id, slug)
        ending = await ended(opened.reply.id)
        return Response(await in_database(_made_artifact)(opened, ending), status=201)


class PresetStream(AsyncAPIView):
    @describe(request=described(PresetRequest), responses=STREAMED)
    async def post(self, request: Request, thread_id: str, slug: str) -> HttpResponseBase:
        """Make an artifact of the conversation and watch it being written, as Server-Sent Events."""
        opened = await _start(request, thread_id, slug)
        return event_stream(opened.reply.id)


async def _start(request: Request, thread_id: str, slug: str) -> OpenedReply:
    payload = valid(PresetRequest, request)
    return await replies.start_preset(
        user=caller(request),
        thread_id=thread_id,
        preset=slug,
        client_message_id=payload["client_message_id"],
        token=token_of(request),
    )


def _made_artifact(opened: OpenedReply, ending: ReplyEndedData) -> MadeAnswer:
    """What a silent reply that has ended made."""
    versions = services.made_by(opened.reply)
    artifact = None
    if versions:
        newest = versions[-1]
        rows = artifact_rows(newest.user_id, Artifact.objects.filter(id=newest.artifact_id), whole=True)
        artifact = artifact_object(rows.get(), whole=True)
    return {
        "thread": ending["thread"],
        "reply": ending["reply"],
        "artifact": artifact,
        "request": ending["request"],
    }
