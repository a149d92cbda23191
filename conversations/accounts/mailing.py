"""Mail to people about their account, where the operator has set that up. The worker sends it."""

from allauth.account.app_settings import PASSWORD_RESET_TOKEN_GENERATOR
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import send_mail
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop, override

from conversations.runtime.site import public_address
from memory.services import language_of


def is_possible() -> bool:
    return bool(settings.MAILERS)


def password_link(user: User) -> str:
    """Works for a day, once, and only until the user signs in or the password changes otherwise."""
    values = {"uidb36": user_pk_to_url_str(user), "key": PASSWORD_RESET_TOKEN_GENERATOR().make_token(user)}
    return public_address() + reverse("account_reset_password_from_key", kwargs=values)


def send_password_link(user: User, email: str, language: str) -> None:
    """In the language that the person chose, else in this one."""
    _send("password_reset_key", gettext_noop("A new password for Openbook"), user, email, password_link(user), language)


def send_confirmation_link(address: EmailAddress, language: str) -> None:
    """With which a person says that the address is theirs."""
    link = public_address() + reverse("account_confirm_email", args=[EmailConfirmationHMAC(address).key])
    subject = gettext_noop("Your mail address at Openbook")
    _send("email_confirmation", subject, address.user, address.email, link, language)


def _send(template: str, subject: str, user: User, email: str, link: str, language: str) -> None:
    values = {"user": user, "link": link, "origin": public_address()}
    with override(language_of(user) or language or settings.LANGUAGE_CODE):
        send_mail(gettext(subject), render_to_string(f"account/email/{template}_message.txt", values), None, [email])
