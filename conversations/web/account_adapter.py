"""Where allauth, which knows how accounts are kept, asks how it is done here."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.core.exceptions import ImmediateHttpResponse
from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import validate_ipv46_address
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext_noop

from conversations.accounts import freshness, lifecycle, mailing, service_accounts, sign_in
from conversations.errors import InvitationEnded, RateLimited
from conversations.models import DirectoryUser
from conversations.runtime.wording import translated
from conversations.web import invited, provider_entry


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        proven = invited.proven(request)
        return invited.refusal(request, email=proven, is_verified=bool(proven)) is None

    def is_email_verified(self, request: HttpRequest, email: str) -> bool:
        return bool(email) and email.casefold() == invited.proven(request).casefold()

    def save_user(self, request: HttpRequest, user: User, form: forms.Form, commit: bool = True) -> User:
        """With what an invitation gives, or not at all. Raises ``ImmediateHttpResponse``."""
        super().save_user(request, user, form, commit=False)  # hashes the password: not in a transaction
        try:
            with transaction.atomic():
                user.save()
                invited.use(request, user)
        except InvitationEnded:
            raise ImmediateHttpResponse(redirect("opened_invitation")) from None
        return user

    def is_reauthentication_required(self, app: str | None = None) -> bool:
        return freshness.can_prove(self.request.user)

    def get_reauthentication_methods(self, user: User) -> list[dict[str, str]]:
        methods: list[dict[str, str]] = super().get_reauthentication_methods(user)
        return [each for each in methods if settings.OPENBOOK_PASSWORD_SIGN_IN or each["id"] != freshness.BY_PASSWORD]

    def get_client_ip(self, request: HttpRequest) -> str:
        address = sign_in.address_of(request)
        try:
            validate_ipv46_address(address)
        except ValidationError:
            return lifecycle.ADDRESS_UNKNOWN
        return address

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """Whoever signs in, or proves who they are. Raises ``ValidationError`` after too many attempts."""
        with counted_attempt(request, credentials["username"]) as attempt:
            user: User | None = super().authenticate(request, **credentials)
            if user:
                attempt.forgive()
            return user

    def pre_login(self, request: HttpRequest, user: User, **details: Any) -> HttpResponse | None:
        """Nobody signs in with a service account, by whatever provider or link."""
        if service_accounts.is_service(user):
            return redirect("account_inactive")
        response: HttpResponse | None = super().pre_login(request, user, **details)
        return response

    def post_login(self, request: HttpRequest, user: User, **details: Any) -> HttpResponse:
        lifecycle.make_room(user)
        if details.get("signup"):
            invited.clear(request)
        response: HttpResponse = super().post_login(request, user, **details)
        if login := (details.get("signal_kwargs") or {}).get("sociallogin"):
            provider_entry.signed_in(request, user, login)
        return response

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("account")

    # Mail goes by the worker, so that no answer takes longer for it.

    def send_password_reset_mail(self, user: User, email: str, context: dict[str, Any]) -> None:
        may_have_one = (
            settings.OPENBOOK_PASSWORD_SIGN_IN and user.has_usable_password()
        ) or DirectoryUser.objects.filter(user=user).exists()
        if may_have_one and not service_accounts.is_service(user) and sign_in.count_mail(email):
            mailing.post("password_reset", email, user=user)

    def send_notification_mail(
        self, template_prefix: str, user: User, context: dict[str, Any] | None = None, email: str | None = None
    ) -> None:
        to = email or (context or {}).get("deleted_email", "")
        mailing.notify(user, template_prefix.rpartition("/")[2], to=to)

    def send_confirmation_mail(
        self, request: HttpRequest, emailconfirmation: EmailConfirmationHMAC, signup: bool
    ) -> None:
        address: EmailAddress = emailconfirmation.email_address
        if not sign_in.count_mail(address.email):
            message = gettext_noop("Enough links were sent to this address. Try again in an hour.")
            raise RateLimited(message, limit="mail", most=sign_in.MAILS, retry_after=sign_in.HOUR)
        mailing.post("confirmation", address.email, user=address.user)


def counted_attempt(request: HttpRequest, username: str) -> AbstractContextManager[sign_in.SignInAttempt]:
    """A guess at a password within a form, which keeps what was typed. Raises ``ValidationError`` after too many."""
    return _within_form(sign_in.attempt(request, username))


def counted_code(request: HttpRequest, user: User) -> AbstractContextManager[sign_in.SignInAttempt]:
    """The same of a guess at a code."""
    return _within_form(sign_in.code_attempt(request, user.get_username()))


@contextmanager
def _within_form(attempt: AbstractContextManager[sign_in.SignInAttempt]) -> Iterator[sign_in.SignInAttempt]:
    try:
        with attempt as counted:
            yield counted
    except RateLimited as error:
        params = {"retry_after": error.details["retry_after"]}
        raise ValidationError(translated(error.message), code=error.code, params=params) from error


def retry_after(form: forms.Form) -> int:
    """For how many seconds the form takes nothing more; 0 where it was not refused for that."""
    errors = [error for field in form.errors.as_data().values() for error in field]
    return max(
        (error.params["retry_after"] for error in errors if error.code == RateLimited.code and error.params), default=0
    )
