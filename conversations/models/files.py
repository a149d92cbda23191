from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.db.models.functions import Mod
from django.db.models.lookups import Exact

from conversations.models.indexes import UNCHECKED
from conversations.runtime.ids import uuid7
from conversations.runtime.wording import filled


class File(models.Model):
    """What a person uploaded. Ask for it through ``conversations.files.store``, which knows whose it is.

    Its bytes lie in the storage ``files``, under ``place``. Triggers of the database note them in ``BytesToRemove`` when the
    row goes, whatever deletes it.
    """

    class State(models.TextChoices):
        READING = "reading", "reading: its parts are being read, or wait for it"
        READY = "ready", "ready: all parts that could be read are there"
        FAILED = "failed", "failed: nothing of it could be read"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="files", db_index=False)
    thread = models.ForeignKey(
        "conversations.Thread",
        models.DB_CASCADE,
        null=True,
        related_name="files",
        db_index=False,
        help_text="Of the first message that it was sent with; it belongs to that thread from then on.",
    )
    project = models.ForeignKey(
        "conversations.Project",
        models.DB_CASCADE,
        null=True,
        blank=True,
        related_name="files",
        db_index=False,
        help_text="That it was uploaded to: all threads of it read it. Such a file is in no message.",
    )
    name = models.CharField(max_length=200, help_text="As the person called it, in one line, without folders.")
    kind = models.CharField(max_length=10, help_text="What it is by its content.")
    media_type = models.CharField(max_length=100)
    size = models.PositiveBigIntegerField(help_text="In bytes.")
    sha256 = models.BinaryField(max_length=32)
    place = models.CharField(max_length=100, help_text="Where its bytes lie in the storage.")
    thumbnail = models.CharField(
        max_length=100,
        blank=True,
        default="",
        db_default="",
        help_text="Where a small picture of it lies in the storage; empty: not made yet.",
    )
    thumbnail_size = models.PositiveIntegerField(default=0, db_default=0, help_text="In bytes.")
    thumbnail_failures = models.PositiveSmallIntegerField(
        default=0,
        db_default=0,
        help_text="How often no small picture of it could be drawn; past a few it is not tried again.",
    )
    state = models.CharField(max_length=7, choices=State, default=State.READING)
    error = models.JSONField(
        null=True, help_text="The error object of why it could not be read, or of what is missing where it is ready."
    )
    left_out = models.JSONField(
        default=list,
        db_default=[],
        help_text="What it holds and none of its parts does: what, why, count, and places as parts are labelled.",
    )
    title = models.CharField(max_length=200, blank=True, help_text="As the file itself has it.")
    pages_total = models.PositiveIntegerField(null=True, help_text="Pages, slides or sheets, where it is known.")
    pages_read = models.PositiveIntegerField(default=0)
    parts_read = models.PositiveIntegerField(default=0)
    token_count = models.PositiveIntegerField(default=0, help_text="Estimated tokens of the texts of its parts.")
    picture_bytes = models.PositiveBigIntegerField(
        default=0, db_default=0, help_text="What the pictures of its parts take; it counts as the person's too."
    )
    attempt = models.PositiveSmallIntegerField(
        default=0, help_text="How often its reading was begun: whoever reads for an earlier one stores nothing more."
    )
    created_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["user", "id"], name="file_list"),
            models.Index(fields=["thread"], name="file_of_thread", condition=Q(thread__isnull=False)),
            models.Index(fields=["project"], name="file_of_project", condition=Q(project__isnull=False)),
            models.Index(fields=["id"], name="file_in_no_thread", condition=Q(thread__isnull=True)),
            models.Index(fields=["id"], name="file_reading", condition=Q(state="reading")),
        ]
        constraints = [
            # A list would be dumped otherwise than made.
            models.CheckConstraint(
                condition=Q(state="reading") | Q(state="ready") | Q(state="failed"), name="file_state_known"
            ),
        ]

    def __str__(self) -> str:
        return filled("file {id}", id=str(self.id))


SAMPLE = 8
"""Every so many parts one stands in an index apart, in which a search sees which words are common."""


class FilePart(models.Model):
    """A page, a slide, some rows of a sheet or a section of a file; at most some 2,000 tokens."""

    file = models.ForeignKey(File, models.DB_CASCADE, related_name="parts", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, related_name="+", **UNCHECKED)
    number = models.PositiveIntegerField(help_text="From 1, without holes.")
    label = models.CharField(max_length=200, help_text="Unlike that of every other part of the file.")
    heading = models.CharField(max_length=200, blank=True, help_text="That it stands under.")
    page = models.PositiveIntegerField(null=True, help_text="The page, the slide or the sheet, from 1.")
    text = models.TextField(blank=True, help_text="Markdown.")
    token_count = models.PositiveIntegerField(help_text="Estimated tokens of the text.")
    terms = ArrayField(
        models.IntegerField(),
        default=list,
        help_text="Its words, as `memory.language.words.term` numbers them for its person.",
    )
    picture = models.CharField(max_length=100, blank=True, help_text="Where it lies in the storage; empty: none.")
    width = models.PositiveIntegerField(null=True, help_text="Of the picture, in pixels.")
    height = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["file", "number"], name="file_part_once")]
        # A search reads what waits to be merged; a shorter list than this would be merged with every few pages that are read.
        indexes = [
            GinIndex(fields=["terms"], name="file_part_terms", gin_pending_list_limit=1_024),
            GinIndex(
                fields=["terms"],
                name="file_part_sample",
                gin_pending_list_limit=1_024,
                condition=Q(Exact(Mod("number", SAMPLE), 1)),
            ),
        ]

    def __str__(self) -> str:
        return f"part {self.number} of file {self.file_id}"


class BytesToRemove(models.Model):
    """Bytes in the storage ``files`` that no row names: not yet, or not any more. A worker removes them when they are due."""

    place = models.CharField(primary_key=True, max_length=100)
    due_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "bytes to remove"

    def __str__(self) -> str:
        return self.place
