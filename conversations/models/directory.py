"""What a directory that keeps accounts by SCIM knows of them beside what accounts have themselves."""

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models


class DirectoryUser(models.Model):
    """``emails`` as the directory sent them, ``[{"value", "type", "primary"}]``; the primary one is the account's."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.DB_CASCADE, primary_key=True, related_name="directory")
    external_id = models.CharField(max_length=255, blank=True, default="", db_index=True)
    display_name = models.CharField(max_length=255, blank=True, default="")
    emails = models.JSONField(default=list)
    changed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"directory's user {self.user_id}"


class DirectoryGroup(models.Model):
    group = models.OneToOneField(Group, models.CASCADE, primary_key=True, related_name="directory")
    external_id = models.CharField(max_length=255, blank=True, default="")
    changed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"directory's group {self.group_id}"
