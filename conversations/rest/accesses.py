"""Who of the staff looked at what the caller wrote."""

from typing import Annotated, TypedDict

from rest_framework.request import Request
from rest_framework.response import Response

from conversations.accounts.accesses import accesses_to
from conversations.models import ContentAccess
from conversations.rest.base import APIView, caller
from conversations.rest.descriptions import describe
from conversations.rest.pagination import ordered_by
from conversations.rest.serializers import described
from conversations.runtime.shapes import Id, Time, fill


class AccessAnswer(TypedDict):
    """That a member of staff was shown something. Recorded before it was shown; nobody can change or delete it."""

    id: Annotated[Id, "Id of the record."]
    at: Annotated[Time, "When it was looked at."]
    staff: Annotated[str, "The user name of who looked, as it was then."]
    action: Annotated[str, ContentAccess.Action, "What they did."]
    what: Annotated[str, "What kind of thing it was: `thread`, `message`, `model request`, …"]
    thread: Annotated[Id | None, "The thread that it belongs to. It may be deleted since."]
    object: Annotated[str, "The id of it. It may be deleted since."]
    reason: Annotated[str, "In their own words."]


class AccessList(APIView):
    pagination_class = ordered_by("-id")  # ordered by time

    @describe(responses=described(AccessAnswer, many=True))
    def get(self, request: Request) -> Response:
        """Who of the staff looked at what the caller wrote, when and why, newest first."""
        return self.page(request, accesses_to(caller(request)), lambda page: [_object(access) for access in page])


def _object(access: ContentAccess) -> AccessAnswer:
    return fill(AccessAnswer, access, staff=access.staff_name, thread=access.thread_id, object=access.object_id)
