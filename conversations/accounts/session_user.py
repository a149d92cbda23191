"""Who a session belongs to now: asked again and again by whatever stays open longer than a request."""

import importlib
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY, get_user
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from conversations.accounts import second_factors
from conversations.accounts.service_accounts import is_service


class SessionUserBackend(ModelBackend):
    """Django's own, for whom an account that is to be deleted is nobody, at whatever door: its password is still right; and so
    is a service account, which has tokens alone.

    Where people sign in by a provider alone, no password is right. `manage.py sign_in_link` is the way in when that is away.
    """

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> User | None:
        if not settings.OPENBOOK_PASSWORD_SIGN_IN:
            return None
        user = super().authenticate(request, username=username, password=password, **kwargs)
        return user if isinstance(user, User) else None

    async def aauthenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> User | None:
        return await sync_to_async(self.authenticate)(request, username, password, **kwargs)

    def get_user(self, user_id: Any) -> User | None:
        users = User.objects.select_related("deletion", "preferences", "service_account")
        user = users.annotate(is_lacking_factor=second_factors.lacks_factor()).filter(pk=user_id).first()
        return user if user and self.user_can_authenticate(user) and not is_leaving(user) else None

    def user_can_authenticate(self, user: Any) -> bool:
        return super().user_can_authenticate(user) and not is_service(user)

    async def aget_user(self, user_id: Any) -> User | None:
        return await sync_to_async(self.get_user)(user_id)


def is_leaving(user: User) -> bool:
    """Whether the account is to be deleted. Reads the database, unless the row came along with the user."""
    return getattr(user, "deletion", None) is not None


def leaving_user(request: HttpRequest) -> User | None:
    """Whose session this is, where the account is to be deleted: who may still keep it."""
    users = User.objects.filter(pk=request.session.get(SESSION_KEY, 0), is_active=True, deletion__isnull=False)
    user, proof = users.first(), request.session.get(HASH_SESSION_KEY, "")
    return user if user and constant_time_compare(proof, user.get_session_auth_hash()) else None


def as_of_now(session_key: str | None) -> HttpRequest | None:
    """A request of this session, with its user and their permissions as they are now; ``None`` after sign-out, a changed
    password, deactivation, or the wish to have the account deleted."""
    if not session_key:
        return None
    request = HttpRequest()
    request.session = importlib.import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    user = get_user(request)
    if not isinstance(user, User):
        return None
    request.user = user
    return request
