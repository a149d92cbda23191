"""Who may make an account, and which groups it joins: by the rules of the installation, or by an invitation of staff.

The same for the form of a password and for sign-in by a provider, which says itself whether an address is verified.
"""

from dataclasses import dataclass
from enum import StrEnum

from django.conf import settings
from django.utils.translation import gettext_noop


@dataclass(frozen=True, kw_only=True)
class SignUpRules:
    """``domains`` are those of mail addresses, in lower case; empty: any address, or none."""

    is_open: bool
    domains: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class InvitationTerms:
    """Whom an invitation lets in: whoever has the link, or the owner of ``email`` alone, who has to prove it. ``has_ended``: it
    expired, was used up or was revoked."""

    email: str = ""
    has_ended: bool = False


class Refusal(StrEnum):
    """Why no account is made."""

    CLOSED = "closed"
    ADDRESS_NEEDED = "address_needed"
    ADDRESS_NOT_VERIFIED = "address_not_verified"
    OTHER_DOMAIN = "other_domain"
    INVITATION_ENDED = "invitation_ended"
    OTHER_ADDRESS = "other_address"


MESSAGES = {
    Refusal.CLOSED: gettext_noop("Signing up is off. Ask the people who run this server for an invitation."),
    Refusal.ADDRESS_NEEDED: gettext_noop("A mail address is needed here. Give yours."),
    Refusal.ADDRESS_NOT_VERIFIED: gettext_noop(
        "This mail address is not verified. Open the link that was mailed to it."
    ),
    Refusal.OTHER_DOMAIN: gettext_noop(
        "Accounts are for people with a mail address of certain organisations, and this is of another. "
        "Ask the people who run this server for an invitation."
    ),
    Refusal.INVITATION_ENDED: gettext_noop("This invitation works no more. Ask whoever sent it for a new one."),
    Refusal.OTHER_ADDRESS: gettext_noop(
        "This invitation is for another mail address. Use the one that it was sent to."
    ),
}
"""For people, by ``gettext``."""


def rules() -> SignUpRules:
    """Those of this installation's settings."""
    return SignUpRules(is_open=settings.OPENBOOK_SIGNUP, domains=tuple(settings.OPENBOOK_SIGNUP_DOMAINS))


def refusal(
    rules: SignUpRules, *, email: str = "", is_verified: bool = False, invitation: InvitationTerms | None = None
) -> Refusal | None:
    """Why whoever comes with this address and this invitation gets no account; ``None``: they get one.

    An invitation stands for the rules: it lets people in where signing up is off, and from any domain.
    """
    if invitation:
        return _refusal_of(invitation, email, is_verified=is_verified)
    if not rules.is_open:
        return Refusal.CLOSED
    if not rules.domains:
        return None
    if not email:
        return Refusal.ADDRESS_NEEDED
    if domain_of(email) not in rules.domains:
        return Refusal.OTHER_DOMAIN
    return None if is_verified else Refusal.ADDRESS_NOT_VERIFIED


def domain_of(email: str) -> str:
    return email.rpartition("@")[2].casefold()


def _refusal_of(invitation: InvitationTerms, email: str, *, is_verified: bool) -> Refusal | None:
    if invitation.has_ended:
        return Refusal.INVITATION_ENDED
    if not invitation.email:
        return None
    if not email:
        return Refusal.ADDRESS_NEEDED
    if email.casefold() != invitation.email.casefold():
        return Refusal.OTHER_ADDRESS
    return None if is_verified else Refusal.ADDRESS_NOT_VERIFIED
