"""What the caller has decided about memory."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.rest.base import APIView, caller, valid
from memory import services
from memory.models import Preferences
from memory.rest import serializers as shapes


class PreferencesDetail(APIView):
    @extend_schema(responses=shapes.PreferencesAnswer)
    def get(self, request: Request) -> Response:
        """Whether anything is remembered, and in which time zone the caller's days begin."""
        return Response(_object(services.preferences_of(caller(request)) or Preferences()))

    @extend_schema(request=shapes.PreferencesChange, responses=shapes.PreferencesAnswer)
    def patch(self, request: Request) -> Response:
        """Switch memory on or off, or choose a time zone."""
        return Response(_object(services.prefer(caller(request), **valid(shapes.PreferencesChange, request))))


def _object(preferences: Preferences) -> dict[str, Any]:
    return {"remembers": preferences.remembers, "time_zone": preferences.time_zone}
