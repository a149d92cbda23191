"""Sign-ins that came by a provider: told in the list of sign-ins, ended with the provider's own session, and taken back to the
provider when the person signs out here."""

from typing import Any

from allauth.usersessions.models import UserSession
from django.contrib.sessions.backends.base import SessionBase

from conversations.accounts import lifecycle

SESSION_KEY = "provider_sign_in"
"""In the session: what the provider wants to hear at sign-out."""


def note(session: SessionBase, details: dict[str, Any]) -> None:
    """``details``: ``provider``, ``name``, and what is known of ``sub`` and ``sid`` (SAML's NameID and SessionIndex),
    ``sub_format``, ``id_token``, ``end_session``. The row in the list of sign-ins gets what finds it again."""
    session[SESSION_KEY] = details
    found_by = {name: details[name] for name in ("provider", "name", "sub", "sid") if details.get(name)}
    UserSession.objects.filter(session_key=session.session_key).update(data=found_by)


def details_of(session: SessionBase) -> dict[str, Any]:
    details = session.get(SESSION_KEY)
    return details if isinstance(details, dict) else {}


def end(provider: str, *, sub: str = "", sid: str = "") -> int:
    """End the sessions here that belong to a session of the provider, or to all of a person's. Returns how many."""
    rows = UserSession.objects.filter(data__provider=provider)
    if sub:
        rows = rows.filter(data__sub=sub)
    if sid:
        rows = rows.filter(data__sid=sid)
    return lifecycle.sign_out(rows) if sub or sid else 0
