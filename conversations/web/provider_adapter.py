"""Where allauth asks what becomes of whoever a provider knows: who gets an account, and which existing one is theirs."""

import logging
from typing import Any

from allauth.account.internal.flows.manage_email import assess_unique_email
from allauth.account.models import EmailAddress
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialLogin
from allauth.socialaccount.providers.base import AuthError, AuthProcess, Provider
from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from conversations.accounts import provider_http, provider_secrets, sign_up
from conversations.errors import InvitationEnded
from conversations.web import invited, provider_entry

log = logging.getLogger("openbook.accounts")


AWAY = gettext_noop("%(provider)s does not answer at the moment. Nothing is lost: try again in a minute.")
REFUSED = gettext_noop("What %(provider)s sent could not be believed, or was sent before. Begin again.")
TAKEN = gettext_noop(
    "Your mail address at %(provider)s belongs to an account here already. Sign in to that account as you did before, and "
    "link %(provider)s on the page of your account."
)


class ProviderAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    error_messages = {
        **DefaultSocialAccountAdapter.error_messages,
        "no_password": _("This is your only way to sign in, so it can't be taken away. Set a password first."),
    }

    def get_requests_session(self) -> provider_http.ProviderSession:
        return provider_http.ProviderSession()

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        apps: list[SocialApp] = super().list_apps(request, provider=provider, client_id=client_id)
        for app in apps:
            provider_secrets.open_secret(app)
        return apps

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: dict[str, Any]) -> User:
        """A mail address counts only where the provider is trusted to have proved it."""
        if not self.can_authenticate_by_email(sociallogin, ""):
            sociallogin.email_addresses = []
        sociallogin.email_addresses = [each for each in sociallogin.email_addresses if each.verified]
        address = sociallogin.email_addresses[0].email if sociallogin.email_addresses else ""
        user: User = super().populate_user(request, sociallogin, {**data, "email": address})
        return user

    def authenticate_by_email(self, sociallogin: SocialLogin) -> tuple[User, str] | None:
        """The account whose owner proved the same address here."""
        for address in sociallogin.email_addresses:
            proved = EmailAddress.objects.filter(email__iexact=address.email, verified=True).select_related("user")
            if known := proved.first():
                return known.user, address.email
        return None

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Nobody gets an account who is not to have one. Raises ``ImmediateHttpResponse``."""
        sociallogin.state["details"] = provider_entry.remembered(request)
        if sociallogin.state.get("process") == AuthProcess.CONNECT or sociallogin.is_existing:
            return
        if problem := self._obstacle(request, sociallogin):
            log.info("no account for somebody of a provider", extra={"provider": sociallogin.account.provider})
            page = provider_entry.problem_page(request, sociallogin.provider, problem, status=403)
            raise ImmediateHttpResponse(page)

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return not self._obstacle(request, sociallogin)

    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form: forms.Form | None = None) -> User:
        """With what an invitation gives, or not at all. Raises ``ImmediateHttpResponse``."""
        try:
            with transaction.atomic():
                user: User = super().save_user(request, sociallogin, form)
                invited.use(request, user)
        except InvitationEnded as error:
            page = provider_entry.problem_page(request, sociallogin.provider, gettext(error.message), status=410)
            raise ImmediateHttpResponse(page) from None
        return user

    def validate_disconnect(self, account: SocialAccount, accounts: QuerySet[SocialAccount]) -> None:
        may_use_password = settings.OPENBOOK_PASSWORD_SIGN_IN
        if not may_use_password and not accounts.exclude(pk=account.pk).exists():
            raise self.validation_error("no_password")

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Provider,
        error: str | None = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> None:
        """Raises ``ImmediateHttpResponse``, but where the person changed their mind."""
        if error == AuthError.CANCELLED:
            return
        is_away = isinstance(exception, provider_http.ProviderAway)
        reason = (extra_context or {}).get("saml_last_error_reason") or str(exception or error or "")
        log.warning("sign-in by a provider failed", extra={"provider": provider.sub_id, "cause": reason[:500]})
        problem = gettext(AWAY if is_away else REFUSED) % {"provider": provider.name}
        page = provider_entry.problem_page(request, provider, problem, status=503 if is_away else 401)
        raise ImmediateHttpResponse(page)

    def _obstacle(self, request: HttpRequest, sociallogin: SocialLogin) -> str:
        """Why this person gets no account, in words; empty: they get one."""
        address = sociallogin.email_addresses[0].email if sociallogin.email_addresses else ""
        policy = sociallogin.provider.app.settings.get("sign_up", "as_others")
        invitation = invited.accepted(request)
        if policy == "closed" and not invitation:
            return gettext(sign_up.MESSAGES[sign_up.Refusal.CLOSED])
        follows_rules = policy == "as_others" or invitation
        if follows_rules and (refusal := invited.refusal(request, email=address, is_verified=bool(address))):
            return gettext(sign_up.MESSAGES[refusal])
        if address and assess_unique_email(address) is not True:
            return gettext(TAKEN) % {"provider": sociallogin.provider.name}
        return ""
