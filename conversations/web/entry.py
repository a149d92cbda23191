"""The pages for people who aren't signed in: how they get in, get an account, and get in again without their password.

allauth's, behind what counts attempts before anything is looked up.
"""

from functools import partial
from typing import Any

from allauth.account import views as allauth_views
from allauth.account.internal.flows.login import perform_login, record_authentication
from allauth.account.models import Login
from allauth.account.utils import get_next_redirect_url
from allauth.socialaccount.adapter import get_adapter
from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from conversations.accounts import devices, letters, lifecycle, mailing, session_user, sign_in, sign_in_links, sign_up
from conversations.accounts.passwords import NO_PASSWORDS, takes_passwords
from conversations.errors import RateLimited
from conversations.holds import coverage
from conversations.models import AccountDeletion
from conversations.runtime.wording import translated
from conversations.web import invited
from conversations.web.account_adapter import retry_after
from conversations.web.sign_up_forms import AddressForm
from memory.forgetting.ledger import LedgerAway

WRONG_LINKS_MINUTE = 10
LINKS_HOUR = 10
"""How many links for a new password may be asked for from one address."""


def must_have_passwords() -> None:
    """Raises ``Http404`` where people sign in by other means alone."""
    if not settings.OPENBOOK_PASSWORD_SIGN_IN:
        raise Http404(gettext(NO_PASSWORDS))


class SignInView(allauth_views.LoginView):  # type: ignore[misc]
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return context | {
            "providers": [] if _is_refused(context["form"]) else get_adapter().list_providers(self.request),
            "takes_passwords": takes_passwords(),
            "signup_open": is_sign_up_open(),
        }


def is_sign_up_open() -> bool:
    """Whether anybody gets an account by a password, or may if their address is of the right domain."""
    rules = sign_up.rules()
    return bool(settings.OPENBOOK_PASSWORD_SIGN_IN) and rules.is_open and (mailing.is_possible() or not rules.domains)


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
    if request.method == "POST" and not takes_passwords():
        raise Http404(gettext(NO_PASSWORDS))
    # A form that is sent is refused before any session is looked up.
    if request.method != "POST" and request.user.is_authenticated:
        return redirect(get_next_redirect_url(request) or "chat")
    return welcomed(request, SignInView.as_view()(request))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def staff_login(request: HttpRequest) -> HttpResponseBase:
    """Where the admin sends whoever isn't signed in, or isn't staff."""
    if request.method == "POST" and not takes_passwords():
        raise Http404(gettext(NO_PASSWORDS))
    if request.method != "POST" and isinstance(request.user, User) and request.user.is_staff:
        return redirect(get_next_redirect_url(request) or "admin:index")
    return welcomed(request, StaffSignInView.as_view()(request))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def signup(request: HttpRequest) -> HttpResponseBase:
    """An account of one's own, where the operator allows it (OPENBOOK_SIGNUP) or an invitation does. Where mail is set up, the
    address comes first: nothing is made before it is proven."""
    must_have_passwords()
    if request.method != "POST" and request.user.is_authenticated:
        return redirect("chat")
    proven = invited.proven(request)
    if mailing.is_possible() and not proven:
        return _give_address(request)
    if refusal := invited.refusal(request, email=proven, is_verified=bool(proven)):
        raise Http404(gettext(sign_up.MESSAGES[refusal]))
    if request.method != "POST":
        return _view(SignUpView.as_view(), request)
    with sign_in.new_password(request, "sign-up"):
        return welcomed(request, _view(SignUpView.as_view(), request))


def _give_address(request: HttpRequest) -> HttpResponse:
    terms = invited.terms(request)
    if terms and terms.has_ended:
        raise Http404(gettext(sign_up.MESSAGES[sign_up.Refusal.INVITATION_ENDED]))
    if not terms and not sign_up.rules().is_open:
        raise Http404(gettext(sign_up.MESSAGES[sign_up.Refusal.CLOSED]))
    first = {"email": terms.email} if terms else {}
    form = AddressForm(request.POST or None, initial=first, refusal=partial(invited.refusal, request, is_verified=True))
    if not form.is_valid():
        return render(request, "account/signup_address.html", {"form": form, "invitation": invited.accepted(request)})
    email: str = form.cleaned_data["email"]
    sign_in.count_request(request, "sign-up-mail", most=settings.OPENBOOK_LIMIT_SIGNUPS_HOUR)
    if not sign_in.count_mail(email):
        message = gettext_noop("Enough links were sent to this address. Try again in an hour.")
        raise RateLimited(message, limit="mail", most=sign_in.MAILS, retry_after=sign_in.HOUR)
    invitation = invited.accepted(request)
    mailing.post("sign_up", email, invitation=str(invitation.pk) if invitation else "")
    return render(request, "account/signup_sent.html", {"email": email})


class SignUpView(allauth_views.SignupView):  # type: ignore[misc]
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        return context | {"proven": invited.proven(self.request), "invitation": invited.accepted(self.request)}


@never_cache
@require_http_methods(["GET", "HEAD"])
def prove_address(request: HttpRequest, token: str) -> HttpResponse:
    """By the link that was mailed, in whatever browser it is opened."""
    read = letters.read_sign_up_token(token)
    if read is None or letters.has_account(read[0]):
        return render(request, "account/signup_address_late.html", status=410)
    email, invitation = read
    invited.prove(request, email)
    if invitation:
        invited.accept(request, invitation)
    return redirect("account_signup")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def forgotten(request: HttpRequest) -> HttpResponseBase:
    """Ask for a link by mail. Says the same whether anybody has that address."""
    must_have_passwords()
    if not mailing.is_possible():
        return render(request, "account/password_reset.html")
    if request.method == "POST":
        sign_in.count_request(request, "forgotten", most=LINKS_HOUR)
    return _view(allauth_views.password_reset, request)


@never_cache
def set_password(request: HttpRequest, **link: str) -> HttpResponseBase:
    """By a link that was mailed, or made by staff."""
    must_have_passwords()
    if request.method != "POST":
        return _view(allauth_views.password_reset_from_key, request, **link)
    with sign_in.new_password(request, "set-password"):
        return _view(allauth_views.password_reset_from_key, request, **link)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def operator(request: HttpRequest, token: str) -> HttpResponseBase:
    """By a link of `manage.py sign_in_link`: for a superuser, once, within minutes. A second factor is asked for as ever."""
    right = sign_in.count_guess(request, "sign-in-link", most=WRONG_LINKS_MINUTE)
    user = sign_in_links.user_of(token)
    if user is None:
        return render(request, "account/operator.html", status=410)
    right()
    if request.method != "POST":
        return render(request, "account/operator.html", {"person": user})
    if not sign_in.is_first_use("sign-in-link", token, seconds=sign_in_links.SECONDS):
        return render(request, "account/operator.html", status=410)
    record_authentication(request, user, method="sign_in_link")
    response: HttpResponse = perform_login(request, Login(user=user, redirect_url=reverse("admin:index")))
    return response


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
