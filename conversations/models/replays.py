"""Past requests of an assistant built again as a change would have built them: what was asked for, and what came of it."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q

from conversations.runtime.ids import uuid7


class Run(models.Model):
    """Work of the workers, slice by slice. What it has made and ``last`` are written together, so that a run that is broken off
    goes on behind what it got to."""

    class State(models.TextChoices):
        RUNNING = "running", "running"
        DONE = "done", "done"
        CANCELLED = "cancelled", "cancelled"
        FAILED = "failed", "failed"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    state = models.CharField(max_length=9, choices=State, default=State.RUNNING)
    last = models.UUIDField(null=True, help_text="The request that it got to.")
    problem = models.CharField(max_length=200, blank=True, help_text="Where the code failed, if it did.")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True


class Replay(Run):
    """It holds ids and figures, never a text."""

    assistant = models.ForeignKey("conversations.Assistant", models.DB_CASCADE, related_name="+")
    version = models.ForeignKey(
        "conversations.AssistantVersion",
        models.DB_CASCADE,
        null=True,
        related_name="+",
        help_text="That is tried. Empty: this release of the code, each request at its own version.",
    )
    rule = models.CharField(
        max_length=20, blank=True, default="", db_default="", help_text="Of choosing, that is lifted. Empty: none."
    )
    since = models.DateTimeField(help_text="Of requests that were made from then on.")
    sample = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)], help_text="So many of them at most. Empty: all."
    )
    conditions = ArrayField(models.CharField(max_length=80), default=list, help_text="Under which it fails.")
    requests = models.PositiveIntegerField(help_text="How many there were as it began.")
    figures = models.JSONField(default=dict, help_text="Of the requests so far.")

    class Meta:
        verbose_name = "replay of requests"
        verbose_name_plural = "replays of requests"
        default_permissions = ("add", "view")
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["running", "done", "cancelled", "failed"]), name="replay_state_known"
            ),
            models.CheckConstraint(condition=Q(rule="") | Q(version=None), name="replay_tries_one_thing"),
        ]

    def __str__(self) -> str:
        return f"replay {self.id}"
