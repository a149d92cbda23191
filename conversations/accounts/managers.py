"""Who manages whom: a group has managers beside its members."""

from django.contrib.auth.models import AnonymousUser, Group, User
from django.db.models import QuerySet


def groups_managed_by(user: User | AnonymousUser) -> QuerySet[Group]:
    """By name. None where the account is not active."""
    if not (user.is_authenticated and user.is_active):
        return Group.objects.none()
    return Group.objects.filter(managers__user=user.pk).order_by("name")


def manages(user: User | AnonymousUser, member: User) -> bool:
    """Whether the member, who may have left already, is in a group that the user manages."""
    return groups_managed_by(user).filter(user=member.pk).exists()
