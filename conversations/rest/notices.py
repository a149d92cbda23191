"""The notice that the caller accepts before anything else is answered."""

from typing import Annotated, TypedDict

from django.contrib.auth.models import User
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.accounts import notices
from conversations.models import Notice
from conversations.rest.base import APIView, caller
from conversations.rest.descriptions import describe
from conversations.rest.serializers import described, valid
from conversations.runtime.shapes import Time, fill, moment


class AcceptedVersion(TypedDict):
    version: Annotated[int, {"min_value": 1, "max_value": 2**31 - 1}, "The one that was read."]


class NoticeObject(TypedDict):
    version: Annotated[int, "It grows with each change that is published."]
    title: Annotated[str, "What stands above it."]
    text: Annotated[str, "Plain text in paragraphs."]
    published_at: Annotated[Time, "When it was published."]


class NoticeAnswer(TypedDict):
    notice: Annotated[NoticeObject | None, "The one in force; null: there is none."]
    accepted_at: Annotated[Time | None, "When the caller accepted it; null: they have not."]


class NoticeDetail(APIView):
    scopes = {"GET": None}
    needs_acceptance = False

    @describe(responses=described(NoticeAnswer))
    def get(self, request: Request) -> Response:
        """The notice that everybody has to accept. Until the caller has, all other calls but `GET export/` answer 403
        `notice_not_accepted`."""
        return Response(_object(caller(request), notices.newest()))

    @describe(request=described(AcceptedVersion), responses=described(NoticeAnswer))
    def post(self, request: Request) -> Response:
        """Accept it, for the person whose call it is. 409 `notice_changed` where this version is not the one in force."""
        notices.accept(caller(request), valid(AcceptedVersion, request)["version"])
        return Response(_object(caller(request), notices.newest()))


def _object(user: User, notice: Notice | None) -> NoticeAnswer:
    acceptance = notices.acceptance_of(user, notice) if notice else None
    return {
        "notice": fill(NoticeObject, notice) if notice else None,
        "accepted_at": moment(acceptance.at) if acceptance else None,
    }
