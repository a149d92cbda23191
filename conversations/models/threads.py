from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce

from conversations.models.indexes import UNCHECKED
from conversations.runtime.ids import uuid7
from conversations.runtime.wording import filled

MOST_TAGS, TAG_CHARS = 20, 40


class Thread(models.Model):
    """One conversation of one user. Ask for it through ``conversations.threads``, which knows whose it is."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    # Each turn updates its thread and thereby every index of it, so there is none that another one can serve.
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="threads", db_index=False)
    assistant = models.ForeignKey("conversations.Assistant", models.DO_NOTHING, related_name="threads", db_index=False)
    title = models.CharField(max_length=200, blank=True)
    title_through = models.PositiveIntegerField(
        null=True, help_text="A model made its title of the turns up to this position; empty: a person, or rules."
    )
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField(help_text="Of its last turn.")
    session_started_at = models.DateTimeField(
        null=True, help_text="Start of the user's session that its last user turn belongs to."
    )
    away_since = models.DateTimeField(
        null=True, help_text="End of the user's session before that one, if there was one."
    )
    message_count = models.PositiveIntegerField(default=0, help_text="Turns on the active path.")
    last_position = models.PositiveIntegerField(default=0)
    cleared_at = models.DateTimeField(null=True, help_text="When its person last cleared it of all turns.")
    cleared_through = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Position of the last turn that was cleared away: there is none up to it."
    )
    remembers = models.BooleanField(
        default=True,
        help_text="Off: it is given nothing that is remembered, and nothing of it is remembered or recalled elsewhere.",
    )
    temporary = models.BooleanField(
        default=False,
        db_default=False,
        help_text="It goes when it is closed, at the latest an hour after its last turn, and nothing of it is remembered.",
    )
    left_at = models.DateTimeField(
        null=True, help_text="Of a temporary one: when the last page that showed it was gone."
    )
    model = models.CharField(
        max_length=121,
        blank=True,
        default="",
        db_default="",
        help_text="The model that its person chose for it, as provider/name. Empty: the assistant's own.",
    )
    # No cascade: whoever deletes a project says what becomes of its threads.
    project = models.ForeignKey(
        "conversations.Project", models.DO_NOTHING, null=True, blank=True, related_name="threads", db_index=False
    )
    instructions = models.TextField(
        blank=True, default="", db_default="", help_text="What its person wants of every answer in it."
    )
    uses_account_instructions = models.BooleanField(
        default=True, db_default=True, help_text="Off: it is given nothing of the person's own instructions."
    )
    pinned = models.BooleanField(
        default=False, db_default=False, help_text="Stands above the others in its person's list."
    )
    archived = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Put away: it stands in the list only where archived ones are asked for.",
    )
    tags = ArrayField(
        models.CharField(max_length=TAG_CHARS),
        default=list,
        db_default=[],
        blank=True,
        help_text="The person's own words for it.",
    )
    path_version = models.PositiveIntegerField(
        default=0, db_default=0, help_text="How often another path became the active one."
    )
    # Neither holds on to what it names: a thread outlives the one that it was forked from.
    forked_from = models.ForeignKey("self", null=True, related_name="forks", **UNCHECKED)
    forked_at = models.UUIDField(null=True, help_text="The turn up to which it was copied from there.")
    # The client_message_id that created it. Absent, not empty: the constraint lets any number of threads have none.
    opened_by = models.CharField(max_length=100, null=True, editable=False)  # noqa: DJ001

    class Meta:
        # Ascending, though they are read backwards: new entries then come at the end, where pages fill up.
        indexes = [
            models.Index(fields=["user", "updated_at"], name="thread_list"),
            # What the side bar shows first, whatever else there is: pinned threads, and the others that are in no project.
            models.Index(
                fields=["user", "updated_at"],
                condition=Q(pinned=True, archived=False, temporary=False),
                name="thread_pinned",
            ),
            models.Index(
                fields=["user", "updated_at"],
                condition=Q(project__isnull=True, pinned=False, archived=False, temporary=False),
                name="thread_outside",
            ),
            models.Index(fields=["updated_at"], name="thread_newest"),
            models.Index(fields=["updated_at"], condition=Q(temporary=True), name="thread_temporary"),
            models.Index(
                fields=["project", "updated_at"], condition=Q(project__isnull=False), name="thread_of_project"
            ),
            models.Index(fields=["forked_from"], condition=Q(forked_from__isnull=False), name="thread_forks"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "opened_by"], condition=Q(opened_by__isnull=False), name="thread_opened_once"
            ),
            models.CheckConstraint(condition=Q(message_count__lte=models.F("last_position")), name="thread_count_sane"),
        ]

    def __str__(self) -> str:
        return filled("thread {id}", id=str(self.id))


class Message(models.Model):
    """One turn. Written once: a trigger lets nothing change but the mark of the active path, and the status of a user turn
    between complete and refused (requirement T3).

    ``position`` is the order in which the thread's turns were stored, ``depth`` and ``token_total`` count the turns and
    tokens of the path that ends here, so that a window can be cut without reading what lies before it.
    """

    class Role(models.TextChoices):
        USER = "user"
        ASSISTANT = "assistant"

    class Status(models.TextChoices):
        COMPLETE = "complete"
        INCOMPLETE = "incomplete", "incomplete (the model stopped early)"
        REFUSED = "refused", "refused by the model"
        STOPPED = "stopped", "stopped by the user"
        INTERRUPTED = "interrupted", "interrupted by a restart"
        FAILED = "failed", "failed in the middle"
        FORGOTTEN = "forgotten", "forgotten at the person's wish"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    thread = models.ForeignKey(Thread, models.DB_CASCADE, related_name="messages", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, related_name="+", **UNCHECKED)
    position = models.PositiveIntegerField()
    depth = models.PositiveIntegerField()
    role = models.CharField(max_length=9, choices=Role)
    # Absent where the text says it all, which is nearly always and then takes no room. Read ``blocks``.
    content = models.JSONField(
        null=True, help_text="Content blocks of the Messages API, where they are more than a text."
    )
    text = models.TextField(help_text="The text of the blocks, for people and for search.")
    citations = models.JSONField(
        null=True,
        help_text="Where its text cites parts of files: mark, file, part; empty: nowhere. No model is given it.",
    )
    status = models.CharField(max_length=11, choices=Status, default=Status.COMPLETE)
    offline = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Words of the offline responder: no model is given them, and nothing is remembered of them.",
    )
    model = models.CharField(
        max_length=200,
        blank=True,
        default="",
        db_default="",
        help_text="The model that wrote an imported turn, as its document names it. Of other turns the reply tells.",
    )
    token_count = models.PositiveIntegerField(help_text="Estimated tokens of this turn.")
    token_total = models.PositiveBigIntegerField(help_text="Estimated tokens of the path up to and with this turn.")
    created_at = models.DateTimeField()
    forgotten_at = models.DateTimeField(null=True, help_text="When its text was blanked, at the person's wish.")
    client_message_id = models.CharField(max_length=100, null=True)  # noqa: DJ001
    # Turns, replies and snapshots name each other without a constraint: they only leave together, with their thread, and each
    # constraint would lock the named row, write that to the WAL, and need an index for a cascade that deletes row by row.
    parent = models.ForeignKey("self", null=True, related_name="children", **UNCHECKED)
    is_active = models.BooleanField(default=True, help_text="On the path that the chat shows and the model is given.")
    reply = models.ForeignKey("conversations.Reply", null=True, related_name="assistant_messages", **UNCHECKED)

    class Meta:
        # Empty, but for the threads in which a model declined to answer.
        indexes = [
            models.Index(fields=["thread"], condition=Q(status="refused"), name="message_refused"),
            # Versions that were left, by what they follow: a turn, or the thread where they are first ones. Empty where nothing
            # was edited or answered again.
            models.Index(Coalesce("parent", "thread"), condition=Q(is_active=False), name="message_versions"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["thread", "position"], name="message_position_once"),
            models.UniqueConstraint(
                fields=["thread", "client_message_id"],
                condition=Q(client_message_id__isnull=False),
                name="message_sent_once",
            ),
            models.UniqueConstraint(fields=["reply"], condition=Q(reply__isnull=False), name="message_of_reply_once"),
            # Also the index that a window is cut with, before any text is read, however much was left beside the path.
            models.UniqueConstraint(
                fields=["thread", "depth"],
                include=["position", "token_total", "token_count", "user"],
                condition=Q(is_active=True),
                name="message_one_active_path",
            ),
            models.CheckConstraint(condition=Q(role__in=["user", "assistant"]), name="message_role_known"),
            models.CheckConstraint(
                condition=Q(position__gte=1) & Q(depth__gte=1) & Q(depth__lte=models.F("position")),
                name="message_position_counts_from_one",
            ),
            models.CheckConstraint(
                condition=Q(token_total__gte=models.F("token_count")), name="message_total_holds_count"
            ),
            models.CheckConstraint(
                condition=Q(content__0__isnull=False) | (Q(content__isnull=True) & ~Q(text="")),
                name="message_has_a_block",
            ),
        ]

    def __str__(self) -> str:
        return filled("turn {position}", position=self.position)

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """The content blocks of the Messages API."""
        return text_blocks(self.text) if self.content is None else self.content


def text_blocks(text: str) -> list[dict[str, Any]]:
    """Plain text as content blocks."""
    return [{"type": "text", "text": text}]


def more_than_text(blocks: list[dict[str, Any]], text: str) -> list[dict[str, Any]] | None:
    """The ``content`` of a turn with these blocks and this text of them."""
    return None if blocks == text_blocks(text) else blocks
