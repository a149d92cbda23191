"""Mail to people about their account, where the operator has set that up. The worker sends it."""

from allauth.account.app_settings import PASSWORD_RESET_TOKEN_GENERATOR
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import send_mail
from django.template.loader import render_to_string
from django.urls import reverse

from conversations.runtime.site import public_address


def is_possible() -> bool:
    return bool(settings.MAILERS)


def password_link(user: User) -> str:
    """Works for a day, once, and only until the user signs in or the password changes otherwise."""
    values = {"uidb36": user_pk_to_url_str(user), "key": PASSWORD_RESET_TOKEN_GENERATOR().make_token(user)}
    return public_address() + reverse("account_reset_password_from_key", kwargs=values)


def send_password_link(user: User, email: str) -> None:
    _send("password_reset_key", "A new password for Openbook", user, email, password_link(user))


def send_confirmation_link(address: EmailAddress) -> None:
    """With which a person says that the address is theirs."""
    link = public_address() + reverse("account_confirm_email", args=[EmailConfirmationHMAC(address).key])
    _send("email_confirmation", "Your mail address at Openbook", address.user, address.email, link)


def _send(template: str, subject: str, user: User, email: str, link: str) -> None:
    values = {"user": user, "link": link, "origin": public_address()}
    send_mail(subject, render_to_string(f"account/email/{template}_message.txt", values), None, [email])
