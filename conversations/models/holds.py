import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from conversations.models.indexes import UNCHECKED
from conversations.runtime.ids import uuid7
from conversations.runtime.wording import filled


class LegalHold(models.Model):
    """That nothing of a person's, or of one project of theirs, may be lost. Begun and ended through ``conversations.holds``.

    While it lasts, what is deleted or forgotten is copied into ``HeldRow`` before. It outlives the account.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, related_name="+", verbose_name="person", help_text="Whose content it is.", **UNCHECKED
    )
    user_name = models.CharField(max_length=150, help_text="The user name at that time.")
    project_id = models.UUIDField(
        null=True, blank=True, help_text="The only project that it is about; empty: all that the person has."
    )
    subject = models.CharField(max_length=100, editable=False, help_text="What the erasure ledger knows it by.")
    reason = models.CharField(max_length=500, help_text="Why nothing may be lost. For staff.")
    tells_reason = models.BooleanField(
        default=False, verbose_name="tell the reason", help_text="The person is told the reason too, not only the hold."
    )
    began_at = models.DateTimeField()
    began_by = models.CharField(max_length=150, help_text="The user name of who began it.")
    ended_at = models.DateTimeField(null=True, help_text="Empty: it lasts.")
    ended_by = models.CharField(max_length=150, blank=True, help_text="The user name of who ended it.")
    released_at = models.DateTimeField(null=True, help_text="When all that it alone had kept was gone.")

    class Meta:
        default_permissions = ("add", "change", "view")
        indexes = [
            models.Index(fields=["user"], condition=Q(ended_at=None), name="hold_in_force"),
            models.Index(fields=["id"], condition=Q(released_at=None), name="hold_to_release"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(released_at=None) | Q(ended_at__isnull=False), name="hold_ends_before_its_release"
            ),
        ]

    def __str__(self) -> str:
        return filled("legal hold {id}", id=str(self.id))

    @property
    def covers_person(self) -> bool:
        return self.project_id is None


class HeldRow(models.Model):
    """A row of another table as it was before a person's wish took it away, kept because of a legal hold.

    Nothing but the pages of staff reads it: no list, search, export, share or request of the person's. It names rows by their
    ids, as they may be gone, and goes when the last hold that covers it has ended.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, related_name="+", **UNCHECKED)
    project_id = models.UUIDField(null=True, help_text="The project that it was in, if in one.")
    thread_id: models.UUIDField[uuid.UUID | None, uuid.UUID | None] = models.UUIDField(
        null=True, help_text="The thread that it was in, if in one."
    )
    kind = models.CharField(max_length=60, help_text="The label of its model.")
    row_id = models.CharField(max_length=40, verbose_name="id of the row")
    data = models.JSONField(help_text="All its columns.")
    digest = models.BinaryField(max_length=32, help_text="SHA-256 of its columns, as PostgreSQL writes them.")
    place = models.CharField(max_length=100, blank=True, help_text="Where its bytes lie in the storage; empty: none.")
    held_at = models.DateTimeField(help_text="When it was deleted or forgotten.")

    class Meta:
        verbose_name = "held row"
        default_permissions = ("view",)
        indexes = [
            models.Index(fields=["user", "id"], name="held_of_user"),
            models.Index(fields=["thread_id"], condition=Q(thread_id__isnull=False), name="held_of_thread"),
            models.Index(fields=["place"], condition=~Q(place=""), name="held_bytes"),
        ]
        constraints = [models.UniqueConstraint(fields=["kind", "row_id", "digest"], name="held_once")]

    def __str__(self) -> str:
        return str(self.id)
