"""How long ago the person of a session proved who they are. What outlives the session takes a fresh proof."""

import time

from allauth.account import app_settings
from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.internal.flows.reauthentication import get_reauthentication_flows
from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest

BY_PASSWORD = "reauthenticate"  # noqa: S105  # as allauth calls the way

PROOFS = {"password", "mfa"}


def can_prove(user: User) -> bool:
    """Whether the account has a password or a factor to be asked for. One that signs in by a provider may have neither."""
    flows = {flow["id"] for flow in get_reauthentication_flows(user)}
    return bool(flows if settings.OPENBOOK_PASSWORD_SIGN_IN else flows - {BY_PASSWORD})


def is_fresh(request: HttpRequest, user: User) -> bool:
    """Whether they did in the last five minutes, as they signed in or since: by password or factor, where they have any."""
    records = get_authentication_records(request, user)
    ways = PROOFS if can_prove(user) else {each["method"] for each in records}
    return _is_recent([each["at"] for each in records if each["method"] in ways])


def is_factor_fresh(request: HttpRequest, user: User) -> bool:
    """The same, with a second factor."""
    return _is_recent([each["at"] for each in get_authentication_records(request, user) if each["method"] == "mfa"])


def _is_recent(times: list[float]) -> bool:
    return bool(times) and 0 <= time.time() - times[-1] < app_settings.REAUTHENTICATION_TIMEOUT
