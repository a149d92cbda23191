from django.db import models
from django.db.models import Q

from conversations.runtime.ids import uuid7


class MaintenanceRun(models.Model):
    """One backup, drill or restore of this installation, as the System page and metrics tell of it.

    No backup holds this table. A restore that has not succeeded keeps servers from starting: what was forgotten since
    the backup may be there again. Written by ``config.backups.runs``.
    """

    class Kind(models.TextChoices):
        BACKUP = "backup"
        DRILL = "drill"
        RESTORE = "restore"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    kind = models.CharField(max_length=7, choices=Kind)
    began_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, help_text="Empty: it runs, or broke off.")
    succeeded = models.BooleanField(null=True, help_text="Empty: it has not ended.")
    details = models.JSONField(default=dict, help_text="Numbers: rows, bytes, files, requests proven. Never a text.")

    class Meta:
        indexes = [models.Index(fields=["kind", "-began_at"], name="maintenance_latest")]
        constraints = [
            models.CheckConstraint(
                condition=Q(ended_at__isnull=True, succeeded__isnull=True)
                | Q(ended_at__isnull=False, succeeded__isnull=False),
                name="maintenance_ended_whole",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.began_at:%Y-%m-%d %H:%M}"
