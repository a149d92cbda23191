from django.conf import settings
from django.db import models
from django.db.models import Q

from conversations.models.indexes import UNCHECKED
from conversations.runtime.ids import uuid7
from conversations.runtime.wording import filled

PURPOSE = "shares"
"""Of the encryption of their tokens."""


class Share(models.Model):
    """A read-only link to a thread up to one of its turns, or to one artifact. Ask through ``conversations.sharing.shares``.

    What it shows is read when somebody opens it; nothing of that is kept here. The page is found by the digest. The token
    itself is kept encrypted, for the list of a person's own links alone: a copy of the database opens none of them.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="shares", db_index=False)
    thread = models.ForeignKey("conversations.Thread", models.DB_CASCADE, related_name="shares")
    message = models.ForeignKey(
        "conversations.Message", null=True, related_name="+", help_text="The last turn that it shows.", **UNCHECKED
    )
    artifact = models.ForeignKey("artifacts.Artifact", null=True, related_name="+", **UNCHECKED)
    version = models.PositiveIntegerField(null=True, help_text="Of the artifact; empty: the newest one.")
    digest = models.BinaryField(max_length=32, unique=True, help_text="SHA-256 of the token.")
    token = models.BinaryField(max_length=300, help_text="Encrypted.")
    shows_book = models.BooleanField(default=False, help_text="How much each reply was given, and by which model.")
    shows_files = models.BooleanField(default=False, help_text="The files that its turns brought.")
    shows_names = models.BooleanField(default=False, help_text="Whose it is, and which assistant answered.")
    shows_title = models.BooleanField(default=False, help_text="The title, on the page and in previews of the link.")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    views = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name = "shared link"
        default_permissions = ("view", "change")
        permissions = [("hand_over_share", "Can hand over the links of people who have left")]
        indexes = [models.Index(fields=["user", "id"], name="share_of_user")]
        constraints = [
            models.CheckConstraint(
                condition=Q(message__isnull=False, artifact__isnull=True)
                | Q(message__isnull=True, artifact__isnull=False),
                name="share_of_a_turn_or_an_artifact",
            ),
            models.CheckConstraint(
                condition=Q(version__isnull=True) | Q(artifact__isnull=False), name="share_version_of_an_artifact"
            ),
        ]

    def __str__(self) -> str:
        return filled("share {id}", id=str(self.id))

    @property
    def kind(self) -> str:
        return "artifact" if self.artifact_id else "thread"
