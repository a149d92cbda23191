"""The pages that people meet. What moves on them comes over REST and the WebSocket."""

import uuid
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.auth import login as login_user
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import BaseUserCreationForm, UserCreationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache

from conversations import devices, remembered, sign_in, threads
from conversations.chat import found
from conversations.errors import ThreadNotFound
from conversations.forms import SignInForm
from conversations.models import Model, Thread
from conversations.text import clean


class SignedInRequest(HttpRequest):
    user: User


@never_cache
@login_required
def chat(request: SignedInRequest, thread_id: uuid.UUID | None = None) -> HttpResponse:
    """The chat, empty or at one thread. Answers 404 where the thread is unknown or another user's."""
    try:
        thread = threads.get(request.user, thread_id) if thread_id else None
    except ThreadNotFound as error:
        raise Http404(error.message) from error
    sought = clean(request.GET.get("q", "")).strip()[: found.LONGEST]
    context = {
        "page": _page(request.user, thread),
        "thread": thread,
        "run_scripts": settings.OPENBOOK_RUN_SCRIPTS,
        "sought": sought,
        "hits": found.hits(request.user, sought) if sought else [],
    }
    return render(request, "conversations/chat.html", context)


def login(request: HttpRequest) -> HttpResponseBase:
    context = {"signup_open": settings.OPENBOOK_SIGNUP}
    view = LoginView.as_view(redirect_authenticated_user=True, extra_context=context, authentication_form=SignInForm)
    return _answered(request, view(request))


def staff_login(request: HttpRequest) -> HttpResponseBase:
    """The admin's own page, with the same answer to who guesses."""
    return _answered(request, admin.site.login(request))


def _answered(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Where it was tried too often: the form as it was sent, with when to send it again. Who is let in is known here from
    then on."""
    if request.method == "POST" and response.status_code == 302:
        devices.remember(request, response, request.user.get_username())
    form = (getattr(response, "context_data", None) or {}).get("form")
    if isinstance(form, SignInForm) and form.retry_after:
        response.status_code = 429
        response["Retry-After"] = str(form.retry_after)
    return response


@never_cache
def signup(request: HttpRequest) -> HttpResponse:
    """An account of one's own, where the operator allows it (OPENBOOK_SIGNUP)."""
    if not settings.OPENBOOK_SIGNUP:
        raise Http404("Signing up is off. Ask the people who run this server for an account.")
    if request.user.is_authenticated:
        return redirect("chat")
    form: BaseUserCreationForm[User] = UserCreationForm(request.POST or None)
    if not form.is_bound:
        return render(request, "registration/signup.html", {"form": form})
    with sign_in.new_password(request, "sign-up"):
        if not form.is_valid():
            return render(request, "registration/signup.html", {"form": form})
        login_user(request, user := form.save())
    response = redirect("chat")
    devices.remember(request, response, user.get_username())
    return response


def _page(user: User, thread: Thread | None) -> dict[str, Any]:
    """What the page's script is told, as JSON."""
    preferences = remembered.preferences_of(user)
    offered = threads.offered_assistants().order_by("-is_default", "order", "name")
    return {
        "user": {"id": user.pk, "name": user.get_username(), "staff": user.is_staff},
        "assistants": list(offered.values("slug", "name", "description")),
        "models": dict(Model.objects.values_list("name", "label")),
        "thread": _thread(thread) if thread else None,
        "limits": {
            "message_chars": settings.OPENBOOK_MAX_MESSAGE_CHARS,
            "import_mb": settings.OPENBOOK_MAX_IMPORT_MB,
        },
        "provider": settings.OPENBOOK_PROVIDER,
        "zone": preferences.time_zone if preferences else None,
    }


def _thread(thread: Thread) -> dict[str, Any]:
    return {
        "id": str(thread.id),
        "title": thread.title,
        "assistant": thread.assistant.slug,
        "remembers": thread.remembers,
    }
