"""For how long what of a person's is kept, as they are told it."""

from dataclasses import dataclass

from django.contrib.auth.models import User

from conversations.holds import coverage
from conversations.models import RetentionRule
from conversations.upkeep import retention
from conversations.upkeep.retention_rules import winner
from conversations.upkeep.retention_scope import rules_of

TOLD = (RetentionRule.Kind.THREADS, RetentionRule.Kind.FILES, RetentionRule.Kind.FEEDBACK)
"""What a person has themselves. The other kinds are records of the installation."""


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """Days by kind, where there is a limit outside of projects; ``project_days`` are those of conversations in a project that
    has a rule of its own, by its name, 0 for good. ``held`` tells of a legal hold; empty: there is none."""

    days: dict[str, int]
    project_days: dict[str, int]
    held: str = ""


def keeping_of(user: User) -> Keeping:
    groups = [*user.groups.values_list("pk", flat=True)]
    days = {
        kind: winner(rules_of(kind, retention.configured_days(kind, {})), groups=groups, project=None).days
        for kind in TOLD
    }
    projects = RetentionRule.objects.filter(kind=RetentionRule.Kind.THREADS, project__user=user)
    return Keeping(
        days={str(kind): number for kind, number in days.items() if number},
        project_days=dict(projects.order_by("project__name").values_list("project__name", "days")),
        held=coverage.standing_notice(user.pk),
    )
