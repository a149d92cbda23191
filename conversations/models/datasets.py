"""Past requests that a change is tried on again and again, each with what its context must hold."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from conversations.models.indexes import UNCHECKED
from conversations.models.replays import Run
from conversations.runtime.ids import uuid7


class Dataset(models.Model):
    name = models.CharField(max_length=100, unique=True)
    note = models.TextField(blank=True, max_length=2_000)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DB_SET_NULL, null=True, editable=False, related_name="+"
    )
    created_at = models.DateTimeField(editable=False)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Case(models.Model):
    """One request, named by its id: nothing of it is copied. It goes with its thread; what staff wrote of it is blanked when
    something in the request is forgotten."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    dataset = models.ForeignKey(Dataset, models.DB_CASCADE, related_name="cases")
    thread = models.ForeignKey("conversations.Thread", models.DB_CASCADE, editable=False, related_name="+")
    request = models.ForeignKey("conversations.ContextSnapshot", editable=False, related_name="+", **UNCHECKED)
    evidence = models.TextField(
        blank=True,
        max_length=10_000,
        help_text="What the context must hold, one a line: turn ID, memory ID, or part FILE NUMBER.",
    )
    contains = models.TextField(
        blank=True, max_length=10_000, help_text="Texts that the context must hold, one a line."
    )
    patterns = models.TextField(
        blank=True, max_length=10_000, help_text="Regular expressions (RE2) that the context must match, one a line."
    )
    answer_contains = models.TextField(
        blank=True,
        max_length=10_000,
        default="",
        db_default="",
        help_text="Texts that the answer must hold, one a line.",
    )
    answer_patterns = models.TextField(
        blank=True,
        max_length=10_000,
        default="",
        db_default="",
        help_text="Regular expressions (RE2) that the answer must match, one a line.",
    )
    answer_schema = models.TextField(
        blank=True,
        max_length=10_000,
        default="",
        db_default="",
        help_text="JSON Schema of the answer, which is JSON then. Without $ref and patternProperties.",
    )
    answer = models.TextField(
        blank=True, max_length=10_000, default="", db_default="", help_text="A good answer, which the judge is shown."
    )
    criterion = models.TextField(
        blank=True,
        max_length=10_000,
        default="",
        db_default="",
        help_text="What the judge is asked of the answer. Empty: whether it says what the good answer says.",
    )
    created_at = models.DateTimeField(editable=False)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["request"], name="case_request")]
        constraints = [models.UniqueConstraint(fields=["dataset", "request"], name="case_once")]

    def __str__(self) -> str:
        return f"case {self.id}"


class Experiment(Run):
    """A dataset as versions of the assistants of its requests would have answered it; the first is what the others are compared
    with. ``last`` is the case that it got to."""

    dataset = models.ForeignKey(Dataset, models.DB_CASCADE, related_name="experiments")
    versions = ArrayField(models.PositiveIntegerField(), help_text="Their numbers.")
    model_names = ArrayField(
        models.CharField(max_length=160),
        default=list,
        db_default=[],
        help_text="That are asked, as provider/model; `own` is that of each version. Empty: none is asked.",
    )
    judge = models.CharField(
        max_length=160, blank=True, default="", db_default="", help_text="The model that judges, as provider/model."
    )
    most_cost = models.DecimalField(
        max_digits=9, decimal_places=2, null=True, help_text="USD that it may cost. Empty: no model is asked."
    )
    cases = models.PositiveIntegerField(help_text="How many there were as it began.")

    class Meta:
        default_permissions = ("add", "view")
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["running", "done", "cancelled", "failed"]), name="experiment_state_known"
            )
        ]

    def __str__(self) -> str:
        return f"experiment {self.id}"


class CaseAnswer(models.Model):
    """What a model answered to a case as a version builds it, and what a judge said of that. The row is there before the model
    is asked; until ``claimed_until`` nobody else asks. It goes with its case; its words are blanked when something in one of
    the requests is forgotten."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    experiment = models.ForeignKey(Experiment, models.DB_CASCADE, related_name="answers")
    case = models.ForeignKey(Case, models.DB_CASCADE, related_name="+")
    version = models.PositiveIntegerField()
    model = models.CharField(max_length=160, help_text="As the experiment names it.")
    request = models.ForeignKey("conversations.ContextSnapshot", null=True, related_name="+", **UNCHECKED)
    verdict_request = models.ForeignKey("conversations.ContextSnapshot", null=True, related_name="+", **UNCHECKED)
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How often a model was asked.")
    claimed_until = models.DateTimeField()
    text = models.TextField(blank=True, default="")
    reason = models.TextField(blank=True, default="", help_text="What the judge says why.")
    problem = models.CharField(max_length=300, blank=True, default="", help_text="Why there is no answer.")
    verdict_problem = models.CharField(max_length=300, blank=True, default="", help_text="Why there is no verdict.")
    stop_reason = models.CharField(max_length=60, blank=True, default="")
    scores = models.JSONField(default=dict, help_text="Whether each scorer passes.")
    figures = models.JSONField(default=dict, help_text="Tokens, cost and time of both requests.")
    answered_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True, help_text="When there was no more to ask.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["experiment", "case", "version", "model"], name="case_answer_once")
        ]
        indexes = [
            models.Index(fields=["request"], name="answer_request"),
            models.Index(fields=["verdict_request"], name="answer_verdict"),
        ]

    def __str__(self) -> str:
        return f"answer to case {self.case_id}"


class CaseResult(models.Model):
    """What came of one case: whether each scorer passes, tokens, cost and time, by version; never a text. It goes with its
    case."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    experiment = models.ForeignKey(Experiment, models.DB_CASCADE, related_name="results")
    case = models.ForeignKey(Case, models.DB_CASCADE, related_name="+")
    problem = models.CharField(max_length=300, blank=True, help_text="Why the request can’t be made again, if so.")
    results = models.JSONField(default=list, help_text="Of each version, in their order.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["experiment", "case"], name="case_result_once")]

    def __str__(self) -> str:
        return f"result of case {self.case_id}"
