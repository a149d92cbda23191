import uuid

from django.db import models
from django.db.models import Q


class Artifact(models.Model):
    """Something the assistant made: it lives beside the thread, and its versions hold what it says.

    ``message`` and ``reply`` are its provenance: the assistant turn and the reply that made it. One that is saved in the middle
    of a reply knows only the reply, as the turn does not exist yet; one that came by import may know neither (F4).
    """

    class Kind(models.TextChoices):
        DOCUMENT = "document"
        CODE = "code"
        HTML = "html", "HTML page"
        SVG = "svg", "SVG picture"
        MERMAID = "mermaid", "Mermaid diagram"
        TABLE = "table"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    thread = models.ForeignKey("conversations.Thread", models.DB_CASCADE, related_name="artifacts", db_index=False)
    title = models.CharField(max_length=200)
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.DOCUMENT)
    # Without a constraint, as turns and replies only leave with their thread, and so does this: to set it null row by row would
    # look through all artifacts for each turn that goes.
    message = models.ForeignKey(
        "conversations.Message",
        models.DO_NOTHING,
        null=True,
        related_name="artifacts",
        db_constraint=False,
        db_index=False,
    )
    reply = models.ForeignKey(
        "conversations.Reply",
        models.DO_NOTHING,
        null=True,
        related_name="artifacts",
        db_constraint=False,
        db_index=False,
    )
    created_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["thread", "created_at"], name="artifact_of_thread")]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["document", "code", "html", "svg", "mermaid", "table"]),
                name="artifact_kind_known",
            )
        ]

    def __str__(self) -> str:
        return self.title


class ArtifactVersion(models.Model):
    """What an artifact says, from version 1 on."""

    artifact = models.ForeignKey(Artifact, models.DB_CASCADE, related_name="versions", db_index=False)
    number = models.PositiveIntegerField(default=1)
    content = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["artifact", "number"], name="artifact_version_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="artifact_version_counts_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.artifact_id} version {self.number}"
