"""The pages for people who aren't signed in: how they get in, get an account, and get in again without their password."""

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.auth import login as login_user
from django.contrib.auth.forms import BaseUserCreationForm, UserCreationForm
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, PasswordResetConfirmView
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from conversations import accounts, devices, mailing, sign_in, signed_in
from conversations.forms import ForgottenForm, SignInForm
from conversations.models import AccountDeletion
from conversations.tasks import mail_password_link

LINKS_HOUR = 10
"""How many links for a new password may be asked for from one address."""


def login(request: HttpRequest) -> HttpResponseBase:
    view = LoginView.as_view(
        # A form that is sent is refused before any session is looked up.
        redirect_authenticated_user=request.method != "POST",
        extra_context={"signup_open": settings.OPENBOOK_SIGNUP},
        authentication_form=SignInForm,
    )
    return _answered(request, view(request))


def staff_login(request: HttpRequest) -> HttpResponseBase:
    """The admin's own page, with the same answer to who guesses."""
    return _answered(request, admin.site.login(request))


def _answered(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Where it was tried too often: the form as it was sent, with when to send it again. Who is let in is known here from
    then on."""
    if request.method == "POST" and response.status_code == 302 and isinstance(request.user, User):
        if signed_in.is_leaving(request.user):
            response = redirect("leaving")
        _welcome(request, response, request.user)
    form = (getattr(response, "context_data", None) or {}).get("form")
    if isinstance(form, SignInForm) and form.retry_after:
        response.status_code = 429
        response["Retry-After"] = str(form.retry_after)
    return response


def _welcome(request: HttpRequest, response: HttpResponseBase, user: User) -> None:
    accounts.record_sign_in(request, user)
    devices.remember(request, response, user.get_username())


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
    _welcome(request, response, user)
    return response


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def forgotten(request: HttpRequest) -> HttpResponse:
    """Ask for a link by mail. Says the same whether anybody has that address."""
    form = ForgottenForm(request.POST or None)
    context = {"form": form, "is_possible": mailing.is_possible()}
    if not mailing.is_possible() or not form.is_bound:
        return render(request, "registration/forgotten.html", context)
    sign_in.count_request(request, "forgotten", most=LINKS_HOUR)
    if form.is_valid():
        email = form.cleaned_data["email"]
        people = User.objects.filter(email__iexact=email, is_active=True) if sign_in.count_mail(email) else []
        for person in people:
            if person.has_usable_password():
                mail_password_link.enqueue(person.pk, request.build_absolute_uri("/").rstrip("/"))
        context["sent_to"] = email
    return render(request, "registration/forgotten.html", context)


class SetPasswordView(PasswordResetConfirmView):
    """By a link that was mailed, or made by staff. All sessions end: whoever had the old password is out."""

    template_name = "registration/set_password.html"

    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        accounts.sign_out_elsewhere(form.user, None)
        return response


@never_cache
def set_password(request: HttpRequest, **link: str) -> HttpResponseBase:
    view = SetPasswordView.as_view(success_url=reverse("login"))
    if request.method != "POST":
        return view(request, **link)
    with sign_in.new_password(request, "set-password"):
        return view(request, **link)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def leaving(request: HttpRequest) -> HttpResponse:
    """All that an account meets which is to be deleted: when, and how to keep it."""
    user = signed_in.leaving_user(request)
    if user is None:
        return redirect("chat")
    if request.method == "POST":
        accounts.keep(user)
        return redirect("chat")
    due_at = AccountDeletion.objects.get(user=user).due_at
    context = {"person": user, "due_at": due_at, "goes": accounts.what_goes(user)}
    return render(request, "registration/leaving.html", context)
