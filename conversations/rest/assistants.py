"""Whom a thread may ask: assistants, and models."""

from typing import Annotated, TypedDict

from rest_framework.request import Request
from rest_framework.response import Response

from conversations import threads
from conversations.accounts.group_access import access_of
from conversations.rest.base import APIView, caller
from conversations.rest.descriptions import describe
from conversations.rest.pagination import ordered_by
from conversations.rest.serializers import described
from conversations.runtime.shapes import Slug, fill
from conversations.wire.model_list import ModelsAnswer, model_list


class AssistantAnswer(TypedDict):
    slug: Annotated[Slug, "Its name in the API."]
    name: Annotated[str, "As people are shown it."]
    description: Annotated[str, "One line that people choose it by."]


class AssistantList(APIView):
    pagination_class = ordered_by("order", "name")

    @describe(responses=described(AssistantAnswer, many=True))
    def get(self, request: Request) -> Response:
        """The assistants that a thread may be opened with."""
        assistants = threads.offered_assistants(access_of(caller(request).pk))
        return self.page(request, assistants, lambda page: [fill(AssistantAnswer, each) for each in page])


class ModelList(APIView):
    @describe(responses=described(ModelsAnswer))
    def get(self, request: Request) -> Response:
        """The models that can be chosen for a thread or a message."""
        access = access_of(caller(request).pk)
        return Response({"results": model_list(threads.offered_assistants(access), access)})
