"""Who a session belongs to now: asked again and again by whatever stays open longer than a request."""

import importlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY, get_user
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.auth.signals import user_logged_in
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from conversations.accounts import notices, second_factors, session_times
from conversations.accounts.service_accounts import is_service
from conversations.accounts.session_store import BEGAN, SessionStore
from conversations.models import AccountDeletion, ServiceAccount
from conversations.runtime import clock
from conversations.runtime.db import columns_of, instance_of, run
from conversations.runtime.sql_files import read_statements
from memory.models import Preferences

BESIDE = {"deletion": AccountDeletion, "service_account": ServiceAccount, "preferences": Preferences}
COLUMNS = ", ".join(columns_of(name, model) for name, model in {'"user"': User, **BESIDE}.items())
PARTS = second_factors.STATEMENTS | notices.STATEMENTS | session_times.STATEMENTS
BY_ID = f"SELECT {COLUMNS}, {read_statements(__file__, PARTS)['by_id']}"
IDLE_HEADER = "X-Openbook-Idle"
"""What a page sends along with calls that it makes while nobody touches it."""


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
        """One statement that is written once: each request of a person begins with it."""
        user = next((_user(iter(row)) for row in run(BY_ID, user=user_id)), None)
        return user if user and self.user_can_authenticate(user) and not is_leaving(user) else None

    def user_can_authenticate(self, user: Any) -> bool:
        return super().user_can_authenticate(user) and not is_service(user)

    async def aget_user(self, user_id: Any) -> User | None:
        return await sync_to_async(self.get_user)(user_id)


def _user(values: Iterator[Any]) -> User:
    user: Any = instance_of(User, values)
    for name, model in BESIDE.items():  # known to have none, or this one
        getattr(User, name).related.set_cached_value(user, instance_of(model, values))
    # See ``second_factors.is_lacking``, ``notices.is_lacking`` and ``session_times.times_of``.
    user.is_lacking_factor, user.is_lacking_notice, user.group_times = values
    return cast(User, user)


def is_leaving(user: User) -> bool:
    """Whether the account is to be deleted. Reads the database, unless the row came along with the user."""
    return getattr(user, "deletion", None) is not None


def leaving_user(request: HttpRequest) -> User | None:
    """Whose session this is, where the account is to be deleted: who may still keep it."""
    users = User.objects.filter(pk=request.session.get(SESSION_KEY, 0), is_active=True, deletion__isnull=False)
    user, proof = users.first(), request.session.get(HASH_SESSION_KEY, "")
    return user if user and constant_time_compare(proof, user.get_session_auth_hash()) else None


def user_of(request: HttpRequest, *, is_active: bool) -> User | AnonymousUser:
    """Whose session it is, whose end is moved where its person ``is_active``; anonymous once its time is over."""
    user, now = get_user(request), clock.now()
    session = request.session
    if not isinstance(user, User) or not isinstance(session, SessionStore):
        return user if isinstance(user, User) else AnonymousUser()
    ends_at = session.get_expiry_date()
    end = session_times.renewed_end(
        session_times.times_of(user),
        began_at=_began_at(session, ends_at),
        ends_at=ends_at,
        now=now,
        is_active=is_active,
    )
    if end != ends_at:
        session.move_end(end)
    return user if end > now else AnonymousUser()


def is_activity(request: HttpRequest) -> bool:
    """Whether somebody is there: a page that polls by itself says that nobody is, and a stream connects again by itself."""
    is_stream = "text/event-stream" in request.headers.get("Accept", "")
    return request.method not in ("GET", "HEAD") or not (is_stream or IDLE_HEADER in request.headers)


def connect() -> None:
    """Once, as the apps are ready: sessions begin as people sign in, by whatever way."""
    user_logged_in.connect(_begin, dispatch_uid="session_user.begin")


def _begin(request: HttpRequest, user: User, **rest: Any) -> None:
    now = clock.now()
    if isinstance(request.session, SessionStore):
        request.session.begin(began_at=now, ends_at=session_times.first_end(session_times.times_of(user), now))


def _began_at(session: SessionStore, ends_at: datetime) -> datetime:
    """Of one that is older than this rule: as if it had been given all the time that there is."""
    began = session.get(BEGAN)
    return datetime.fromtimestamp(began, UTC) if began else ends_at - timedelta(seconds=settings.SESSION_COOKIE_AGE)


def as_of_now(session_key: str | None, *, is_active: bool = False) -> HttpRequest | None:
    """A request of this session, with its user and their permissions as they are now; ``None`` after sign-out, a changed
    password, deactivation, the wish to have the account deleted, or once its time is over. ``is_active``: its person does
    something."""
    if not session_key:
        return None
    request = HttpRequest()
    request.session = importlib.import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    user = user_of(request, is_active=is_active)
    if not isinstance(user, User):
        return None
    request.user = user
    return request
