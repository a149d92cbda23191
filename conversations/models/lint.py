"""What the linter found about how requests are put together: ids and figures, never a text."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from conversations.models.indexes import UNCHECKED
from conversations.runtime.ids import uuid7
from conversations.runtime.wording import filled


class LintFinding(models.Model):
    """One thing that a rule found in an assistant's requests. The figures are of the last thirty days, as of ``seen_at``.

    Each run looks again: one that is not there any more is mended, and opens again when it comes back. What staff accepted
    stays accepted while it is there.
    """

    class State(models.TextChoices):
        OPEN = "open", "open"
        ACCEPTED = "accepted", "accepted"
        MENDED = "mended", "mended"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    rule = models.CharField(max_length=40, editable=False, help_text="The slug of the linter's rule.")
    assistant = models.ForeignKey("conversations.Assistant", models.DB_CASCADE, related_name="+", editable=False)
    subject = models.CharField(
        max_length=100,
        blank=True,
        editable=False,
        help_text="What it is about: the name of a tool, section or setting.",
    )
    state = models.CharField(max_length=8, choices=State, default=State.OPEN, editable=False)
    reason = models.CharField(
        max_length=300, blank=True, help_text="Why it may stay as it is. With a reason it is accepted; without, open."
    )
    count = models.PositiveBigIntegerField(editable=False, help_text="How often, as the rule counts.")
    tokens_month = models.PositiveBigIntegerField(editable=False)
    cost_month = models.DecimalField(  # 12 digits before the point: no bill is longer
        max_digits=16,
        decimal_places=4,
        null=True,
        editable=False,
        help_text="USD. Empty: it costs nothing, or is not known.",
    )
    setting = models.CharField(max_length=40, editable=False, help_text="The assistant's field that mends it.")
    example = models.ForeignKey(
        "conversations.ContextSnapshot", null=True, editable=False, related_name="+", **UNCHECKED
    )
    details = models.JSONField(default=dict, editable=False, help_text="More ids and figures, by name.")
    first_seen_at = models.DateTimeField(editable=False)
    seen_at = models.DateTimeField(editable=False, help_text="When a run last found it.")
    state_since = models.DateTimeField(editable=False)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DB_SET_NULL, null=True, editable=False, related_name="+"
    )

    class Meta:
        verbose_name = "finding about requests"
        verbose_name_plural = "findings about requests"
        default_permissions = ("view", "change")
        constraints = [
            models.UniqueConstraint(fields=["rule", "assistant", "subject"], name="lint_finding_once"),
            models.CheckConstraint(
                condition=Q(state__in=["open", "accepted", "mended"]), name="lint_finding_state_known"
            ),
        ]

    def __str__(self) -> str:
        return filled("finding {id}", id=str(self.id))


class CacheForecast(models.Model):
    """What the prompts of an assistant's last thirty days would have cost with other lifetimes of the prompt cache.

    ``costs`` are in USD by ``none``, ``5m``, ``1h``, ``system 5m``, ``system 1h`` (where only the system text is marked),
    ``as sent``, all of these simulated, and ``reported``, which is null where a service told no figures.
    """

    assistant = models.OneToOneField("conversations.Assistant", models.DB_CASCADE, primary_key=True, related_name="+")
    made_at = models.DateTimeField()
    requests = models.PositiveBigIntegerField()
    costs = models.JSONField()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"forecast of {self.assistant_id}"
