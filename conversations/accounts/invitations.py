"""Invitations: links by which people get an account and join groups. Made by staff who have the right, and by managers for the
groups that they manage; nobody gives by one what they could not give themselves.
"""

import hashlib
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.contrib.auth.models import Group, User
from django.core import signing
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse

from conversations import audit
from conversations.accounts import mailing, rights
from conversations.accounts.managers import groups_managed_by
from conversations.accounts.sign_up import InvitationTerms
from conversations.errors import InvitationEnded
from conversations.models import Invitation, InvitationGroup, InvitationUse
from conversations.runtime import clock
from conversations.runtime.site import public_address
from conversations.runtime.wording import lazy

MAKE = "conversations.add_invitation"
DAYS, MOST_DAYS, MOST_USES = 7, 90, 1_000
ENDED_KEPT = timedelta(days=90)
WORKS, REVOKED, USED_UP, EXPIRED, MAY_NO_MORE = (
    lazy("works"),
    lazy("revoked"),
    lazy("used up"),
    lazy("expired"),
    lazy("works no more: who made it may invite to its groups no longer"),
)
"""States of an invitation, in words."""
PROOF = "openbook.invitation.mailed"
LISTED = ("made_by", "groups", "used_by__user")
"""What a list prefetches: its rows then share one ``User`` for each maker, and what that may do is asked once."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What an invitation is to be. ``email`` binds it to whoever proves that address; empty: to nobody."""

    groups: Collection[Group] = ()
    email: str = ""
    uses: int = 1
    days: int = DAYS


def groups_of(maker: User) -> QuerySet[Group]:
    """The groups that they may invite to, by name."""
    grantable = rights.grantable_groups(maker)
    mine = grantable if maker.has_perm(MAKE) else grantable.filter(pk__in=groups_managed_by(maker).values("pk"))
    return mine.order_by("name")


def may_invite(maker: User) -> bool:
    return maker.is_active and (maker.has_perm(MAKE) or groups_of(maker).exists())


def is_group_needed(maker: User) -> bool:
    """Managers bring people into their groups, not into the installation alone."""
    return not maker.has_perm(MAKE)


def made_by(user: User) -> QuerySet[Invitation]:
    """Newest first. Those of others are seen and revoked in the admin."""
    return Invitation.objects.filter(made_by=user).prefetch_related(*LISTED).order_by("-id")


@transaction.atomic
def make(maker: User, plan: Plan) -> Invitation:
    """Returns it with its ``secret``, and mails it where it is bound to an address and a mail server is set up. What the plan
    says has been checked against ``groups_of`` and the limits."""
    now = clock.now()
    secret = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        made_by=maker,
        digest=digest(secret),
        email=plan.email,
        most_uses=plan.uses,
        created_at=now,
        expires_at=now + timedelta(days=plan.days),
    )
    invitation.secret = secret
    InvitationGroup.objects.bulk_create(InvitationGroup(invitation=invitation, group=group) for group in plan.groups)
    details: audit.Details = {
        "groups": [group.pk for group in plan.groups],
        "uses": plan.uses,
        "bound": bool(plan.email),
    }
    audit.record(audit.AuditKind.INVITATION_MADE, target=invitation, details=details)
    mailing.post(
        "invitation", plan.email, path=f"{path_of(secret)}?mailed={signing.dumps(str(invitation.pk), salt=PROOF)}"
    )
    return invitation


def address_of(secret: str) -> str:
    return public_address() + path_of(secret)


def path_of(secret: str) -> str:
    return reverse("invitation", args=[secret])


def by_secret(secret: str) -> Invitation | None:
    return by_id(digest=digest(secret))


def by_id(**which: object) -> Invitation | None:
    rows = Invitation.objects.select_related("made_by").prefetch_related("groups")
    return rows.filter(**which).first()


def was_mailed(invitation: Invitation, proof: str) -> bool:
    """Whether ``proof`` comes from the mail to the address that it is bound to: whoever has it reads that mail."""
    try:
        return bool(invitation.email) and signing.loads(proof, salt=PROOF) == str(invitation.pk)
    except signing.BadSignature:
        return False


def state(invitation: Invitation, now: datetime) -> str:
    if invitation.revoked_at:
        return REVOKED
    if invitation.uses >= invitation.most_uses:
        return USED_UP
    if invitation.expires_at <= now:
        return EXPIRED
    return WORKS if _may_still_invite(invitation) else MAY_NO_MORE


def has_ended(invitation: Invitation, now: datetime) -> bool:
    return state(invitation, now) is not WORKS


def _may_still_invite(invitation: Invitation) -> bool:
    maker, wanted = invitation.made_by, {group.pk for group in invitation.groups.all()}
    if not maker.is_active or (is_group_needed(maker) and not wanted):
        return False
    return wanted <= _invitable_groups(maker)


def _invitable_groups(maker: User) -> frozenset[int]:
    """Ids of ``groups_of``, kept with the object, as Django keeps its permissions."""
    known: frozenset[int] | None = getattr(maker, "_invitable_groups", None)
    if known is None:
        known = frozenset(groups_of(maker).values_list("pk", flat=True))
        maker._invitable_groups = known  # type: ignore[attr-defined]
    return known


def terms_of(invitation: Invitation) -> InvitationTerms:
    return InvitationTerms(email=invitation.email, has_ended=has_ended(invitation, clock.now()))


@transaction.atomic
def use(invitation_id: UUID, user: User) -> None:
    """The user joins its groups. Raises ``InvitationEnded``: also where the last use went to somebody else in this moment."""
    Invitation.objects.select_for_update().filter(pk=invitation_id).first()
    invitation = by_id(pk=invitation_id)
    if invitation is None or has_ended(invitation, clock.now()):
        raise InvitationEnded
    _, is_new = InvitationUse.objects.get_or_create(invitation=invitation, user=user, defaults={"at": clock.now()})
    if not is_new:
        return
    invitation.uses += 1
    invitation.save(update_fields=["uses"])
    groups = list(invitation.groups.all())
    user.groups.add(*groups)
    audit.record(audit.AuditKind.INVITATION_USED, actor=user, target=invitation, details={"user": user.pk})
    for group in groups:
        audit.record(audit.AuditKind.MEMBERSHIP_CHANGED, actor=user, target=group, details={"added": [user.pk]})


def revoke(invitations: QuerySet[Invitation]) -> int:
    """Returns how many were not revoked before."""
    count = 0
    for id in list(invitations.filter(revoked_at=None).values_list("pk", flat=True)):
        with transaction.atomic():
            if Invitation.objects.filter(pk=id, revoked_at=None).update(revoked_at=clock.now()):
                audit.record(audit.AuditKind.INVITATION_REVOKED, target=(Invitation._meta.label, id))
                count += 1
    return count


def forget_ended(now: datetime) -> None:
    Invitation.objects.filter(expires_at__lt=now - ENDED_KEPT).delete()


def digest(secret: str) -> bytes:
    # It has 256 random bits, so that a plain hash is as good as a slow one.
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()
