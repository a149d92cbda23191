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
