from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q


class RetentionRule(models.Model):
    """For how long one kind is kept, for the installation in place of its setting, or for a group or a project.

    Which rule wins is told in ``conversations.upkeep.retention_rules``.
    """

    class Kind(models.TextChoices):
        THREADS = "threads", "conversations, after their last turn"
        SNAPSHOTS = "snapshots", "recorded model requests, with their texts"
        FILES = "files", "files, after their upload"
        FEEDBACK = "feedback", "feedback on replies"
        ACCESSES = "accesses", "notes of staff's accesses to content"
        EVENTS = "events", "events of ended replies"

    kind = models.CharField(max_length=9, choices=Kind)
    group = models.ForeignKey(
        Group, models.DB_CASCADE, null=True, blank=True, related_name="+", help_text="The people it is for; empty: all."
    )
    project = models.ForeignKey(
        "conversations.Project", models.DB_CASCADE, null=True, blank=True, related_name="+", help_text="What it is for."
    )
    days = models.PositiveIntegerField(help_text="0: it is kept for good.")
    note = models.CharField(max_length=300, blank=True, help_text="Why, for other staff.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "group", "project"], nulls_distinct=False, name="retention_rule_once"
            ),
            models.CheckConstraint(condition=Q(group=None) | Q(project=None), name="retention_rule_for_one"),
            models.CheckConstraint(
                condition=~Q(kind__in=["accesses", "events"]) | Q(group=None, project=None),
                name="retention_rule_of_whole_tables",
            ),
            models.CheckConstraint(condition=Q(days__lte=99_999), name="retention_rule_days"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.days or '∞'}"
