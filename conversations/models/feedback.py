from django.conf import settings
from django.db import models
from django.db.models import Q

from conversations.models.indexes import UNCHECKED
from conversations.runtime.ids import uuid7
from conversations.runtime.wording import filled


class Feedback(models.Model):
    """What a person said of one reply, and what became of it in support's queue. Saying it again replaces it."""

    class Reason(models.TextChoices):
        WRONG = "wrong", "wrong"
        FORGOT = "forgot", "forgot something"
        MADE_UP = "made_up", "made it up"
        TOO_LONG = "too_long", "too long"
        UNSAFE = "unsafe", "not safe"
        OTHER = "other", "other"

    class State(models.TextChoices):
        NEW = "new", "new"
        IN_WORK = "in_work", "in work"
        DONE = "done", "done"
        WONT_DO = "wont_do", "won't do"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, related_name="+", **UNCHECKED)
    thread = models.ForeignKey("conversations.Thread", models.DB_CASCADE, related_name="feedback")
    message = models.ForeignKey("conversations.Message", related_name="+", **UNCHECKED)
    value = models.SmallIntegerField(choices=[(1, "good"), (-1, "bad")])
    reason = models.CharField(max_length=8, choices=Reason, blank=True)
    text = models.TextField(blank=True, help_text="In the person's own words.")
    shown_since = models.DateTimeField(
        null=True, help_text="Since when the person shows this conversation to support. Empty: not, or not any more."
    )
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField(help_text="When the person last said it.")
    # What answered, as it was then: a thread may get another assistant, and requests are not kept for ever.
    assistant = models.ForeignKey("conversations.Assistant", models.DO_NOTHING, related_name="+", db_index=False)
    provider = models.CharField(max_length=40, blank=True)
    model = models.CharField(max_length=200, blank=True)
    request = models.ForeignKey("conversations.ContextSnapshot", null=True, related_name="+", **UNCHECKED)
    state = models.CharField(max_length=7, choices=State, default=State.NEW)
    assignee = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, related_name="+", **UNCHECKED)
    notes = models.TextField(blank=True, max_length=10_000, help_text="Of support, for support: never shown to people.")

    class Meta:
        verbose_name = "feedback"
        verbose_name_plural = "feedback"
        indexes = [models.Index(fields=["state", "id"], name="feedback_queue")]
        constraints = [
            models.UniqueConstraint(fields=["message"], name="feedback_once"),
            models.CheckConstraint(condition=Q(value__in=[1, -1]), name="feedback_value_known"),
        ]

    def __str__(self) -> str:
        return filled("feedback {id}", id=str(self.id))

    @property
    def show_conversation(self) -> bool:
        return self.shown_since is not None
