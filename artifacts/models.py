import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Length

from conversations.runtime.wording import filled


class Kind(models.TextChoices):
    """What an artifact is, and so how it is shown and exported."""

    DOCUMENT = "document"
    CODE = "code"
    HTML = "html", "HTML page"
    SVG = "svg", "SVG picture"
    MERMAID = "mermaid", "Mermaid diagram"
    TABLE = "table"


KIND_KNOWN = Q(kind__in=["document", "code", "html", "svg", "mermaid", "table"])


class Artifact(models.Model):
    """Something the assistant made: it lives beside the thread, and its versions hold what it says.

    Delete it by setting ``deleted_at``: it can be restored then, and goes with its thread at the latest.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    thread = models.ForeignKey("conversations.Thread", models.DB_CASCADE, related_name="artifacts", db_index=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    title = models.CharField(max_length=200)
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.DOCUMENT)
    language = models.CharField(max_length=40, blank=True, help_text="Of code: python, sql …")
    preset = models.SlugField(blank=True, db_index=False, help_text="The preset that made it, if one did.")
    after_position = models.PositiveIntegerField(
        default=0, help_text="Position of the thread's newest turn when it was made: its card stands below that."
    )
    version = models.PositiveIntegerField(default=1, help_text="Number of the newest version.")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField(help_text="Of the newest version.")
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["thread", "created_at"], name="artifact_of_thread")]
        constraints = [
            models.CheckConstraint(condition=KIND_KNOWN, name="artifact_kind_known"),
            models.CheckConstraint(condition=Q(version__gte=1), name="artifact_has_a_version"),
        ]

    def __str__(self) -> str:
        return filled("artifact {id}", id=str(self.id))


class ArtifactVersion(models.Model):
    """What an artifact says, from version 1 on. Written once.

    ``reply`` and ``message`` are its provenance: the reply that made it and the assistant turn of that. A version that is
    saved in the middle of a reply knows only the reply, as the turn does not exist yet; one without either, made by a program
    or an import, belongs to the turn that the clock tells (F4). A version by hand belongs to none.
    """

    class Origin(models.TextChoices):
        REPLY = "reply", "the model, in a reply"
        PRESET = "preset", "the model, by a preset"
        HAND = "hand", "edited by hand"
        PROGRAM = "program", "a program or an import"

    artifact = models.ForeignKey(Artifact, models.DB_CASCADE, related_name="versions", db_index=False)
    thread = models.ForeignKey(
        "conversations.Thread", models.DB_CASCADE, related_name="artifact_versions", db_index=False
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    number = models.PositiveIntegerField(default=1)
    content = models.TextField()
    size = models.GeneratedField(
        expression=Length("content"), output_field=models.PositiveIntegerField(), db_persist=True
    )
    origin = models.CharField(max_length=7, choices=Origin)
    # Without a constraint, as turns and replies only leave with their thread, and so does this: to set it null row by row would
    # look through all versions for each turn that goes.
    message = models.ForeignKey(
        "conversations.Message",
        models.DO_NOTHING,
        null=True,
        related_name="artifact_versions",
        db_constraint=False,
        db_index=False,
    )
    reply = models.ForeignKey(
        "conversations.Reply",
        models.DO_NOTHING,
        null=True,
        related_name="artifact_versions",
        db_constraint=False,
        db_index=False,
    )
    created_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["thread", "created_at"], name="version_of_thread")]
        constraints = [
            models.UniqueConstraint(fields=["artifact", "number"], name="artifact_version_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="artifact_version_counts_from_one"),
            models.CheckConstraint(
                condition=Q(origin__in=["reply", "preset", "hand", "program"]), name="artifact_version_origin_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.artifact_id} version {self.number}"


class Preset(models.Model):
    """A button that makes an artifact of the conversation silently: its instruction never enters the thread (F9)."""

    slug = models.SlugField(unique=True, help_text="Its name in the API.")
    name = models.CharField(max_length=80, help_text="On the button, and the title of what it makes.")
    description = models.CharField(max_length=200, blank=True, help_text="One line that tells what it makes.")
    prompt = models.TextField(help_text="What the model is told to make of the conversation.")
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.DOCUMENT)
    language = models.CharField(max_length=40, blank=True, help_text="Of code: python, sql …")
    assistants = models.ManyToManyField(
        "conversations.Assistant", related_name="presets", blank=True, help_text="Who offers it."
    )
    is_active = models.BooleanField(default=True, help_text="Offered as a button.")
    order = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["order", "name"]
        constraints = [models.CheckConstraint(condition=KIND_KNOWN, name="preset_kind_known")]

    def __str__(self) -> str:
        return self.name
