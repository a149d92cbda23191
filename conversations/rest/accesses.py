"""Who of the staff looked at what the caller wrote."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.accounts.accesses import accesses_to
from conversations.models import ContentAccess
from conversations.rest.base import APIView, caller
from conversations.rest.pagination import AccessPagination
from conversations.wire import moment


class AccessAnswer(serializers.Serializer[Any]):
    """That a member of staff was shown something. Recorded before it was shown; nobody can change or delete it."""

    id = serializers.UUIDField(help_text="Id of the record.")
    at = serializers.DateTimeField(help_text="When it was looked at.")
    staff = serializers.CharField(help_text="The user name of who looked, as it was then.")
    action = serializers.ChoiceField(ContentAccess.Action.choices, help_text="What they did.")
    what = serializers.CharField(help_text="What kind of thing it was: `thread`, `message`, `model request`, …")
    thread = serializers.UUIDField(allow_null=True, help_text="The thread that it belongs to. It may be deleted since.")
    object = serializers.CharField(help_text="The id of it. It may be deleted since.")
    reason = serializers.CharField(help_text="In their own words.")


class AccessList(APIView):
    pagination_class = AccessPagination

    @extend_schema(responses=AccessAnswer(many=True))
    def get(self, request: Request) -> Response:
        """Who of the staff looked at what the caller wrote, when and why, newest first."""
        paginator = self.pagination_class()
        page: list[ContentAccess] = paginator.paginate_queryset(accesses_to(caller(request)), request)
        return paginator.get_paginated_response([_object(access) for access in page])


def _object(access: ContentAccess) -> dict[str, Any]:
    return {
        "id": str(access.id),
        "at": moment(access.at),
        "staff": access.staff_name,
        "action": str(access.action),
        "what": access.what,
        "thread": str(access.thread_id) if access.thread_id else None,
        "object": access.object_id,
        "reason": access.reason,
    }
