from django.conf import settings
from django.contrib.auth.models import Group, Permission
from django.db import models


class GivenRight(models.Model):
    """A right that `migrate` gave a group once. Whoever runs the server may take it away: it is not given again."""

    group = models.ForeignKey(Group, models.CASCADE, related_name="+")
    permission = models.ForeignKey(Permission, models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["group", "permission"], name="right_given_once")]

    def __str__(self) -> str:
        return f"{self.permission.codename} of {self.group}"


class GroupManager(models.Model):
    """Who manages a group: sees what its members use, in sums, and takes over what members who leave have shared. A manager
    need not be in the group, and holds no right of staff by it."""

    group = models.ForeignKey(Group, models.DB_CASCADE, related_name="managers")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="+")

    class Meta:
        verbose_name = "manager"
        constraints = [
            models.UniqueConstraint(
                fields=["group", "user"],
                name="group_manager_once",
                violation_error_message="This person manages the group already.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.user_id} manages {self.group_id}"
