"""Pages that take a fresh sign-in: a browser that was left open is not enough for them."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.core.exceptions import ReauthenticationRequired
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from conversations.accounts import freshness

View = Callable[..., HttpResponseBase]


def fresh_sign_in(*, allow_get: bool = False) -> Callable[[Any], Any]:
    """A page that asks for it first, and goes on where it was left. ``allow_get``: to look at it takes none."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not isinstance(request.user, User):
                return redirect(f"{reverse('account_login')}?{urlencode({'next': request.get_full_path()})}")
            is_look = allow_get and request.method in ("GET", "HEAD")
            if is_look or freshness.is_fresh(request, request.user):
                return view(request, *args, **kwargs)
            if freshness.can_prove(request.user):
                raise ReauthenticationRequired  # allauth's middleware leads to the page for it, and keeps the form
            return redirect(f"{reverse('sign_in_again')}?{urlencode({'next': request.get_full_path()})}")

        return guarded

    return decorate
