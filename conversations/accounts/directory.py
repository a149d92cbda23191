"""What a directory does to accounts and groups: made, changed, shut and removed, within what its own account may.

Nothing here is above an administrator of people in the admin: whoever may more than the directory, and groups that hold what it
doesn't, are out of its reach (``conversations/accounts/rights.py``).
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from allauth.account.models import EmailAddress
from django.contrib.auth.models import Group, User
from django.contrib.postgres.expressions import ArraySubquery
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import OuterRef, QuerySet
from django.db.models.expressions import RawSQL

from conversations.accounts import deactivation, groups, lifecycle, rights
from conversations.audit import record
from conversations.errors import Conflict, OpenbookError
from conversations.models import ApiToken, AuditKind, DirectoryGroup, DirectoryUser
from conversations.runtime import clock


class Email(TypedDict):
    value: str
    type: str | None
    primary: bool


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Of a person, as the directory has it."""

    username: str
    first_name: str = ""
    last_name: str = ""
    display_name: str = ""
    external_id: str = ""
    emails: Sequence[Email] = field(default_factory=tuple)
    active: bool = True

    @property
    def email(self) -> str:
        """The primary address, else the first."""
        first = next(iter(self.emails), None)
        return next((each["value"] for each in self.emails if each["primary"]), first["value"] if first else "")


@dataclass(frozen=True, kw_only=True)
class MemberChange:
    """Ids of people who come into a group and who go. ``replaces``: everybody else goes too."""

    added: frozenset[int] = frozenset()
    removed: frozenset[int] = frozenset()
    replaces: bool = False


class Taken(Conflict):
    """``details["field"]`` names what somebody else has."""

    code = "taken"


class InvalidProfile(OpenbookError):
    code = "invalid_profile"


class OutOfReach(OpenbookError):
    type, code, status = "permission", "out_of_reach", 403


def people() -> QuerySet[User]:
    """Whom a directory sees: nobody who leaves, and no program."""
    there = User.objects.filter(service_account=None, deletion=None)
    return there.select_related("directory").prefetch_related("groups").order_by("pk")


def all_groups() -> QuerySet[Group]:
    """All that there are, with what a directory calls them."""
    return Group.objects.select_related("directory").order_by("pk")


def with_members(rows: QuerySet[Group], only: Collection[int] | None = None) -> QuerySet[Group]:
    """Each with the ids of its people, ``member_ids``, in the same statement; of those in ``only`` where that is given."""
    members = people().select_related(None).prefetch_related(None).filter(groups=OuterRef("pk"))
    if only is not None:
        members = members.filter(pk__in=_ids(only))
    return rows.annotate(member_ids=ArraySubquery(members.values("pk")))


def member_ids(group: Group) -> list[int]:
    """As they came with it, else read."""
    known: list[int] | None = getattr(group, "member_ids", None)
    return list(people().filter(groups=group).values_list("pk", flat=True)) if known is None else known


@transaction.atomic
def create(profile: Profile, *, actor: ApiToken) -> User:
    """Somebody without a password, who signs in by a provider or sets one by a link that is mailed."""
    _make_room_for(profile.username)
    user = User(is_active=profile.active)
    user.set_unusable_password()
    _write(user, profile)
    record(AuditKind.ACCOUNT_MADE, actor=actor, target=user)
    return user


@transaction.atomic
def change(user: User, profile: Profile, *, actor: ApiToken) -> None:
    """Raises ``OutOfReach``, ``Taken``, ``InvalidProfile``; then nothing is changed."""
    before = profile_of(user)
    changed = [name for name in Profile.__dataclass_fields__ if getattr(before, name) != getattr(profile, name)]
    if not changed:
        return
    _demand_reach(actor.user, user)
    if {"username", "emails"} & set(changed) and not rights.may_sign_in_as(actor.user, user):
        raise OutOfReach(f"{user} is staff: by another user name or address somebody else could sign in as them.")
    if profile.active and not before.active:
        deactivation.activate(user, actor=actor)
    _write(user, profile)
    if told := [name for name in changed if name != "active"]:
        record(AuditKind.ACCOUNT_CHANGED, actor=actor, target=user, details={"fields": told})
    if before.active and not profile.active:
        deactivation.deactivate(user, actor=actor)


@transaction.atomic
def remove(user: User, *, actor: ApiToken) -> None:
    """Shut the account now; in a day it is deleted with all that it has."""
    _demand_reach(actor.user, user)
    deactivation.deactivate(user, actor=actor)
    lifecycle.ask_deletion(user)
    record(AuditKind.ACCOUNT_LEAVES, actor=actor, target=user)


def profile_of(user: User) -> Profile:
    known = directory_of(user)
    emails = known.emails if known and known.emails else []
    if user.email and user.email not in [each["value"] for each in emails]:
        emails = [{"value": user.email, "type": None, "primary": True}]
    return Profile(
        username=user.username,
        first_name=user.first_name,
        last_name=user.last_name,
        display_name=known.display_name if known else user.get_full_name(),
        external_id=known.external_id if known else "",
        emails=tuple(emails),
        active=user.is_active,
    )


def directory_of(user: User) -> DirectoryUser | None:
    known: DirectoryUser | None = getattr(user, "directory", None)
    return known


def _demand_reach(directory: User, user: User) -> None:
    if not rights.may_manage(directory, user):
        raise _out_of_reach(user)


def _out_of_reach(user: User) -> OutOfReach:
    return OutOfReach(f"{user} may more than the account of this token. A person changes them, in the admin.")


def _make_room_for(username: str) -> None:
    """Somebody who leaves gives their name up."""
    for leaver in User.objects.filter(username__iexact=username).exclude(deletion=None):
        User.objects.filter(pk=leaver.pk).update(username=f"{leaver.username[:120]}.left.{leaver.pk}")


def _write(user: User, profile: Profile) -> None:
    if User.objects.filter(username__iexact=profile.username).exclude(pk=user.pk).exists():
        raise Taken(f"Somebody else is called {profile.username}.", field="userName")
    user.username, user.email = profile.username, profile.email
    user.first_name, user.last_name = profile.first_name, profile.last_name
    try:
        user.clean_fields(exclude=["password", "last_login"])
    except ValidationError as error:
        name, problems = next(iter(error.message_dict.items()))
        raise InvalidProfile(f"{name}: {problems[0]}", field=name) from None
    user.save()
    now = clock.now()
    _write_address(user)
    values = {
        "external_id": profile.external_id,
        "display_name": profile.display_name,
        "emails": list(profile.emails),
        "changed_at": now,
    }
    user.directory, _ = DirectoryUser.objects.update_or_create(user=user, defaults=values)


def _write_address(user: User) -> None:
    """The directory vouches for the address."""
    others = EmailAddress.objects.filter(email__iexact=user.email, verified=True).exclude(user=user)
    if user.email and others.exists():
        raise Taken(f"Somebody else has the address {user.email}.", field="emails")
    EmailAddress.objects.filter(user=user).exclude(email__iexact=user.email).delete()
    if user.email:
        values = {"email": user.email.lower(), "verified": True, "primary": True}
        EmailAddress.objects.update_or_create(user=user, email__iexact=user.email, defaults=values)


@transaction.atomic
def make_group(name: str, external_id: str, members: MemberChange, *, actor: ApiToken) -> Group:
    _demand_name(name, actor.user)
    group = Group.objects.create(name=name)
    _note(group, external_id)
    record(AuditKind.GROUP_CHANGED, actor=actor, target=group, details={"fields": ["name"]})
    _move_members(group, members, actor)
    return group


@transaction.atomic
def change_group(group: Group, name: str, external_id: str, members: MemberChange, *, actor: ApiToken) -> None:
    """Raises ``OutOfReach``, ``Taken`` and ``InvalidProfile``; then nothing is changed."""
    _demand_group(group, actor.user)
    if name != group.name:
        _demand_name(name, actor.user)
        group.name = name
        group.save(update_fields=["name"])
        record(AuditKind.GROUP_CHANGED, actor=actor, target=group, details={"fields": ["name"]})
    _note(group, external_id)
    _move_members(group, members, actor)


@transaction.atomic
def remove_group(group: Group, *, actor: ApiToken) -> None:
    _demand_group(group, actor.user)
    record(AuditKind.GROUP_CHANGED, actor=actor, target=group, details={"fields": ["deleted"]})
    group.delete()


def _demand_group(group: Group, directory: User) -> None:
    if not rights.may_manage_group(directory, group):
        raise OutOfReach(f"The group {group.name} holds rights that the account of this token doesn’t have.")


def _demand_name(name: str, directory: User) -> None:
    if not name or len(name) > 150:
        raise InvalidProfile("A group’s name has 1 to 150 characters.", field="displayName")
    if name in groups.GROUPS and not directory.is_superuser:
        raise OutOfReach(f"`migrate` gives a group called {name} its rights: only a superuser may make one.")
    if Group.objects.filter(name=name).exists():
        raise Taken(f"There is a group {name} already.", field="displayName")


def _note(group: Group, external_id: str) -> None:
    values = {"external_id": external_id, "changed_at": clock.now()}
    group.directory, _ = DirectoryGroup.objects.update_or_create(group=group, defaults=values)


def _move_members(group: Group, change: MemberChange, actor: ApiToken) -> None:
    """Reads the members that the change names, and all of them only where it replaces them."""
    memberships = User.groups.through.objects.filter(group=group)
    named = change.added | change.removed
    known = memberships if change.replaces else memberships.filter(user__in=_ids(named))
    before = set(known.values_list("user", flat=True))
    gone = before - change.added if change.replaces else before & change.removed
    moved = set(people().filter(pk__in=_ids(change.added - before | gone)).values_list("pk", flat=True))
    if unknown := sorted(change.added - before - moved):
        raise InvalidProfile(f"There is nobody with the id {unknown[0]}.", field="members")
    if beyond := rights.beyond_reach(actor.user, User.objects.filter(pk__in=_ids(moved))).order_by("pk").first():
        raise _out_of_reach(beyond)
    added, removed = sorted(moved & change.added), sorted(moved & gone)
    group.user_set.add(*added)
    memberships.filter(user__in=_ids(removed)).delete()
    if added or removed:
        details = {"added": added, "removed": removed}
        record(AuditKind.MEMBERSHIP_CHANGED, actor=actor, target=group, details=details)


def _ids(ids: Iterable[int]) -> RawSQL:
    """For ``__in``, as one parameter: a statement takes 65,535."""
    return RawSQL("SELECT unnest(%s::integer[])", [list(ids)])
