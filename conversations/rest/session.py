"""The sign-in of whoever calls with one."""

from datetime import UTC, datetime
from typing import Annotated, TypedDict

from rest_framework.request import Request
from rest_framework.response import Response

from conversations.accounts import session_times
from conversations.accounts.session_store import BEGAN, SessionStore
from conversations.errors import NotFound
from conversations.rest.base import APIView, caller, token_of
from conversations.rest.descriptions import describe
from conversations.rest.serializers import described
from conversations.runtime.shapes import Time, moment


class NoSession(NotFound):
    code = "session_not_found"
    message = "This call came with a token, not with a session."


class SessionAnswer(TypedDict):
    signed_in_at: Annotated[Time | None, "Null: before this was recorded."]
    ends_at: Annotated[Time, "If nothing more is done. A call that its person makes moves it, up to the longest time."]
    idle_minutes: Annotated[int | None, "Minutes after which it ends where nobody is there; null: that doesn't matter."]


class SessionDetail(APIView):
    scopes = {"GET": None}

    @describe(responses=described(SessionAnswer))
    def get(self, request: Request) -> Response:
        """Until when the caller is signed in. With the header `X-Openbook-Idle: 1` this and any other `GET` counts as nobody's
        act, and moves nothing."""
        session = request._request.session
        if token_of(request) or not isinstance(session, SessionStore):
            raise NoSession
        began, idle = session.get(BEGAN), session_times.times_of(caller(request)).idle
        return Response(
            {
                "signed_in_at": moment(datetime.fromtimestamp(began, UTC)) if began else None,
                "ends_at": moment(session.get_expiry_date()),
                "idle_minutes": int(idle.total_seconds() / 60) if idle else None,
            }
        )
