from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from conversations.models.indexes import UNCHECKED
from conversations.models.language_models import Effort, Model

UNVERSIONED = ("id", "slug", "name", "description", "is_default", "is_active", "order", "version")
"""Columns of an assistant that shape no request. All others make its versions; the database's own list is in the migration."""


class Assistant(models.Model):
    """Who replies: its prompt, its model and how much context it is given. Staff edit it in the admin.

    Sizes are in tokens of the model that answers; where ``budget_share`` is set, those of the budget are proportions.
    """

    class Rewriting(models.TextChoices):
        """How a message that leans on earlier turns gets its contextualised query (Q1–Q4)."""

        OFF = "off", "not at all"
        LOCAL = "local", "by rules, at once"
        MODEL = "model", "by a small model, within two seconds"

    class ShowThinking(models.TextChoices):
        OFF = "off", "not shown"
        SUMMARY = "summary", "a summary"

    class CacheLifetime(models.TextChoices):
        FIVE_MINUTES = "5m", "5 minutes"
        HOUR = "1h", "an hour"

    slug = models.SlugField(unique=True, help_text="Its name in the API.")
    name = models.CharField(max_length=80)
    description = models.CharField(max_length=200, blank=True, help_text="One line that people choose it by.")
    system_prompt = models.TextField()
    provider = models.CharField(max_length=40, blank=True, help_text="Empty: the server's default provider.")
    model = models.CharField(max_length=80, blank=True, help_text="Empty: the provider's default model.")
    max_output_tokens = models.PositiveIntegerField(
        default=2_048, validators=[MinValueValidator(1)], help_text="What an answer may take, without thinking."
    )
    thinking_tokens = models.PositiveIntegerField(
        default=8_192, help_text="What thinking may take beside the answer, where the model thinks."
    )
    effort = models.CharField(max_length=6, choices=Effort, blank=True, help_text="Empty: the model's default.")
    show_thinking = models.CharField(
        max_length=7,
        choices=ShowThinking,
        default=ShowThinking.OFF,
        help_text="A summary is folded under the reply, where the model gives one.",
    )
    reply_minutes = models.PositiveSmallIntegerField(
        default=10, validators=[MinValueValidator(1)], help_text="The longest that a reply may take, thinking included."
    )
    fallback_model = models.CharField(
        max_length=80, blank=True, help_text="Offered where the model declines to answer. Empty: none."
    )
    fallback_automatic = models.BooleanField(
        default=False,
        help_text="Where the model declines, the fallback model answers at once, or else the first of the list below, "
        "without a click.",
    )
    budget_share = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(100)],
        help_text="Percent of the window of the model that answers: the hard cap. The figures below then keep their "
        "proportions to it. Empty: they hold as they are, in tokens.",
    )
    history_tokens_high = models.PositiveIntegerField(
        default=3_000, help_text="History never takes more than this many tokens."
    )
    history_tokens_low = models.PositiveIntegerField(
        default=1_500, help_text="What the history drops to in one step when it passes the high mark."
    )
    history_turns_min = models.PositiveIntegerField(default=30, help_text="Kept in such a drop while they fit.")
    history_turns_max = models.PositiveIntegerField(default=80, help_text="Never more turns than this.")
    total_tokens = models.PositiveIntegerField(default=4_100, help_text="What the whole context should take.")
    hard_cap_tokens = models.PositiveIntegerField(default=6_150, help_text="What the whole context never exceeds.")
    memory_tokens = models.PositiveIntegerField(default=500, help_text="What the memory snippet may take.")
    today_tokens = models.PositiveIntegerField(default=500, help_text="What today's summary may take.")
    open_threads_tokens = models.PositiveIntegerField(default=400, help_text="What unresolved topics may take.")
    last_conversation_tokens = models.PositiveIntegerField(
        default=300, help_text="What the summary of the last conversation may take, after a day away."
    )
    recall_tokens = models.PositiveIntegerField(
        default=2_400, help_text="What may be recalled for one message, beside it, where the history leaves room."
    )
    file_tokens = models.PositiveIntegerField(
        default=24_000,
        db_default=24_000,
        help_text="What files in the conversation may take, beside all else: half for those of a message, half for those of "
        "earlier ones. At most half of what the model’s window leaves beside its answer.",
    )
    uses_memory = models.BooleanField(default=True, help_text="Off: no memory, summaries, topics or recall.")
    tools = ArrayField(models.CharField(max_length=40), default=list, blank=True, help_text="What it may use, by name.")
    filters_artifacts = models.BooleanField(
        default=True, help_text="Leave out requests whose artifact was made, so that it is not made again."
    )
    rewriting = models.CharField(max_length=5, choices=Rewriting, default=Rewriting.LOCAL)
    rewriting_model = models.CharField(
        max_length=80, blank=True, help_text="Empty: the provider's small model. Used only where a model rewrites."
    )
    cache_lifetime = models.CharField(
        max_length=2,
        blank=True,
        default="",
        db_default="",
        choices=CacheLifetime,
        help_text=(
            "How long the provider’s prompt cache is asked to keep what is sent. Empty: as each person’s pauses tell."
        ),
    )
    preset_values = models.JSONField(
        "presets",
        db_column="presets",
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        editable=False,
        help_text="What the presets that it offers tell the model, by their slugs. Triggers keep it as they are.",
    )
    is_default = models.BooleanField(default=False, help_text="Takes the threads that name no assistant.")
    is_active = models.BooleanField(default=True, help_text="Offered for new threads.")
    order = models.PositiveSmallIntegerField(default=0)
    version = models.ForeignKey(
        "conversations.AssistantVersion",
        null=True,
        editable=False,
        related_name="+",
        help_text="The version that it is at. A trigger makes a new one where a column that shapes requests changes.",
        **UNCHECKED,
    )

    offered_models = models.ManyToManyField(
        Model,
        blank=True,
        related_name="+",
        help_text="Those that people may choose in place of its own. None: its own alone.",
    )

    class Meta:
        ordering = ["order", "name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(rewriting__in=["off", "local", "model"]), name="assistant_rewriting_known"
            ),
            models.UniqueConstraint(fields=["is_default"], condition=Q(is_default=True), name="one_default_assistant"),
            models.CheckConstraint(
                condition=Q(history_tokens_low__lte=F("history_tokens_high"))
                & Q(history_tokens_high__lte=F("total_tokens"))
                & Q(total_tokens__lte=F("hard_cap_tokens")),
                name="assistant_budgets_in_order",
                violation_error_message="Keep low mark ≤ high mark ≤ total ≤ hard cap.",
            ),
            models.CheckConstraint(
                condition=Q(budget_share__isnull=True) | Q(budget_share__range=(1, 100)),
                name="assistant_share_in_percent",
            ),
            models.CheckConstraint(
                condition=Q(history_turns_max__gte=2) & Q(history_turns_min__lte=F("history_turns_max")),
                name="assistant_turns_in_order",
                violation_error_message="Keep at least 2 turns, and the smallest number of turns below the largest.",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class AssistantVersion(models.Model):
    """How an assistant was at a time: all that shapes its requests, numbered, and never changed again.

    A change of the assistant's row makes one, in whatever way it is made. One that staff write beforehand is a draft until it
    is published: then its values are copied into the assistant's row, but for presets, which assistants share: to publish one
    that has others than there are now makes another version, with those.
    """

    assistant = models.ForeignKey(Assistant, models.DB_CASCADE, related_name="versions")
    number = models.PositiveIntegerField(help_text="From 1, in the order in which they were made.")
    content = models.JSONField(help_text="The assistant's columns that shape requests, by name.")
    note = models.CharField(max_length=200, blank=True, help_text="What it is for, in a line.")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.DB_SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    published_at = models.DateTimeField(null=True, help_text="When it last became the assistant's. Empty: a draft.")

    class Meta:
        ordering = ["assistant", "-number"]
        constraints = [models.UniqueConstraint(fields=["assistant", "number"], name="assistant_version_once")]

    def __str__(self) -> str:
        return f"version {self.number}"


class Fallback(models.Model):
    """Who is asked in place of an assistant's model where that can't be reached, is overloaded or refuses to be asked."""

    assistant = models.ForeignKey(Assistant, models.CASCADE, related_name="fallbacks")
    order = models.PositiveSmallIntegerField(default=0, help_text="The lowest is asked first.")
    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=80, blank=True, help_text="Empty: the provider's default model.")

    class Meta:
        ordering = ["order", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["assistant", "provider", "model"],
                name="fallback_once",
                violation_error_message="This model is in the list already.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.model or 'default model'} ({self.provider})"
