"""Who a session belongs to now: asked again and again by whatever stays open longer than a request."""

import importlib

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import User
from django.http import HttpRequest


def as_of_now(session_key: str | None) -> HttpRequest | None:
    """A request of this session, with its user and their permissions as they are now; ``None`` after sign-out, a changed
    password or deactivation."""
    if not session_key:
        return None
    request = HttpRequest()
    request.session = importlib.import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    user = get_user(request)
    if not isinstance(user, User):
        return None
    request.user = user
    return request
