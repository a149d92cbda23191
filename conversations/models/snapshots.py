from django.conf import settings
from django.contrib.postgres.indexes import OpClass
from django.db import models
from django.db.models import F, Q

from conversations.models.indexes import (
    BLOOM,
    UNCHECKED,
    ChangingSummaryIndex,
    ErrorCode,
    Exceeds,
    IsThere,
    SummaryIndex,
    Tells,
)
from conversations.runtime.ids import uuid7
from conversations.runtime.wording import filled

INDEXED_FATES = (
    *("over_budget", "turn_limit", "superseded", "fulfilled_artifact", "orphan_tool", "recalled", "outside_part"),
    *("refused", "failed", "offline"),
    "shortened",
)
FATES = (*INDEXED_FATES, "other_branch")
"""Reasons why a turn is not, or not as it was, in its place in a request, as ``runs`` names them."""


class ContextBlock(models.Model):
    """A text that was part of a request, stored once a thread and found by its digest.

    Staff-written texts belong to no thread. What a user wrote or caused belongs to the thread and goes with it. One that was
    forgotten is found by the digest of its digest, so that the same text can be stored again when it is said again.
    """

    thread = models.ForeignKey(
        "conversations.Thread", models.DB_CASCADE, null=True, related_name="context_blocks", db_index=False
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, related_name="+", **UNCHECKED)
    sha256 = models.BinaryField(max_length=32)
    text = models.TextField()
    forgotten_at = models.DateTimeField(
        null=True, help_text="When its text was blanked, because the person had something forgotten that stood in it."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["thread", "sha256"], nulls_distinct=False, name="context_block_once"),
        ]

    def __str__(self) -> str:
        return f"{bytes(self.sha256).hex()[:12]} ({len(self.text)} characters)"


class ContextSnapshot(models.Model):
    """What one model request was given, what was left out and why. Recorded before the model is called (S1).

    Turns are named by their place in the thread – they never change –, all other texts by the digest of their block, so a
    snapshot of a long request takes a few hundred bytes and the exact request can be rebuilt from it (S4).
    """

    class Purpose(models.TextChoices):
        REPLY = "reply"
        REWRITE = "rewrite", "contextualised query"
        ARTIFACT = "artifact", "silent artifact of a preset"
        CONSOLIDATION = "consolidation", "notes of a conversation"
        TITLE = "title", "title of a conversation"
        EXPERIMENT = "experiment", "answer in an experiment"
        JUDGE = "judge", "verdict on an answer"

        @property
        def quotes_turns(self) -> bool:
            """Whether its turns stand within one text, as JSON, and not in places of their own."""
            return self in {type(self).REWRITE, type(self).CONSOLIDATION, type(self).TITLE, type(self).JUDGE}

    class Status(models.TextChoices):
        PENDING = "pending"
        COMPLETED = "completed"
        FAILED = "failed"
        STOPPED = "stopped"
        INTERRUPTED = "interrupted"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    thread = models.ForeignKey("conversations.Thread", models.DB_CASCADE, related_name="snapshots", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, related_name="+", **UNCHECKED)
    reply = models.ForeignKey("conversations.Reply", null=True, related_name="snapshots", **UNCHECKED)
    message = models.ForeignKey("conversations.Message", null=True, related_name="snapshots", **UNCHECKED)
    purpose = models.CharField(max_length=13, choices=Purpose, default=Purpose.REPLY)
    round = models.PositiveSmallIntegerField(default=1, help_text="Which model request of the reply, or which attempt.")
    created_at = models.DateTimeField()
    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=80)
    max_tokens = models.PositiveIntegerField(help_text="Of the answer and of thinking together.")
    thinking = models.CharField(
        max_length=60,
        blank=True,
        default="",
        db_default="",
        help_text="What the request says of thinking and effort, and how much room thinking has.",
    )
    fallback_for = models.CharField(
        max_length=80,
        blank=True,
        default="",
        db_default="",
        help_text="The model that declined or could not be asked, where this one answers in its place.",
    )
    fallback_cause = models.CharField(
        max_length=40,
        blank=True,
        default="",
        db_default="",
        help_text="The code of what kept that model from answering. Empty in older records: it declined.",
    )
    digest = models.BinaryField(max_length=32, help_text="SHA-256 of the request as canonical JSON.")
    budget = models.PositiveIntegerField()
    hard_cap = models.PositiveIntegerField()
    budget_origin = models.CharField(
        max_length=100,
        blank=True,
        default="",
        db_default="",
        help_text="Share of the window, window, hard cap that was wanted, answer, and the marks of the history.",
    )
    files = models.JSONField(
        null=True, help_text="Every part of every file of the thread exactly once, as runs; empty: there are no files."
    )
    scope = models.JSONField(
        null=True,
        help_text="Of which project its thread was, and whose memory was open to it; empty: that outside of all projects.",
    )
    counts = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="Turns whose tokens the provider had counted exactly: position and tokens.",
    )
    quoting = models.PositiveSmallIntegerField(
        null=True,
        help_text="How texts are told apart in the request; empty: the words of turns stand in it as they are.",
    )
    version = models.ForeignKey(
        "conversations.AssistantVersion",
        null=True,
        related_name="+",
        help_text="Of the assistant that replied, as it was. Empty in older records.",
        **UNCHECKED,
    )
    rules = models.PositiveSmallIntegerField(
        null=True, help_text="The number of the code's rules that chose. Empty in older records."
    )
    total_tokens = models.PositiveIntegerField()
    token_factor = models.FloatField(
        default=1.0, db_default=1.0, help_text="Tokens of the model for each estimated one, as the context was fitted."
    )
    message_history_count = models.PositiveIntegerField()
    message_history_tokens = models.PositiveIntegerField()
    today_summary_present = models.BooleanField(default=False)
    open_threads_count = models.PositiveSmallIntegerField(default=0)
    last_conversation_present = models.BooleanField(default=False)
    # What ``conversations.context.record.snapshot_codec`` writes; read it with the functions of
    # ``conversations.context.record.snapshots``.
    sections = models.TextField(help_text="The parts of the system text, in order: name, tokens, digest of the block.")
    runs = models.TextField(help_text="Every turn of the thread exactly once, as runs: first, last, reason, tokens.")
    additions = models.TextField(
        blank=True, help_text="What stands beside the message: name, tokens, digest of the block."
    )
    cache = models.TextField(
        blank=True, help_text="Prompt cache: state, tokens expected from it, where marks stand, the answer before."
    )
    timings_ms = models.TextField(blank=True, help_text="How long the steps of building took, in milliseconds.")
    items = models.BinaryField(
        max_length=32, null=True, help_text="Digest of the block that tells of memories and topics."
    )
    rewriting = models.CharField(max_length=10, blank=True, help_text="What became of the contextualised query.")
    # Absent where there is nothing to tell, which is most of the time and then takes no room.
    recalled = models.JSONField(
        null=True, help_text="What was found for this message: kind, id, included, reason, tokens, score."
    )
    problems = models.JSONField(null=True, help_text="Sources that failed and were left out: source, kind, message.")
    status = models.CharField(max_length=11, choices=Status, default=Status.PENDING)
    stop_reason = models.CharField(max_length=60, blank=True)
    provider_request_id = models.CharField(max_length=100, blank=True)
    provider_message_id = models.CharField(max_length=100, blank=True, help_text="The provider's id of its answer.")
    diagnostics = models.JSONField(null=True, help_text="What the provider says about its prompt cache.")
    usage = models.JSONField(default=dict)
    error = models.JSONField(null=True)
    stop_details = models.JSONField(null=True, help_text="What the provider says about why it declined.")
    thinking_ms = models.PositiveIntegerField(null=True, help_text="How long the model thought before it wrote.")
    first_token_ms = models.PositiveIntegerField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = "model request"
        # No B-tree on what the end of a request changes, so that storing the end touches no index; only that of one that
        # failed does. The newest of all are found by their ids, which are ordered by time; the rare ones among a million by
        # summaries of the table's pages.
        indexes = [
            models.Index(fields=["thread", "created_at"], name="snapshot_by_thread"),
            models.Index(fields=["id"], name="snapshot_of_fallback", condition=Q(fallback_for__gt="")),
            models.Index(ErrorCode("error"), F("id"), name="snapshot_of_error", condition=Q(error__isnull=False)),
            SummaryIndex(
                OpClass("model", name=BLOOM),
                OpClass("purpose", name=BLOOM),
                OpClass(Exceeds("total_tokens", "budget"), name="int4_minmax_ops"),
                *(OpClass(Tells("runs", reason=reason), name="int4_minmax_ops") for reason in INDEXED_FATES),
                name="snapshot_made",
            ),
            ChangingSummaryIndex(
                OpClass("status", name=BLOOM),
                OpClass(ErrorCode("error"), name=BLOOM),
                OpClass(IsThere("error"), name="int4_minmax_ops"),
                name="snapshot_ended",
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["reply", "round", "purpose"], name="one_snapshot_per_round"),
            models.CheckConstraint(
                condition=Q(status__in=["pending", "completed", "failed", "stopped", "interrupted"]),
                name="snapshot_status_known",
            ),
        ]

    def __str__(self) -> str:
        return filled("request {id}", id=str(self.id))

    @property
    def quotes_turns(self) -> bool:
        return self.Purpose(self.purpose).quotes_turns


class TemporaryHour(models.Model):
    """The figures of a temporary chat that was closed, by hour, assistant and model, as in ``RequestHour``: all that is kept of
    it. Of whom it was is not told."""

    hour = models.DateTimeField(db_index=True)
    assistant = models.ForeignKey("conversations.Assistant", related_name="+", **UNCHECKED)
    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=80)
    above = models.PositiveIntegerField()
    figures = models.JSONField(help_text="With `temporary`: 1 in one row of each chat.")

    def __str__(self) -> str:
        return f"temporary chat with {self.model} in the hour of {self.hour}"


class RequestHour(models.Model):
    """The figures of an hour's requests to one model for one assistant, so that the overview need not read a million rows.

    Kept when the requests are deleted. Written and read by ``conversations.upkeep.hourly_figures``, which says what
    ``figures`` holds.
    """

    hour = models.DateTimeField()
    assistant = models.ForeignKey("conversations.Assistant", related_name="+", **UNCHECKED)
    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=80)
    above = models.PositiveIntegerField(
        help_text="They had more input tokens than this, above which prices are others."
    )
    figures = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["hour", "assistant", "provider", "model", "above"], name="request_hour_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.model} in the hour of {self.hour}"
