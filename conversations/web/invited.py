"""What a browser brings to a sign-up: the invitation that its person accepted, and the mail address that they have proven. Both
stay in the session, and so survive the way to a provider and back."""

from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.http import HttpRequest

from conversations.accounts import invitations, sign_up
from conversations.accounts.sign_up import InvitationTerms, Refusal
from conversations.models import Invitation

KEY, PROVEN = "invitation", "sign_up_address"


def open_invitation(request: HttpRequest, invitation: Invitation, *, was_mailed: bool) -> None:
    """Shown from now on to this browser; it counts once it is accepted."""
    request.session[KEY] = {"id": str(invitation.pk), "accepted": False}
    if was_mailed:
        prove(request, invitation.email)


def accept(request: HttpRequest, invitation_id: str) -> None:
    request.session[KEY] = {"id": invitation_id, "accepted": True}


def opened(request: HttpRequest) -> Invitation | None:
    return _invitation(request.session.get(KEY))


def accepted(request: HttpRequest) -> Invitation | None:
    state = request.session.get(KEY) or {}
    return _invitation(state) if state.get("accepted") else None


def prove(request: HttpRequest, email: str) -> None:
    request.session[PROVEN] = email


def proven(request: HttpRequest) -> str:
    """The address that whoever sits there reads the mail of; empty: none was proven."""
    return str(request.session.get(PROVEN, ""))


def terms(request: HttpRequest) -> InvitationTerms | None:
    invitation = accepted(request)
    return invitations.terms_of(invitation) if invitation else None


def refusal(request: HttpRequest, *, email: str, is_verified: bool) -> Refusal | None:
    """Why whoever comes with this address, and with what they have accepted, gets no account."""
    return sign_up.refusal(sign_up.rules(), email=email, is_verified=is_verified, invitation=terms(request))


def use(request: HttpRequest, user: User) -> None:
    """Of the user who was just made: within the transaction that made them. Raises ``InvitationEnded``."""
    if invitation := accepted(request):
        invitations.use(invitation.pk, user)


def clear(request: HttpRequest) -> None:
    for key in (KEY, PROVEN):
        request.session.pop(key, None)


def _invitation(state: Any) -> Invitation | None:
    return invitations.by_id(pk=UUID(state["id"])) if state else None
