"""What the caller has decided about memory."""

from rest_framework.request import Request
from rest_framework.response import Response

from conversations.models import Scope
from conversations.rest.base import APIView, caller
from conversations.rest.descriptions import describe
from conversations.rest.serializers import described, valid
from conversations.runtime.shapes import fill
from memory import services
from memory.models import Preferences
from memory.rest.shapes import PreferencesAnswer, PreferencesChange


class PreferencesDetail(APIView):
    part = Scope.MEMORY

    @describe(responses=described(PreferencesAnswer))
    def get(self, request: Request) -> Response:
        """Whether anything is remembered, and in which time zone the caller's days begin."""
        return Response(fill(PreferencesAnswer, services.preferences_of(caller(request)) or Preferences()))

    @describe(request=described(PreferencesChange), responses=described(PreferencesAnswer))
    def patch(self, request: Request) -> Response:
        """Switch memory on or off, or choose a time zone."""
        changed = services.prefer(caller(request), **valid(PreferencesChange, request))
        return Response(fill(PreferencesAnswer, changed))
