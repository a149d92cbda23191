"""The rows that a rule of retention decides: those to which it applies, and none that wins over it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Q

from conversations.holds import coverage
from conversations.models import RetentionRule
from conversations.upkeep.retention_rules import Rule, in_order

SCOPED = {
    RetentionRule.Kind.THREADS,
    RetentionRule.Kind.SNAPSHOTS,
    RetentionRule.Kind.FILES,
    RetentionRule.Kind.FEEDBACK,
}
"""Kinds with rules for groups and projects. The others go in whole months or days of the installation."""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which columns of a table name the projects that a row is in, and which say that its thread is pinned."""

    projects: tuple[str, ...] = ("thread__project",)
    pinned: str = "thread__pinned"


COLUMNS: Mapping[str, Columns] = {
    RetentionRule.Kind.THREADS: Columns(projects=("project",), pinned="pinned"),
    RetentionRule.Kind.SNAPSHOTS: Columns(),
    RetentionRule.Kind.FILES: Columns(projects=("project", "thread__project")),
    RetentionRule.Kind.FEEDBACK: Columns(),
}


@dataclass(frozen=True, kw_only=True)
class Scope:
    """The rows of one kind that one rule decides, and which of them stay nevertheless."""

    rule: Rule
    rows: Q
    pinned: Q
    held: Q

    @property
    def stays(self) -> Q:
        return self.pinned | self.held


def rules_of(kind: str, days: int) -> list[Rule]:
    """Those that are stored, and the setting."""
    stored = RetentionRule.objects.filter(kind=kind).values("id", "days", "group", "project")
    return [Rule(days=days), *(Rule(**row) for row in stored)]


def scopes(kind: str, rules: Sequence[Rule]) -> list[Scope]:
    """One for each rule, in their order. Every row is in one of them."""
    ordered, columns = in_order(rules), COLUMNS[kind]
    return [
        Scope(
            rule=rule,
            rows=_decided(rule, ordered[:number], columns),
            pinned=Q((columns.pinned, True)),
            held=_held(columns),
        )
        for number, rule in enumerate(ordered)
    ]


def _decided(rule: Rule, before: Sequence[Rule], columns: Columns) -> Q:
    others = [each for each in before if each.project or each.group]
    if len(others) < len(before):  # another rule of the whole installation wins
        return Q(pk__in=[])
    projects = [each.project for each in others if each.project]
    groups = [each.group for each in others if each.group]
    decided = _applies(rule, columns)
    if projects and not rule.project:
        decided &= ~_in_projects(projects, columns)
    return decided & ~_in_groups(groups) if groups else decided


def _applies(rule: Rule, columns: Columns) -> Q:
    if rule.project:
        return _in_projects([rule.project], columns)
    return _in_groups([rule.group]) if rule.group else Q()


def _in_projects(ids: Sequence[object], columns: Columns) -> Q:
    rows = Q()
    for column in columns.projects:
        rows |= Q((f"{column}__in", ids))
    return rows


def _in_groups(ids: Sequence[int]) -> Q:
    return Q(user__in=User.groups.through.objects.filter(group__in=ids).values("user"))


def _held(columns: Columns) -> Q:
    held = coverage.exempt(project=columns.projects[0])
    for column in columns.projects[1:]:
        held |= coverage.exempt(project=column)
    return held
