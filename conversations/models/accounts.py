from django.conf import settings
from django.db import models


class AccountDeletion(models.Model):
    """An account that its person wants deleted. Until then it is as if it weren't there, but can be kept."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.DB_CASCADE, primary_key=True, related_name="deletion")
    asked_at = models.DateTimeField()
    due_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"deletion of {self.user_id}"


class ServiceAccount(models.Model):
    """An account that a program uses by tokens which staff make. Nobody signs in with it."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.DB_CASCADE, primary_key=True, related_name="service_account"
    )
    purpose = models.CharField(max_length=200, help_text="What it is for, and whom to ask about it.")
    created_at = models.DateTimeField(editable=False)

    class Meta:
        default_permissions = ("view", "add", "change")

    def __str__(self) -> str:
        return self.user.get_username()
