from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from conversations.runtime.wording import filled


class Scope(models.TextChoices):
    """What a token may be used for. ``read``, ``write`` and ``export`` are wide: they reach all that is the person's own.
    ``memory`` and ``files`` are each a part of that, for a program that needs no more. The others are for staff and
    directories, and count only while the token's user has the right of them."""

    READ = "read", "read: whatever changes nothing"
    WRITE = "write", "write: send messages, change and delete"
    EXPORT = "export", "export: take everything along as files"
    MEMORY = "memory", "memory: read, search, change and forget what is remembered, and nothing else"
    FILES = "files", "files: read, upload and delete files, and nothing else"
    WEBHOOKS = "webhooks", "webhooks: list, make, change and delete webhooks, and nothing else"
    SERVERS = "servers", "servers: connect MCP servers, allow their tools, answer what a call asks, and nothing else"
    CHAT = "chat", "chat: send messages, read and stop their replies, and nothing else"
    STAFF = "staff", "staff: what support sees that there is, without texts"
    STAFF_CONTENT = (
        "staff:content",
        "staff:content: what people wrote, and experiments on it, where its user may read it",
    )
    STAFF_AUDIT = "staff:audit", "staff:audit: the record of what happened here"
    STAFF_ASSISTANTS = (
        "staff:assistants",
        "staff:assistants: read and change assistants, their versions and presets, as its user may",
    )
    STAFF_MODELS = "staff:models", "staff:models: read and change models and connections, as its user may"
    STAFF_GROUPS = "staff:groups", "staff:groups: read and change groups, their rights and limits, as its user may"
    STAFF_REPLAYS = "staff:replays", "staff:replays: start, follow and cancel replays of requests, as its user may"
    STAFF_FEEDBACK = "staff:feedback", "staff:feedback: say what becomes of feedback and findings, as its user may"
    STAFF_INVITATIONS = "staff:invitations", "staff:invitations: make, list and revoke invitations, as its user may"
    SCIM = "scim", "scim: a directory creates and deactivates people, and fills groups"


OWN_SCOPES = (Scope.READ, Scope.WRITE, Scope.EXPORT)
"""What a token has where nobody says: all that is its person's own."""


def default_scopes() -> list[str]:
    return [scope.value for scope in OWN_SCOPES]


every_scope = default_scopes
"""As the first migration names it."""


class ApiToken(models.Model):
    """A program's key to one user's data. Only its digest is stored; the token itself is shown once."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    digest = models.BinaryField(max_length=32, unique=True, help_text="SHA-256 of the token.")
    scopes = ArrayField(models.CharField(max_length=20, choices=Scope), default=default_scopes)
    addresses = ArrayField(
        models.CharField(max_length=43),
        default=list,
        db_default=[],
        blank=True,
        help_text="Networks from which it works, such as 192.0.2.0/24; empty: from everywhere.",
    )
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
    last_used_from = models.CharField(
        max_length=43, blank=True, default="", db_default="", help_text="The network that it was used from last."
    )
    revoked_at = models.DateTimeField(null=True, blank=True)
    secret = ""
    """The token itself, where it was made for the page that shows it. No column."""

    class Meta:
        verbose_name = "API token"
        constraints = [
            models.CheckConstraint(
                condition=Q(scopes__contained_by=list(Scope.values)) & Q(scopes__len__gt=0),
                name="token_scopes_known",
            ),
        ]

    def __str__(self) -> str:
        return filled("{name} of {user}", name=self.name, user=self.user)
