"""Links to set a new password, by mail where the operator has set that up."""

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.core.mail import send_mail
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode


def is_possible() -> bool:
    return bool(settings.MAILERS)


def password_link(user: User, origin: str) -> str:
    """Works for a day, once, and only until the user signs in or the password changes otherwise."""
    values = {"uidb64": urlsafe_base64_encode(force_bytes(user.pk)), "token": default_token_generator.make_token(user)}
    return origin + reverse("set_password", kwargs=values)


def send_password_link(user: User, origin: str) -> None:
    text = (
        f"Somebody, probably you, asked for a new password for {user.get_username()} at {origin}.\n\n"
        f"Set it here, within a day:\n\n{password_link(user, origin)}\n\n"
        "If it wasn't you, do nothing: the password stays as it is.\n"
    )
    send_mail("A new password for Openbook", text, None, [user.email])
