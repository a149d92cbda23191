"""Accounts that no person signs in with: made by staff, used by programs with tokens that staff make."""

from collections.abc import Collection

from django.contrib.auth.models import Group, User
from django.db import transaction

from conversations import audit
from conversations.accounts import rights
from conversations.audit import AuditKind
from conversations.models import ServiceAccount
from conversations.runtime import clock


def is_service(user: User) -> bool:
    """Reads the database, unless the row came along with the user."""
    return getattr(user, "service_account", None) is not None


@transaction.atomic
def make(*, username: str, purpose: str, groups: Collection[Group] = ()) -> User:
    """The account has no password, and no mail address to which a link for one could be sent."""
    user = User(username=username)
    user.set_unusable_password()
    user.save()
    user.groups.set(groups)
    ServiceAccount.objects.create(user=user, purpose=purpose, created_at=clock.now())
    audit.record(
        AuditKind.ACCOUNT_MADE, target=user, details={"groups": [group.pk for group in groups], "service": True}
    )
    return user


def may_issue(staff: rights.Caller, user: User) -> bool:
    """Whether staff may make a token with which one acts as this account: they hold all that it may."""
    return is_service(user) and rights.may_manage(staff, user)
