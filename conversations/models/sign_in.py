from django.conf import settings
from django.contrib.auth.models import Group
from django.core.validators import MinValueValidator
from django.db import models

from conversations.models.indexes import UNCHECKED
from conversations.runtime.ids import uuid7


class GroupSignIn(models.Model):
    """How the members of a group have to sign in."""

    group = models.OneToOneField(Group, models.CASCADE, primary_key=True, related_name="sign_in")
    requires_second_factor = models.BooleanField(
        default=False, help_text="Who has none is led to set one up, and can do nothing else."
    )

    class Meta:
        verbose_name = "rule for signing in"
        verbose_name_plural = "rules for signing in"
        default_permissions = ()

    def __str__(self) -> str:
        return f"signing in of {self.group_id}"


class Invitation(models.Model):
    """A link with which people make an account, where signing up is off too. The link itself is kept nowhere."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    digest = models.BinaryField(max_length=32, unique=True, help_text="SHA-256 of the secret in the link.")
    note = models.CharField(max_length=100, blank=True, help_text="What it is for. Only staff see it.")
    email = models.EmailField(blank=True, help_text="Only for whoever has this mail address; empty: for anybody.")
    groups = models.ManyToManyField(Group, blank=True, related_name="+", help_text="What new accounts join.")
    most_uses = models.PositiveIntegerField(
        "accounts", default=1, validators=[MinValueValidator(1)], help_text="How many accounts it makes at most."
    )
    used = models.PositiveIntegerField(default=0, editable=False)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, editable=False)
    made_at = models.DateTimeField(editable=False)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, related_name="+", editable=False, **UNCHECKED)
    made_by_name = models.CharField(max_length=150, editable=False, help_text="The user name at that time.")

    class Meta:
        default_permissions = ("add", "view", "change")

    def __str__(self) -> str:
        return self.note or f"invitation {self.id}"
