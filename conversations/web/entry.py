"""The pages for people who aren't signed in: how they get in, get an account, and get in again without their password.

allauth's, behind what counts attempts before anything is looked up.
"""

from typing import Any

from allauth.account import views as allauth_views
from allauth.account.utils import get_next_redirect_url
from allauth.socialaccount.adapter import get_adapter
from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from conversations.accounts import devices, lifecycle, mailing, session_user, sign_in, sign_up
from conversations.holds import coverage
from conversations.models import AccountDeletion
from conversations.runtime.wording import translated
from conversations.web.account_adapter import retry_after
from memory.forgetting.ledger import LedgerAway

LINKS_HOUR = 10
"""How many links for a new password may be asked for from one address."""


class SignInView(allauth_views.LoginView):  # type: ignore[misc]
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return context | {
            "providers": [] if _is_refused(context["form"]) else get_adapter().list_providers(self.request),
            "passwords_are_for_all": settings.OPENBOOK_PASSWORD_SIGN_IN,
            "signup_open": sign_up.refusal(sign_up.rules()) is None,
        }


class StaffSignInView(SignInView):
    """Says who is signed in already, and may not see the admin."""

    def get_default_success_url(self) -> str:
        return reverse("admin:index")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        somebody = self.request.user.get_username() if self.request.method != "POST" else ""
        return super().get_context_data(**kwargs) | {"not_staff": somebody}


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def login(request: HttpRequest) -> HttpResponseBase:
    # A form that is sent is refused before any session is looked up.
    if request.method != "POST" and request.user.is_authenticated:
        return redirect(get_next_redirect_url(request) or "chat")
    return welcomed(request, SignInView.as_view()(request))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def staff_login(request: HttpRequest) -> HttpResponseBase:
    """Where the admin sends whoever isn't signed in, or isn't staff."""
    if request.method != "POST" and isinstance(request.user, User) and request.user.is_staff:
        return redirect(get_next_redirect_url(request) or "admin:index")
    return welcomed(request, StaffSignInView.as_view()(request))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def signup(request: HttpRequest) -> HttpResponseBase:
    """An account of one's own, where the operator allows it (OPENBOOK_SIGNUP)."""
    if refusal := sign_up.refusal(sign_up.rules()):
        raise Http404(gettext(sign_up.MESSAGES[refusal]))
    if request.method != "POST":
        return redirect("chat") if request.user.is_authenticated else _view(allauth_views.signup, request)
    with sign_in.new_password(request, "sign-up"):
        return welcomed(request, _view(allauth_views.signup, request))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def forgotten(request: HttpRequest) -> HttpResponseBase:
    """Ask for a link by mail. Says the same whether anybody has that address."""
    if not mailing.is_possible():
        return render(request, "account/password_reset.html")
    if request.method == "POST":
        sign_in.count_request(request, "forgotten", most=LINKS_HOUR)
    return _view(allauth_views.password_reset, request)


@never_cache
def set_password(request: HttpRequest, **link: str) -> HttpResponseBase:
    """By a link that was mailed, or made by staff."""
    if request.method != "POST":
        return _view(allauth_views.password_reset_from_key, request, **link)
    with sign_in.new_password(request, "set-password"):
        return _view(allauth_views.password_reset_from_key, request, **link)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def leaving(request: HttpRequest) -> HttpResponse:
    """All that an account meets which is to be deleted: when, and how to keep it."""
    user = session_user.leaving_user(request)
    if user is None:
        return redirect("chat")
    due_at = AccountDeletion.objects.get(user=user).due_at
    context: dict[str, object] = {
        "person": user,
        "due_at": due_at,
        "goes": lifecycle.what_goes(user),
        "held": coverage.standing_notice(user.pk),
    }
    if request.method == "POST":
        try:
            lifecycle.keep(user)
        except LedgerAway as error:
            return render(
                request, "account/leaving.html", context | {"problem": translated(error.message)}, status=error.status
            )
        return redirect("chat")
    return render(request, "account/leaving.html", context)


def _is_refused(form: forms.Form) -> bool:
    """Who was told to wait is answered without the database."""
    return form.is_bound and retry_after(form) > 0


def refused_form(response: HttpResponseBase) -> HttpResponseBase:
    """Where it was tried too often: the form as it was sent, with when to send it again."""
    form = (getattr(response, "context_data", None) or {}).get("form")
    if isinstance(form, forms.Form) and form.is_bound and (seconds := retry_after(form)):
        response.status_code = 429
        response["Retry-After"] = str(seconds)
    return response


def welcomed(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Who was let in is known in this browser from then on."""
    if request.method == "POST" and response.status_code == 302 and isinstance(request.user, User):
        if session_user.is_leaving(request.user):
            response = redirect("leaving")
        devices.remember(request, response, request.user.get_username())
    return refused_form(response)


def _view(view: Any, request: HttpRequest, **kwargs: str) -> HttpResponseBase:
    response: HttpResponseBase = view(request, **kwargs)
    return response
