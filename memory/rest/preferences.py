"""What the caller has decided about memory."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.rest.answers import answer
from conversations.rest.base import APIView, caller, valid
from conversations.runtime.shapes import fill
from memory import services
from memory.models import Preferences
from memory.rest import serializers
from memory.rest.shapes import PreferencesAnswer


class PreferencesDetail(APIView):
    @extend_schema(responses=answer(PreferencesAnswer))
    def get(self, request: Request) -> Response:
        """Whether anything is remembered, and in which time zone the caller's days begin."""
        return Response(fill(PreferencesAnswer, services.preferences_of(caller(request)) or Preferences()))

    @extend_schema(request=serializers.PreferencesChange, responses=answer(PreferencesAnswer))
    def patch(self, request: Request) -> Response:
        """Switch memory on or off, or choose a time zone."""
        changed = services.prefer(caller(request), **valid(serializers.PreferencesChange, request))
        return Response(fill(PreferencesAnswer, changed))
