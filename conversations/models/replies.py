from django.conf import settings
from django.db import models
from django.db.models import Q

from conversations.models.indexes import UNCHECKED
from conversations.runtime.ids import uuid7
from conversations.runtime.request_ids import FOREIGN_ID
from conversations.runtime.wording import filled

STOP_REASONS = frozenset(
    {
        *("end_turn", "max_tokens", "stop_sequence", "tool_use", "pause_turn", "refusal"),
        *("model_context_window_exceeded", "unknown"),
    }
)
"""Why a model stops, in the Messages API's words, and ours where nobody said."""


class Reply(models.Model):
    """One attempt of the model to answer a user turn. A retry is another Reply for the same turn, never another turn.

    Or, without a turn, the silent work of a preset: nothing of it enters the thread's history but the artifact beside it (F9).
    """

    class Status(models.TextChoices):
        RUNNING = "running"
        COMPLETED = "completed"
        STOPPED = "stopped"
        INTERRUPTED = "interrupted"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    thread = models.ForeignKey("conversations.Thread", models.DB_CASCADE, related_name="replies", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, related_name="+", **UNCHECKED)
    user_message = models.ForeignKey("conversations.Message", null=True, related_name="replies", **UNCHECKED)
    preset = models.SlugField(blank=True, db_index=False, help_text="The preset whose artifact it makes silently.")
    # Absent, not empty, as in Thread.opened_by.
    client_id = models.CharField(  # noqa: DJ001
        max_length=100, null=True, help_text="The client's own id of the click on the preset."
    )
    request_id = models.CharField(  # noqa: DJ001
        max_length=64,
        null=True,
        help_text="Of the request that asked for it: its log lines, spans and errors have it too.",
    )
    # No constraint: the check of it would write to the token's row in every statement that stores a turn. Tokens are revoked,
    # and only deleted with their user.
    token = models.ForeignKey(
        "conversations.ApiToken",
        null=True,
        related_name="+",
        help_text="That it was asked for with, if it was not from a page.",
        **UNCHECKED,
    )
    model = models.CharField(
        max_length=80, blank=True, default="", db_default="", help_text="Asked for in place of the assistant's own."
    )
    continues = models.ForeignKey(
        "self",
        null=True,
        related_name="+",
        help_text="The reply that was cut short and is gone on with: its text comes first.",
        **UNCHECKED,
    )
    status = models.CharField(max_length=11, choices=Status, default=Status.RUNNING)
    owner = models.CharField(max_length=100, help_text="The server process that runs it.")
    lease_until = models.DateTimeField(help_text="Renewed while the process lives; a reply past it was left behind.")
    suspected_at = models.DateTimeField(
        null=True, help_text="When a process first saw that the lease had run out. Renewing the lease takes it away."
    )
    stop_requested_at = models.DateTimeField(null=True)
    stop_reason = models.CharField(max_length=60, blank=True)
    reserved = models.PositiveIntegerField(
        default=0,
        help_text="Tokens of the user's day that are set aside for it while it runs, with those that it has taken.",
    )
    spent = models.PositiveBigIntegerField(
        null=True,
        help_text="Tokens that it took of the user's day: by the requests that have ended, while it runs.",
    )
    usage = models.JSONField(default=dict)
    error = models.JSONField(null=True)
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "replies"
        # None on what changes while it runs – the lease is renewed all the time – or when it ends. Those that run are
        # found by the constraint below, all others by their turn: ask for its thread too.
        # A request id that was given here tells when, and so where to look; one that a proxy proposed does not.
        indexes = [
            models.Index(fields=["thread", "user_message"], name="reply_of_turn"),
            models.Index(
                fields=["request_id"], name="reply_of_foreign_request", condition=Q(request_id__regex=FOREIGN_ID)
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["thread"], condition=Q(status="running"), name="one_running_reply_per_thread"
            ),
            models.CheckConstraint(
                condition=Q(status__in=["running", "completed", "stopped", "interrupted", "failed"]),
                name="reply_status_known",
            ),
            models.CheckConstraint(
                condition=Q(status="running", ended_at__isnull=True)
                | (~Q(status="running") & Q(ended_at__isnull=False)),
                name="reply_ended_or_running",
            ),
            models.CheckConstraint(
                condition=Q(user_message__isnull=False, preset="") | (Q(user_message__isnull=True) & ~Q(preset="")),
                name="reply_to_turn_or_preset",
            ),
            models.UniqueConstraint(
                fields=["thread", "client_id"], condition=Q(client_id__isnull=False), name="preset_clicked_once"
            ),
        ]

    def __str__(self) -> str:
        return filled("reply {id}", id=str(self.id))


class ReplyEvent(models.Model):
    """What happened in a reply, numbered without a hole from 2 on. The only source of what sockets and SSE streams send.

    The first event, that the user turn is saved, is told by the turn itself; the last has no data, for the reply and its turn
    say it all. Kept for a while after the end, by default an hour; then the stored turn says the same.
    """

    pk = models.CompositePrimaryKey("reply", "seq")
    reply = models.ForeignKey(Reply, models.DB_CASCADE, related_name="events", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, related_name="+", **UNCHECKED)
    seq = models.PositiveIntegerField()
    type = models.CharField(max_length=40)
    data = models.JSONField()
    at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(seq__gte=1), name="event_seq_counts_from_one")]

    def __str__(self) -> str:
        return f"{self.reply_id} {self.seq} {self.type}"


class Quotation(models.Model):
    """That a reply was given words of a turn or of a file because its model searched for them. It is noted before the model
    reads them, so that what quotes a forgotten turn is known by its id, however few its words are."""

    reply = models.ForeignKey(Reply, models.DB_CASCADE, related_name="quotations", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, related_name="+", **UNCHECKED)
    source = models.UUIDField(db_index=True, help_text="Id of the turn or of the file.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["reply", "source"], name="quotation_once")]

    def __str__(self) -> str:
        return f"{self.reply_id} quotes {self.source}"
