from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from conversations.models.indexes import UNCHECKED


class Effort(models.TextChoices):
    """How much work a model puts into an answer, by the Messages API's own words."""

    LOW = "low", "low: quick and cheap"
    MEDIUM = "medium", "medium"
    HIGH = "high", "high"
    XHIGH = "xhigh", "extra high"
    MAX = "max", "max: as much as it takes"


class Model(models.Model):
    """What a model of a provider can do and what it is used with. Shipped by a migration, edited by staff.

    The only place that says so: ask for a row through ``conversations.providers.model_catalog``. Sizes are in the
    model's own tokens.
    """

    class Thinking(models.TextChoices):
        NONE = "none", "does not think"
        BUDGET = "budget", "thinks within a budget that the request gives it"
        ADAPTIVE = "adaptive", "decides by itself how much it thinks"

    class ThinkingOff(models.TextChoices):
        """What a request says so that the model does not think before it answers."""

        NEVER = "", "can't be turned off"
        DISABLED = "disabled", "disabled"
        BETWEEN_TOOLS = "between_tools", "between_tools: only between tool calls"

    provider = models.CharField(max_length=40, help_text="Whose model it is; the Claude CLI uses Anthropic's.")
    name = models.CharField(max_length=80, help_text="The provider's id of it, without a date.")
    label = models.CharField(max_length=80, help_text="What people call it.")
    context_window = models.PositiveIntegerField(help_text="Tokens that a request and its answer may have together.")
    max_output = models.PositiveIntegerField(help_text="Tokens of the longest answer, thinking included.")
    thinking = models.CharField(max_length=8, choices=Thinking, default=Thinking.NONE)
    thinks_unasked = models.BooleanField(default=False, help_text="It thinks where a request says nothing of thinking.")
    thinking_off = models.CharField(max_length=13, choices=ThinkingOff, blank=True)
    efforts = ArrayField(models.CharField(max_length=6, choices=Effort), default=list, blank=True)
    default_effort = models.CharField(max_length=6, choices=Effort, blank=True)
    takes_tools = models.BooleanField(default=True)
    takes_images = models.BooleanField(default=False)
    cacheable_from = models.PositiveIntegerField(
        null=True, blank=True, help_text="The smallest prefix that its prompt cache takes; empty: it has no cache."
    )
    token_factor = models.FloatField(
        default=1.0, help_text="Its tokens for each estimated one, until enough of its replies tell it more exactly."
    )
    small_model = models.CharField(
        max_length=80, blank=True, help_text="The model that writes notes and queries beside it; empty: itself."
    )
    uses_memory = models.BooleanField(
        default=True,
        help_text="Off: it is given the conversation alone, without memory, recall or contextualised queries, because it is "
        "too small to tell them from what was said.",
    )
    system_prompt = models.TextField(
        blank=True,
        help_text="Given to it in place of the assistants' own, where it is too small to follow them. Empty: theirs.",
    )
    is_active = models.BooleanField(default=True, help_text="Offered to staff for assistants.")
    order = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["provider", "order", "name"]
        constraints = [
            models.UniqueConstraint(fields=["provider", "name"], name="model_once"),
            models.CheckConstraint(condition=Q(token_factor__gt=0), name="model_factor_positive"),
        ]

    def __str__(self) -> str:
        return self.label or self.name


class ModelPrice(models.Model):
    """USD for a million tokens, from the first moment of a day (UTC) on, of requests with more than ``above`` input tokens.

    A price that changes is a new row, so that what was paid before stays what it was.
    """

    model = models.ForeignKey(Model, models.DB_CASCADE, related_name="prices")
    since = models.DateField(null=True, blank=True, help_text="Empty: since ever.")
    above = models.PositiveIntegerField(default=0, help_text="Input tokens above which it holds.")
    input = models.DecimalField(max_digits=10, decimal_places=4)
    output = models.DecimalField(max_digits=10, decimal_places=4)
    cache_write = models.DecimalField("cache write, 5 minutes", max_digits=10, decimal_places=4)
    cache_write_hour = models.DecimalField("cache write, 1 hour", max_digits=10, decimal_places=4)
    cache_read = models.DecimalField(max_digits=10, decimal_places=4)

    class Meta:
        verbose_name = "price"
        ordering = [F("since").asc(nulls_first=True), "above"]
        constraints = [
            models.UniqueConstraint(fields=["model", "since", "above"], nulls_distinct=False, name="price_once"),
        ]

    def __str__(self) -> str:
        since = f"since {self.since}" if self.since else "since ever"
        return f"{since}, above {self.above:,} tokens" if self.above else since


class TokenCount(models.Model):
    """How many tokens of a model a turn takes, as the model's provider counted it. Written once.

    Of the turn at a position of a thread; it goes with the thread, and where the turn is cleared away or forgotten.
    """

    thread = models.ForeignKey("conversations.Thread", models.DB_CASCADE, related_name="token_counts", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, related_name="+", **UNCHECKED)
    position = models.PositiveIntegerField()
    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=80)
    tokens = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["thread", "provider", "model", "position"], include=["tokens"], name="token_count_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.tokens} of {self.model}"


class TokenFactor(models.Model):
    """How many tokens a model reports for each estimated one, learnt from its replies."""

    provider = models.CharField(max_length=40)
    model = models.CharField(max_length=80)
    value = models.FloatField()
    samples = models.PositiveIntegerField(help_text="Replies that it was learnt from.")
    learnt_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["provider", "model"], name="token_factor_once")]

    def __str__(self) -> str:
        return f"{self.value} of {self.model}"
