from django.contrib.auth.models import Group
from django.db import models


class GroupSignIn(models.Model):
    """How the members of a group have to sign in."""

    group = models.OneToOneField(Group, models.CASCADE, primary_key=True, related_name="sign_in")
    requires_second_factor = models.BooleanField(
        default=False, help_text="Who has none is led to set one up, and can do nothing else."
    )
    session_hours = models.PositiveIntegerField(
        "hours until members sign in again", null=True, blank=True, help_text="Empty: as on the whole server."
    )
    session_idle_minutes = models.PositiveIntegerField(
        "minutes without anybody there until members sign in again",
        null=True,
        blank=True,
        help_text="Empty: as on the whole server.",
    )

    class Meta:
        verbose_name = "rule for signing in"
        verbose_name_plural = "rules for signing in"
        default_permissions = ()

    def __str__(self) -> str:
        return f"signing in of {self.group_id}"
