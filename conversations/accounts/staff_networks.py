"""From which networks staff work: the pages under /admin/, calls that are staff's alone, and tokens with a scope of staff.

Only the operator's setting says so, so that nobody can lock everybody out from within, and whoever starts the server can let
them in again.
"""

from collections.abc import Collection

from django.conf import settings
from django.contrib.auth.models import User
from django.utils.translation import gettext_noop

from conversations import audit
from conversations.accounts import networks
from conversations.errors import AddressNotAllowed
from conversations.models import ApiToken, AuditEvent, Scope

SCOPES = frozenset(scope for scope in Scope if scope.startswith("staff")) - {Scope.STAFF_INVITATIONS}
"""A directory that fills accounts by SCIM is no member of staff: its token may be limited by itself."""
WORDS = gettext_noop("Staff work from certain networks only, and this address is in none of them.")


def hold(address: str) -> bool:
    """Whether staff may work from there."""
    allowed = settings.OPENBOOK_STAFF_NETWORKS
    return not allowed or networks.contain([str(network) for network in allowed], address)


def demand(scopes: Collection[str], address: str, *, actor: User | ApiToken) -> None:
    """Raise ``AddressNotAllowed``, and record it, where one of these scopes is staff's and the address is not. Managers of
    groups, who are no staff, invite from anywhere."""
    if not SCOPES.isdisjoint(scopes) or (Scope.STAFF_INVITATIONS in scopes and _user_of(actor).is_staff):
        demand_place(address, actor=actor)


def demand_place(address: str, *, actor: User | ApiToken) -> None:
    """The same of an act of staff that has no scope of its own."""
    if not hold(address):
        record_refusal(actor)
        raise AddressNotAllowed(WORDS, address=address)


def record_refusal(actor: User | ApiToken) -> None:
    """Of staff; of strangers, who knock at any door, nothing is recorded."""
    if _user_of(actor).is_staff:
        audit.record(audit.AuditKind.STAFF_ADDRESS_REFUSED, actor=actor, outcome=AuditEvent.Outcome.DENIED)


def _user_of(actor: User | ApiToken) -> User:
    return actor.user if isinstance(actor, ApiToken) else actor
