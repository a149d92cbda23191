"""Addresses that hear of what happens, and what was sent to them."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from conversations.runtime.ids import uuid7
from conversations.runtime.wording import filled

PURPOSE = "webhooks"
"""Of the encryption of their secrets."""
NAME_CHARS, URL_CHARS, ANSWER_CHARS = 80, 500, 500


class WebhookEvent(models.TextChoices):
    """What a webhook may ask for. The values stand in what is sent."""

    REPLY_FINISHED = "reply.finished", _("a reply has ended")
    REPLY_FAILED = "reply.failed", _("a reply has failed")
    ARTIFACT_CREATED = "artifact.created", _("an artifact was made")
    FILE_READ = "file.read", _("a file was read, or can’t be")
    FEEDBACK_GIVEN = "feedback.given", _("feedback was given")
    LIMIT_REACHED = "limit.reached", _("a budget fills up")
    MEMORY_CHANGED = "memory.changed", _("what is remembered has changed")
    CONTENT_ACCESSED = "content.accessed", _("staff looked at content")


PING = "ping"
"""The event of a test, which every webhook gets."""


class Webhook(models.Model):
    """An address of a person's that is told what happens to what is theirs, or, where it is ``for_all``, to everybody.

    Ask for it through ``conversations.webhooks.webhooks``, which knows whose it is. ``failures`` counts attempts that failed
    since one succeeded, ``failing_since`` is the first of them; until ``rests_until`` nothing is tried.
    """

    class Cause(models.TextChoices):
        """Why it was switched off by the installation."""

        FAILING = "failing", _("it failed for days")
        GONE = "gone", _("its address answered that it is gone")
        RIGHT_LOST = "right_lost", _("whoever made it may not hear of everybody any more")

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="webhooks", db_index=False)
    name = models.CharField(max_length=NAME_CHARS)
    url = models.CharField("address", max_length=URL_CHARS)
    events = ArrayField(models.CharField(max_length=40, choices=WebhookEvent))
    for_all = models.BooleanField(default=False, help_text="It hears of everybody, not of its maker alone.")
    secret = models.BinaryField(help_text="What its messages are signed with, encrypted.")
    former_secret = models.BinaryField(default=b"", help_text="The one before, encrypted.")
    former_until = models.DateTimeField(null=True, help_text="Until then they are signed with the one before, too.")
    is_active = models.BooleanField(default=True)
    disabled_because = models.CharField(max_length=10, choices=Cause, blank=True)
    failures = models.PositiveIntegerField(default=0)
    failing_since = models.DateTimeField(null=True)
    rests_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        default_permissions = ("view", "change")
        permissions = [("hear_of_all_webhook", "Can make webhooks that hear of everybody")]
        indexes = [
            models.Index(fields=["user", "id"], name="webhook_of_user"),
            models.Index(fields=["id"], condition=Q(for_all=True, is_active=True), name="webhook_for_all"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(events__contained_by=list(WebhookEvent.values)) & Q(events__len__gt=0),
                name="webhook_events_known",
            ),
        ]

    def __str__(self) -> str:
        return filled("webhook {id}", id=str(self.id))


class WebhookDelivery(models.Model):
    """Something that happened, to be sent to a webhook. Written in the transaction of what it tells of.

    ``user`` is whom it is about; empty: nobody alone. ``data`` holds ids, states, figures: no word of a person's. ``due_at`` is
    empty once it was taken or given up.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    webhook = models.ForeignKey(Webhook, models.DB_CASCADE, related_name="deliveries", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, null=True, related_name="+")
    event = models.CharField(max_length=40)
    data = models.JSONField(encoder=DjangoJSONEncoder)
    created_at = models.DateTimeField(db_default=Now())
    due_at = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0, db_default=0)
    attempted_at = models.DateTimeField(null=True)
    delivered_at = models.DateTimeField(null=True)
    status_code = models.PositiveSmallIntegerField(null=True, help_text="Of the last answer.")
    answer = models.CharField(
        max_length=ANSWER_CHARS, blank=True, db_default="", help_text="How the last answer began."
    )
    problem = models.CharField(max_length=200, blank=True, db_default="", help_text="Why the last attempt failed.")
    milliseconds = models.PositiveIntegerField(null=True, help_text="That the last attempt took.")

    class Meta:
        verbose_name_plural = "webhook deliveries"
        default_permissions = ("view",)
        indexes = [
            models.Index(fields=["webhook", "due_at"], condition=Q(due_at__isnull=False), name="delivery_due"),
            models.Index(fields=["webhook", "-created_at", "id"], name="delivery_list"),
            models.Index(fields=["created_at"], name="delivery_age"),
        ]

    def __str__(self) -> str:
        return filled("delivery {id}", id=str(self.id))

    @property
    def state(self) -> str:
        if self.delivered_at:
            return "delivered"
        return "waiting" if self.due_at else "failed"
