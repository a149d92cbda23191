"""Whose session a request comes with."""

from asgiref.sync import sync_to_async
from django.contrib.auth import middleware
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from conversations.accounts import session_user


class AuthenticationMiddleware(middleware.AuthenticationMiddleware):
    """Django's own, but that a session whose time is over is nobody's."""

    def process_request(self, request: HttpRequest) -> None:
        super().process_request(request)

        def user() -> User | AnonymousUser:
            return session_user.user_of(request, is_active=session_user.is_activity(request))

        async def auser() -> User | AnonymousUser:
            if isinstance(request.user, SimpleLazyObject):
                await sync_to_async(lambda: request.user.pk)()
            return request.user

        request.user = SimpleLazyObject(user)  # type: ignore[assignment]
        request.auser = auser
