from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q


class Scope(models.TextChoices):
    """What a token may be used for."""

    READ = "read", "read: whatever changes nothing"
    WRITE = "write", "write: send messages, change and delete"
    EXPORT = "export", "export: take everything along as files"


def every_scope() -> list[str]:
    return list(Scope.values)


class ApiToken(models.Model):
    """A program's key to one user's data. Only its digest is stored; the token itself is shown once."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    digest = models.BinaryField(max_length=32, unique=True, help_text="SHA-256 of the token.")
    scopes = ArrayField(models.CharField(max_length=6, choices=Scope), default=every_scope)
    requests_minute = models.PositiveIntegerField(
        "requests a minute",
        null=True,
        blank=True,
        help_text="How many of its user's requests a minute may be its own; empty: all.",
    )
    running_replies = models.PositiveIntegerField(
        "replies running at once",
        null=True,
        blank=True,
        help_text="How many of its user's running replies may be its own; empty: all.",
    )
    tokens_day = models.PositiveBigIntegerField(
        "tokens a day (UTC)",
        null=True,
        blank=True,
        help_text="How many of its user's tokens a day may be its own; empty: all.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    secret = ""
    """The token itself, where it was made for the page that shows it. No column."""

    class Meta:
        verbose_name = "API token"
        constraints = [
            models.CheckConstraint(
                condition=Q(scopes__contained_by=["read", "write", "export"]) & Q(scopes__len__gt=0),
                name="token_scopes_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.user}"
