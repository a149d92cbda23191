import uuid
from datetime import datetime

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Func, Q
from django.db.models.functions import Now
from django.utils import timezone

from conversations.runtime.wording import filled

CONFINED_TO = """\
left(CASE WHEN jsonb_path_exists(%(expressions)s, '$[*] ? (@ starts with "user:")') THEN ''
     ELSE coalesce(jsonb_path_query_first(%(expressions)s, '$[*] ? (@ like_regex "^project:[0-9a-f-]{36}$")') #>> '{}',
                   jsonb_path_query_first(%(expressions)s, '$[*] ? (@ starts with "thread:")') #>> '{}', '') END, 100)"""


class Preferences(models.Model):
    """What a user has decided about memory, days and language. Without a row, the defaults hold."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.DB_CASCADE, primary_key=True, related_name="preferences"
    )
    time_zone = models.CharField(max_length=64, default="UTC", help_text="IANA name: what “today” means to the user.")
    remembers = models.BooleanField(
        default=True,
        help_text="Off: nothing that is remembered is given to any request, and nothing new is remembered.",
    )
    language = models.CharField(
        max_length=10, blank=True, default="", db_default="", help_text="Of the pages. Empty: as the browser asks."
    )

    class Meta:
        verbose_name_plural = "preferences"

    def __str__(self) -> str:
        return f"preferences of {self.user_id}"


class Memory(models.Model):
    """A short fact about a user, with the turns that it comes from.

    ``tags`` say whom it is about: ``user:{id}``, ``project:{id}``, ``thread:{id}`` (C4). With a project's tag and no user's it
    belongs to that project, with a thread's alone to that thread; all others belong to the user outside of all projects.
    """

    class Origin(models.TextChoices):
        CONVERSATION = "conversation", "found in a conversation"
        HAND = "hand", "written by the person"
        PROGRAM = "program", "a program or an import"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="+", db_index=False)
    content = models.TextField()
    tags = models.JSONField(default=list, blank=True, help_text="A list of texts.")
    # For the index: what belongs to one thread must not be waded through for another.
    confined_to = models.GeneratedField(
        expression=Func(F("tags"), template=CONFINED_TO, output_field=models.CharField(max_length=100)),
        output_field=models.CharField(max_length=100),
        db_persist=True,
    )
    origin = models.CharField(max_length=12, choices=Origin, default=Origin.PROGRAM)
    sources = ArrayField(models.UUIDField(), default=list, blank=True, help_text="Ids of the turns that it rests on.")
    created_at = models.DateTimeField()
    said_at = models.DateTimeField(
        default=timezone.now,
        db_default=Now(),
        help_text="When it was said, or written down, last: what is said later counts.",
    )
    valid_from = models.DateTimeField(null=True, blank=True, help_text="Since when it holds, where that is known.")
    valid_until = models.DateTimeField(
        null=True, blank=True, help_text="Known beforehand: no session that begins then or later is given it."
    )
    ended_at = models.DateTimeField(
        null=True, blank=True, help_text="When it was replaced or called untrue: no request is given it from then on."
    )
    superseded_by = models.ForeignKey(
        "self", models.DB_SET_NULL, null=True, blank=True, related_name="+", help_text="What holds instead."
    )
    settled_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When the person last decided by hand whether it holds: what was said before changes nothing of that.",
    )

    class Meta:
        verbose_name_plural = "memories"
        indexes = [
            models.Index(
                fields=["user", "confined_to", "-created_at", "-id"],
                condition=Q(ended_at=None, valid_until=None),
                name="memory_lasting",
            ),
            models.Index(
                fields=["user", "confined_to", "-valid_until", "-id"],
                condition=Q(ended_at=None, valid_until__isnull=False),
                name="memory_passing",
            ),
            models.Index(fields=["user", "-created_at", "-id"], name="memory_list"),
            models.Index(fields=["user"], condition=Q(superseded_by__isnull=False), name="memory_superseded"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(origin__in=["conversation", "hand", "program"]), name="memory_origin_known"
            ),
            models.CheckConstraint(
                condition=Q(superseded_by=None) | Q(ended_at__isnull=False), name="memory_superseded_has_ended"
            ),
        ]

    def __str__(self) -> str:
        return filled("memory {id}", id=str(self.id))

    @property
    def began_at(self) -> datetime:
        """Since when it holds, as far as that is known."""
        return self.valid_from or self.created_at


class MirroredMemory(models.Model):
    """A memory that another memory service may have. It outlives the memory, until that one is deleted there as well."""

    memory_id = models.UUIDField(primary_key=True)
    # No constraint on either: what is gone here is still to be deleted there.
    user_id = models.BigIntegerField(db_index=True)
    version = models.BigIntegerField(null=True, help_text="Of the row that was sent last; empty while it is under way.")

    class Meta:
        verbose_name_plural = "mirrored memories"

    def __str__(self) -> str:
        return f"mirrored memory {self.memory_id}"


class ThreadSummary(models.Model):
    """What was said in a part of a thread: its turns from one position to another, without a long pause between them.

    Parts follow one another without a hole; what comes after the last one is not consolidated yet. An empty ``text`` is a part
    that was forgotten, or where nothing was to be told: it is never summarised again. One that is ``COPIED`` covers turns that
    are copies of another thread's, where they are remembered: it never grows, and is never read.
    """

    COPIED = "copy"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    thread = models.ForeignKey("conversations.Thread", models.DB_CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="+", db_index=False)
    first_position = models.PositiveIntegerField()
    last_position = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    key_moments = models.JSONField(default=list, help_text="Short sentences, in order.")
    sources = ArrayField(models.UUIDField(), default=list, help_text="Ids of the turns that it rests on.")
    started_at = models.DateTimeField(help_text="Time of its first turn.")
    ended_at = models.DateTimeField(help_text="Time of its last turn.")
    made_by = models.CharField(max_length=80, blank=True, help_text="The model that wrote it, or “rules”.")
    made_at = models.DateTimeField()
    stale_since = models.DateTimeField(
        null=True, help_text="When a turn that it rests on was changed or forgotten: it is made anew."
    )

    class Meta:
        verbose_name_plural = "thread summaries"
        indexes = [
            models.Index(fields=["user", "-ended_at", "-id"], name="thread_summary_newest"),
            models.Index(fields=["user"], condition=Q(stale_since__isnull=False), name="thread_summary_stale"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["thread", "first_position"], name="one_summary_a_part"),
            models.CheckConstraint(
                condition=Q(first_position__gte=1) & Q(first_position__lte=F("last_position")),
                name="thread_summary_from_first_to_last",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.thread_id} {self.first_position}–{self.last_position}"


class DailySummary(models.Model):
    """What a user talked about on one day of the user's own time zone (C5), in one project or outside of all: the summaries of
    the parts that began on it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="+", db_index=False)
    project = models.ForeignKey(
        "conversations.Project", models.DB_CASCADE, null=True, blank=True, related_name="+", db_index=False
    )
    day = models.DateField()
    text = models.TextField()
    key_moments = models.JSONField(default=list, help_text="Short sentences, in order.")
    parts = ArrayField(models.UUIDField(), default=list, help_text="Ids of the thread summaries that it is made of.")
    updated_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "daily summaries"
        indexes = [models.Index(fields=["project"], condition=Q(project__isnull=False), name="day_of_project")]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "day", "project"], nulls_distinct=False, name="one_summary_a_day_and_project"
            )
        ]

    def __str__(self) -> str:
        return f"{self.day}"


class Topic(models.Model):
    """An open thread in the sense of C6: something that was begun and not resolved. Named so because Thread is taken."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_CASCADE, related_name="+", db_index=False)
    thread = models.ForeignKey("conversations.Thread", models.DB_CASCADE, null=True, related_name="+")
    title = models.CharField(max_length=200)
    sources = ArrayField(models.UUIDField(), default=list, help_text="Ids of the turns that opened it.")
    opened_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["user", "-opened_at", "-id"], condition=Q(resolved_at=None), name="topic_unresolved"),
            models.Index(fields=["user", "-opened_at", "-id"], name="topic_list"),
        ]

    def __str__(self) -> str:
        return filled("topic {id}", id=str(self.id))


class Consolidation(models.Model):
    """How far what a user said is consolidated, and how the last attempt went.

    Without a row nothing is yet. All that was said until ``through`` is consolidated, unless there is more to do since
    ``wanted_at``: an import, a change of what summaries rest on.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.DB_CASCADE, primary_key=True, related_name="+")
    through = models.DateTimeField(null=True)
    wanted_at = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True, help_text="After a failure: when it is tried again.")
    failures = models.PositiveSmallIntegerField(default=0, help_text="In a row.")
    error = models.CharField(max_length=200, blank=True, help_text="Of the last attempt. Never a text of the user's.")
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    parts_done = models.PositiveIntegerField(default=0, help_text="Of the last or the running attempt.")
    parts_to_do = models.PositiveIntegerField(default=0)
    limited_at = models.DateTimeField(
        null=True, help_text="When the person's day last had no tokens left for a model: notes came from rules."
    )
    parts_limited = models.PositiveIntegerField(
        default=0, db_default=0, help_text="How many parts of that attempt have notes by rules therefore."
    )

    class Meta:
        indexes = [
            models.Index(fields=["wanted_at"], condition=Q(wanted_at__isnull=False), name="consolidation_wanted")
        ]

    def __str__(self) -> str:
        return filled("consolidation of {user}", user=str(self.user_id))


class IndexedPassage(models.Model):
    """What a passage of a turn is found by, kept up beside the turns, never their text. Each place of a thread's path has at
    least one row, so that what is indexed is known.

    ``terms`` are numbers of which the user is a part, so that one index serves each user alone, its lists compressed.
    """

    pk = models.CompositePrimaryKey("thread", "depth", "number")
    thread = models.ForeignKey("conversations.Thread", models.DB_CASCADE, related_name="+", db_index=False)
    depth = models.PositiveIntegerField()
    number = models.PositiveSmallIntegerField(help_text="Of the passage in its turn, from 0.")
    position = models.PositiveIntegerField(help_text="Of the turn that was indexed last for this place.")
    start = models.PositiveIntegerField(help_text="The first character of the turn's text.")
    size = models.PositiveIntegerField(help_text="In characters.")
    # No constraint: the rows leave with their thread, which leaves with its user.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    day = models.DateField()
    speaker = models.IntegerField(help_text="Term of the name that the turn begins with, else of its role.")
    asks = models.BooleanField(help_text="Ends as a question.")
    length = models.PositiveIntegerField(help_text="Words that count.")
    terms = ArrayField(models.IntegerField())

    class Meta:
        # What waits to be merged into the index is read by every search, so it is kept short.
        indexes = [GinIndex(fields=["terms"], name="indexed_passage_terms", gin_pending_list_limit=128)]

    def __str__(self) -> str:
        return f"{self.thread_id} {self.depth} {self.number}"


class Vocabulary(models.Model):
    """How common a user's words are, counted now and then on a sample. Without a row, or with an old one, search still works.

    ``turns`` counts the passages of turns. ``common`` are the terms that stand in more than one passage of 200, ``shares`` in
    how many of 1,000,000. ``names`` are the terms of speakers. All turns of threads that were last written to before
    ``indexed_until`` are indexed.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.DB_CASCADE, primary_key=True, related_name="+")
    turns = models.PositiveIntegerField()
    length = models.PositiveBigIntegerField(help_text="Words that count, of all turns.")
    counted_turns = models.PositiveIntegerField(help_text="How many turns there were when the terms were counted.")
    common = ArrayField(models.IntegerField(), default=list)
    shares = ArrayField(models.IntegerField(), default=list)
    names = ArrayField(models.IntegerField(), default=list)
    indexed_until = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "vocabularies"

    def __str__(self) -> str:
        return f"vocabulary of {self.user_id}"


class StaleIndex(models.Model):
    """A person whose turns and files are indexed by the rules of an earlier release, until a worker has indexed them anew.

    ``thread`` and ``file`` are the last ones that this is done for, in the order of their ids.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.DB_CASCADE, primary_key=True, related_name="+")
    # No constraints: they tell a place in an order, which stays where the row is gone.
    thread = models.UUIDField(null=True)
    file = models.UUIDField(null=True)

    class Meta:
        verbose_name_plural = "stale indexes"

    def __str__(self) -> str:
        return f"stale index of {self.user_id}"
