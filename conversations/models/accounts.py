from django.conf import settings
from django.db import models


class SignIn(models.Model):
    """Where somebody is signed in: a session, told in words that its person recognises. Goes with the session."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="+")
    session_key = models.CharField(max_length=40, unique=True)
    at = models.DateTimeField()
    address = models.CharField(max_length=45, blank=True)
    browser = models.CharField(max_length=60, blank=True)

    def __str__(self) -> str:
        return f"sign-in {self.pk}"


class AccountDeletion(models.Model):
    """An account that its person wants deleted. Until then it is as if it weren't there, but can be kept."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.DB_CASCADE, primary_key=True, related_name="deletion")
    asked_at = models.DateTimeField()
    due_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"deletion of {self.user_id}"
