from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from conversations.models.indexes import UNCHECKED
from conversations.runtime.ids import uuid7


class Stage(models.TextChoices):
    """When something is examined."""

    MESSAGE = "message", "message"
    FILES = "files", "files"
    REPLY = "reply", "reply"


class Moderator(models.Model):
    """A check of what people send and models answer, made by staff. Those that are active are asked in their order."""

    class Kind(models.TextChoices):
        PATTERNS = "patterns", "a list of patterns"
        MODEL = "model", "a moderation model"
        WEBHOOK = "webhook", "a service of one's own"

    class Action(models.TextChoices):
        MARK = "mark", "mark it for staff"
        REFUSE = "refuse", "refuse it"

    class Failing(models.TextChoices):
        OPEN = "open", "go on without this check"
        CLOSED = "closed", "stop, and ask to try again"

    name = models.CharField(max_length=80, unique=True, help_text="What staff call it; records name it so.")
    kind = models.CharField(max_length=10, choices=Kind)
    is_active = models.BooleanField("active", default=True)
    order = models.PositiveSmallIntegerField(default=0, help_text="Those with a lower number are asked first.")
    examines_messages = models.BooleanField(
        default=True, help_text="Before a model is given them: what people write, and what their files say."
    )
    examines_replies = models.BooleanField(
        default=False,
        help_text="Before tools are run. A check that may refuse replies holds them back until they have been checked.",
    )
    action = models.CharField(max_length=6, choices=Action, default=Action.MARK, help_text="What becomes of a finding.")
    words = models.CharField(
        max_length=300, blank=True, help_text="What a person reads where this refuses; empty: a plain sentence."
    )
    when_failing = models.CharField(
        max_length=6, choices=Failing, default=Failing.OPEN, help_text="What happens where the check can't be made."
    )
    patterns = models.TextField(
        blank=True,
        max_length=20_000,
        help_text="Of a list: a pattern a line, as RE2 writes them, upper and lower case alike. A line with # before it is a "
        "note.",
    )
    provider = models.CharField(
        max_length=40,
        blank=True,
        help_text="Of a model: the name of a connection that speaks OpenAI's interface; empty: openai.",
    )
    model = models.CharField(
        max_length=80, blank=True, help_text="Of a model: its id; empty: the service's own choice."
    )
    sees_pictures = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Of a model that takes pictures, too: it is shown those of the files. Others are shown none.",
    )
    url = models.CharField("address", max_length=300, blank=True, help_text="Of a service of one's own.")
    seconds = models.FloatField(
        default=5.0,
        validators=[MinValueValidator(0.1), MaxValueValidator(60)],
        help_text="How long a model or a service may take; past that the check has failed.",
    )

    class Meta:
        ordering = ["order", "name"]

    def __str__(self) -> str:
        return self.name


class ModerationFinding(models.Model):
    """What a check made of a message or of a reply. Written where it is decided, and never changed.

    It holds nothing of the text: ``labels`` are the numbers of patterns, or categories of a model or of a service.
    """

    class Result(models.TextChoices):
        ALLOWED = "allowed", "allowed"
        MARKED = "marked", "marked"
        REFUSED = "refused", "refused"
        FAILED = "failed", "failed"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    at = models.DateTimeField()
    user = models.ForeignKey(settings.AUTH_USER_MODEL, related_name="+", **UNCHECKED)
    thread = models.ForeignKey("conversations.Thread", models.DB_CASCADE, related_name="+", db_index=False)
    reply = models.ForeignKey("conversations.Reply", related_name="moderation", **UNCHECKED)
    stage = models.CharField(max_length=7, choices=Stage)
    moderator = models.CharField(max_length=80, help_text="Its name at that time.")
    result = models.CharField(max_length=7, choices=Result)
    labels = ArrayField(models.CharField(max_length=80), default=list)
    problem = models.CharField(max_length=200, blank=True, help_text="Why the check could not be made.")
    milliseconds = models.PositiveIntegerField()

    class Meta:
        verbose_name = "moderation finding"
        default_permissions = ("view",)
        indexes = [
            models.Index(fields=["reply"], name="finding_of_reply"),
            models.Index(fields=["thread"], name="finding_of_thread"),
            models.Index(fields=["id"], name="finding_worth_a_look", condition=~Q(result="allowed")),
        ]

    def __str__(self) -> str:
        return f"{self.moderator}: {self.get_result_display()}"
