"""What is written in each mail. A link is made when its mail is sent: what waits to be sent holds none."""

from collections.abc import Callable
from dataclasses import dataclass

from allauth.account.app_settings import PASSWORD_RESET_TOKEN_GENERATOR
from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from allauth.account.utils import user_pk_to_url_str
from django.contrib.auth.models import User
from django.core import signing
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from conversations.models import OutgoingMail
from conversations.runtime.site import public_address

SIGN_UP, SIGN_UP_SECONDS = "openbook.sign-up", 86_400

type Plain = str | int | None
type Values = dict[str, Plain]


@dataclass(frozen=True, kw_only=True)
class Letter:
    subject: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Envelope:
    """Who gets the mail, and about which account it is."""

    to: str
    user: User | None


NOTICES = {
    "password_changed": gettext_noop("The password of your account was changed."),
    "password_reset": gettext_noop("A new password was set by a link."),
    "password_set": gettext_noop("A password was set for your account."),
    "email_changed": gettext_noop("The mail address of your account was changed."),
    "email_deleted": gettext_noop("The mail address of your account was removed."),
    "account_connected": gettext_noop("A sign-in by a provider was linked to your account."),
    "account_disconnected": gettext_noop("A sign-in by a provider was unlinked from your account."),
    "totp_activated": gettext_noop("An app for codes was set up as second factor."),
    "totp_deactivated": gettext_noop("The app for codes was removed as second factor."),
    "webauthn_added": gettext_noop("A passkey was added."),
    "webauthn_removed": gettext_noop("A passkey was removed."),
    "recovery_codes_generated": gettext_noop("New recovery codes were made. The former ones work no more."),
    "factors_removed": gettext_noop("Staff removed the second factor of your account."),
    "password_by_staff": gettext_noop("Staff changed the password of your account."),
    "token_made": gettext_noop("An access token for programs was made."),
    "webhook_disabled": gettext_noop("A webhook was switched off, as its address did not take what it was sent."),
    "token_revoked": gettext_noop("An access token for programs was revoked."),
}
"""What an account's owner hears of, by the names that allauth gives them, and ours."""


def password_link(user: User) -> str:
    """Works for a day, once, and only until the user signs in or the password changes otherwise."""
    values = {"uidb36": user_pk_to_url_str(user), "key": PASSWORD_RESET_TOKEN_GENERATOR().make_token(user)}
    return public_address() + reverse("account_reset_password_from_key", kwargs=values)


def has_account(email: str) -> bool:
    """Whether the address is somebody's here, proven or not."""
    return (
        EmailAddress.objects.filter(email__iexact=email).exists() or User.objects.filter(email__iexact=email).exists()
    )


def sign_up_token(email: str, invitation: str = "") -> str:
    return signing.dumps([email, invitation], salt=SIGN_UP)


def read_sign_up_token(token: str) -> tuple[str, str] | None:
    """The address that is proven by it, and the id of an invitation, or nothing; ``None``: it is no such token, or too old."""
    try:
        email, invitation = signing.loads(token, salt=SIGN_UP, max_age=SIGN_UP_SECONDS)
    except signing.BadSignature:
        return None
    return str(email), str(invitation)


def write(kind: str, *, to: str, user: User | None, values: Values) -> Letter:
    """In the language that is active. Raises ``KeyError`` for a kind that there is not."""
    return KINDS[kind](Envelope(to=to, user=user), values)


def _password_reset(envelope: Envelope, values: Values) -> Letter:
    assert envelope.user
    link = password_link(envelope.user)
    return _written("password_reset_key", gettext("A new password for Openbook"), envelope, link=link)


def _confirmation(envelope: Envelope, values: Values) -> Letter:
    """With which a person says that the address is theirs."""
    address = EmailAddress.objects.get(user=envelope.user, email__iexact=envelope.to)
    link = public_address() + reverse("account_confirm_email", args=[EmailConfirmationHMAC(address).key])
    return _written("email_confirmation", gettext("Your mail address at Openbook"), envelope, link=link)


def _notice(envelope: Envelope, values: Values) -> Letter:
    sentence = gettext(NOTICES[str(values["what"])])
    link = public_address() + reverse("account")
    return _written("notice", gettext("Your account at Openbook"), envelope, sentence=sentence, link=link, **values)


def _invitation(envelope: Envelope, values: Values) -> Letter:
    return _written(
        "invitation", gettext("An invitation to Openbook"), envelope, link=public_address() + str(values["path"])
    )


def _sign_up(envelope: Envelope, values: Values) -> Letter:
    """With which somebody proves an address before there is an account; else, that there is one: whoever asked is not told."""
    if has_account(envelope.to):
        subject = gettext("Your account at Openbook")
        return _written("account_exists", subject, envelope, link=public_address() + reverse("account_login"))
    token = sign_up_token(envelope.to, str(values.get("invitation") or ""))
    link = public_address() + reverse("prove_address", args=[token])
    return _written("sign_up", gettext("Your account at Openbook"), envelope, link=link)


def _plain(envelope: Envelope, values: Values) -> Letter:
    """Written where it was posted."""
    return Letter(subject=str(values["subject"]), text=str(values["text"]))


def _written(template: str, subject: str, envelope: Envelope, **values: Plain) -> Letter:
    context = {"user": envelope.user, "email": envelope.to, "origin": public_address(), **values}
    return Letter(subject=subject, text=render_to_string(f"account/email/{template}_message.txt", context))


Kind = OutgoingMail.Kind
KINDS: dict[str, Callable[[Envelope, Values], Letter]] = {
    Kind.PASSWORD_RESET: _password_reset,
    Kind.CONFIRMATION: _confirmation,
    Kind.NOTICE: _notice,
    Kind.INVITATION: _invitation,
    Kind.SIGN_UP: _sign_up,
    Kind.PLAIN: _plain,
}
