from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models

from conversations.runtime.ids import uuid7
from conversations.runtime.wording import filled


class Invitation(models.Model):
    """A link by which somebody gets an account, groups, or both. Ask through ``conversations.accounts.invitations``.

    Only the digest of its secret is stored: the link is shown once. It works while whoever made it may still invite.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="invitations")
    digest = models.BinaryField(max_length=32, unique=True)
    email = models.CharField(max_length=254, blank=True)
    groups = models.ManyToManyField(Group, through="InvitationGroup", related_name="+")
    most_uses = models.PositiveIntegerField(default=1)
    uses = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    secret = ""
    """Where it was made for the page that shows it. No column."""

    class Meta:
        default_permissions = ("view", "add", "change")

    def __str__(self) -> str:
        return filled("invitation {id}", id=str(self.id))


class InvitationGroup(models.Model):
    """A group that whoever uses the invitation joins."""

    invitation = models.ForeignKey(Invitation, models.DB_CASCADE, related_name="+")
    group = models.ForeignKey(Group, models.DB_CASCADE, related_name="+")

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["invitation", "group"], name="invitation_group_once")]

    def __str__(self) -> str:
        return f"group {self.group_id} of {self.invitation_id}"


class InvitationUse(models.Model):
    """Who used an invitation, and when."""

    invitation = models.ForeignKey(Invitation, models.DB_CASCADE, related_name="used_by")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="+")
    at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["invitation", "user"], name="invitation_used_once_by_a_person")]

    def __str__(self) -> str:
        return f"use of {self.invitation_id}"
