"""Whom of the people staff may change: nobody touches an account or a group that may more than they do, signs in as it, or
gives anybody what they don't have."""

from django.contrib.auth.models import AnonymousUser, Group, Permission, User
from django.db.models import Exists, OuterRef, Q, QuerySet

type Caller = User | AnonymousUser


def may_manage(staff: Caller, user: User) -> bool:
    """Whether all that the account may, now or once it is active and staff, is held by who would change it."""
    return staff.is_superuser or not beyond_reach(staff, User.objects.filter(pk=user.pk)).exists()


def beyond_reach(staff: Caller, users: QuerySet[User]) -> QuerySet[User]:
    """Those of the users whom who would change them may not manage, however many there are."""
    if staff.is_superuser:
        return users.none()
    lacking = Permission.objects.exclude(pk__in=grantable_permissions(staff)).values("pk")
    own = User.user_permissions.through.objects.filter(user=OuterRef("pk"), permission__in=lacking)
    of_groups = User.groups.through.objects.filter(user=OuterRef("pk"), group__permissions__in=lacking)
    return users.filter(Q(is_superuser=True) | Exists(own) | Exists(of_groups))


def may_sign_in_as(staff: Caller, user: User) -> bool:
    """Whether staff may give the account a password, a link for one, or another mail address, to which links are sent.

    Other staff are a superuser's business: whoever signs in as one of them reads what people wrote under their name.
    """
    return staff.is_superuser or (not user.is_staff and may_manage(staff, user))


def may_manage_group(staff: Caller, group: Group) -> bool:
    """To change a group is to give its permissions to whoever is in it."""
    return staff.is_superuser or not group.permissions.exclude(pk__in=grantable_permissions(staff)).exists()


def grantable_permissions(staff: Caller) -> QuerySet[Permission]:
    """Those that staff have themselves."""
    return Permission.objects.all() if staff.is_superuser else _held(staff)


def grantable_groups(staff: Caller) -> QuerySet[Group]:
    """Those that hold nothing that staff don't have themselves."""
    if staff.is_superuser:
        return Group.objects.all()
    beyond = Group.permissions.through.objects.exclude(permission__in=grantable_permissions(staff))
    return Group.objects.exclude(pk__in=beyond.values("group"))


def _held(user: Caller) -> QuerySet[Permission]:
    """By groups too, whether or not the account is active."""
    held = Permission.objects.filter(Q(user=user.pk) | Q(group__user=user.pk))
    return Permission.objects.filter(pk__in=held.values("pk"))
