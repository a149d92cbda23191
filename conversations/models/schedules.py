"""Messages that are sent at a time, once or again and again."""

from datetime import timedelta

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from conversations.models.indexes import UNCHECKED
from conversations.runtime.ids import uuid7

CONTENT_CHARS = 10_000
LATE = timedelta(minutes=5)
"""A message that is sent so long after its time is late."""


class Schedule(models.Model):
    """A message of a person's that the worker sends at a time. Ask through ``conversations.schedules.schedules``.

    It is sent once, at ``at``, or on ``days`` of the week (1 is Monday, as ISO has it) at ``time`` in ``time_zone``. Without a
    ``thread`` the first message opens one, with ``assistant``, and the later ones go there. ``next_at`` is the time of the next
    message, empty once there is none; until ``rests_until`` it is not tried again. ``last_due_at`` is the time of the newest
    message that was tried; it was sent unless ``last_error`` says why not.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="schedules", db_index=False)
    thread = models.ForeignKey("conversations.Thread", models.DB_CASCADE, null=True, related_name="schedules")
    token = models.ForeignKey(
        "conversations.ApiToken",
        null=True,
        related_name="+",
        help_text="It was made with; its limits count.",
        **UNCHECKED,
    )
    assistant = models.CharField(max_length=50, blank=True, help_text="Of the thread that it opens.")
    content = models.TextField(max_length=CONTENT_CHARS)
    at = models.DateTimeField(null=True)
    days = ArrayField(models.PositiveSmallIntegerField(), default=list)
    time = models.TimeField(null=True)
    time_zone = models.CharField(max_length=64)
    next_at = models.DateTimeField(null=True)
    rests_until = models.DateTimeField(null=True)
    paused = models.BooleanField(default=False)
    last_due_at = models.DateTimeField(null=True)
    last_sent_at = models.DateTimeField(null=True)
    last_reply = models.UUIDField(null=True)
    last_error = models.CharField(max_length=50, blank=True, help_text="The code of an error.")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        default_permissions = ("view",)
        indexes = [
            models.Index(fields=["user", "id"], name="schedule_of_user"),
            models.Index(fields=["next_at"], condition=Q(paused=False, next_at__isnull=False), name="schedule_due"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(at__isnull=False, days=[], time__isnull=True)
                | Q(at__isnull=True, days__len__gt=0, time__isnull=False, days__contained_by=[1, 2, 3, 4, 5, 6, 7]),
                name="schedule_once_or_on_days",
            ),
            models.CheckConstraint(condition=~Q(content=""), name="schedule_says_something"),
        ]

    def __str__(self) -> str:
        return f"schedule {self.id}"

    @property
    def late(self) -> bool:
        """Whether its newest message was sent long after its time."""
        return bool(self.last_sent_at and self.last_due_at and self.last_sent_at - self.last_due_at >= LATE)
