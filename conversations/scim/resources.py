"""What the directory is told of accounts and groups, and what of it is read. Each attribute here is published in ``Schemas``;
others that a directory sends are passed over."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Any

from django.contrib.auth.models import Group as AuthGroup
from django.contrib.auth.models import User as AuthUser
from pydantic import Field
from scim2_models import (
    URN,
    AuthenticationScheme,
    Bulk,
    ChangePassword,
    ComplexAttribute,
    ETag,
    Filter,
    GroupMembership,
    Meta,
    Mutability,
    Patch,
    Reference,
    Required,
    Resource,
    ScimPolicy,
    ScimProvider,
    ServiceProviderConfig,
    Sort,
    Uniqueness,
)

from conversations.accounts import directory
from conversations.accounts.directory import Profile

MOST_RESULTS = 200
POLICY = ScimPolicy(
    unknown=ScimPolicy.Unknown.ignore,  # attributes that accounts here don't have
    remove_value_as_filter=ScimPolicy.RemoveValue.apply,  # Entra names the members that are to go in `value`
    unmatched_path_filter=ScimPolicy.UnmatchedPathFilter.create,  # and sets `emails[type eq "work"].value` where there is none
)


class Name(ComplexAttribute):
    given_name: str | None = None
    """Given name, at most 150 characters."""

    family_name: str | None = None
    """Family name, at most 150 characters."""


class Email(ComplexAttribute):
    value: str | None = None
    """The address."""

    type: str | None = None
    """Such as `work`."""

    primary: bool | None = None
    """The one to which mail goes."""


class User(Resource[Any]):
    __schema__ = URN("urn:ietf:params:scim:schemas:core:2.0:User")

    user_name: Annotated[str | None, Uniqueness.server, Required.true] = None
    """What the person signs in by; at most 150 letters, digits and `@ . + - _`."""

    name: Name | None = None
    """First and last name."""

    display_name: str | None = None
    """The name as the directory shows it."""

    emails: list[Email] | None = None
    """Addresses; the primary one is the account's."""

    active: bool | None = None
    """`false`: the account is shut, and what it has open ends within seconds."""

    groups: Annotated[list[GroupMembership] | None, Mutability.read_only] = None
    """The groups of the person; changed by the groups' members."""


class Member(ComplexAttribute):
    value: Annotated[str | None, Mutability.immutable, Required.true] = None
    """Id of the user."""

    ref: Annotated[Reference[User] | None, Mutability.immutable] = Field(
        None, serialization_alias="$ref", validation_alias="$ref"
    )
    """Address of the user."""

    type: Annotated[str | None, Mutability.immutable] = Field(None, examples=["User"])
    """`User`: groups hold no groups."""


class Group(Resource[Any]):
    __schema__ = URN("urn:ietf:params:scim:schemas:core:2.0:Group")

    display_name: Annotated[str | None, Uniqueness.server, Required.true] = None
    """The name, at most 150 characters."""

    members: list[Member] | None = None
    """The people in it."""


def config(site: str) -> ServiceProviderConfig:
    """``site``: the address of this server, without a slash at its end."""
    token = AuthenticationScheme(
        type=AuthenticationScheme.Type.oauthbearertoken,
        name="Access token",
        description="A token with the scope `scim`, as `Authorization: Bearer …`.",
        primary=True,
    )
    return ServiceProviderConfig(
        patch=Patch(supported=True),
        bulk=Bulk(supported=False, max_operations=0, max_payload_size=0),
        filter=Filter(supported=True, max_results=MOST_RESULTS),
        change_password=ChangePassword(supported=False),
        sort=Sort(supported=False),
        etag=ETag(supported=False),
        authentication_schemes=[token],
        meta=Meta(resource_type="ServiceProviderConfig", location=f"{site}/scim/v2/ServiceProviderConfig"),
    )


PROVIDER = ScimProvider(models=[User, Group], policy=POLICY)


def user_resource(user: AuthUser, site: str) -> User:
    profile, known = directory.profile_of(user), directory.directory_of(user)
    return User(
        id=str(user.pk),
        external_id=profile.external_id or None,
        user_name=profile.username,
        name=Name(given_name=profile.first_name or None, family_name=profile.last_name or None),
        display_name=profile.display_name or None,
        emails=[Email(**each) for each in profile.emails] or None,
        active=profile.active,
        groups=[
            GroupMembership(
                value=str(group.pk),
                display=group.name,
                type="direct",
                ref=Reference(f"{site}/scim/v2/Groups/{group.pk}"),
            )
            for group in user.groups.all()
        ]
        or None,
        meta=_meta("User", user_address(user.pk, site), user.date_joined, known.changed_at if known else None),
    )


def profile_from(resource: User) -> Profile:
    name = resource.name or Name()
    return Profile(
        username=resource.user_name or "",
        first_name=name.given_name or "",
        last_name=name.family_name or "",
        display_name=resource.display_name or "",
        external_id=resource.external_id or "",
        emails=tuple(
            {"value": each.value, "type": each.type, "primary": bool(each.primary)}
            for each in resource.emails or ()
            if each.value
        ),
        active=resource.active is not False,
    )


def group_resource(group: AuthGroup, site: str, members: Iterable[int] = ()) -> Group:
    """``members``: ids, for a filter to judge. Answers get theirs by ``members.tell``."""
    known = getattr(group, "directory", None)
    return Group(
        id=str(group.pk),
        external_id=known.external_id or None if known else None,
        display_name=group.name,
        members=[Member(value=str(pk), type="User", ref=Reference(user_address(pk, site))) for pk in members] or None,
        meta=_meta("Group", f"{site}/scim/v2/Groups/{group.pk}", None, known.changed_at if known else None),
    )


def user_address(pk: int, site: str) -> str:
    return f"{site}/scim/v2/Users/{pk}"


def _meta(kind: str, location: str, created: datetime | None, changed: datetime | None) -> Meta:
    def whole(at: datetime | None) -> datetime | None:
        return at.astimezone(UTC).replace(microsecond=0) if at else None

    return Meta(resource_type=kind, location=location, created=whole(created), last_modified=whole(changed or created))
