"""What a rule of retention would delete at once, before it is stored. Reads only."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from conversations.models import ContextSnapshot, File, Message, RetentionRule, Thread
from conversations.runtime.ids import time_of
from conversations.upkeep import expired, partitions, retention
from conversations.upkeep.expired import MOST_THREADS, Expired
from conversations.upkeep.retention_rules import Rule
from conversations.upkeep.retention_scope import SCOPED, rules_of, scopes

MOST = 10_000
"""So many are counted of what stays."""


@dataclass(frozen=True, kw_only=True)
class RulePreview:
    """``goes``: of the kind itself. ``along`` is what goes with it, by what it is called. ``pinned`` and ``held`` are older
    too, and stay; at ``MOST`` there may be more of them."""

    goes: Expired
    newest: datetime | None = None
    along: dict[str, int]
    pinned: int = 0
    held: int = 0


def preview(kind: str, rule: Rule, *, now: datetime) -> RulePreview:
    """With this rule in place of the stored one of its id."""
    if rule.kept is None:
        return RulePreview(goes=Expired(count=0, oldest=None, bytes=0, is_bounded=False), along={})
    before = now - rule.kept
    if kind not in SCOPED:
        return RulePreview(goes=_of_tables(kind, before), along={})
    scope = next(each for each in scopes(kind, with_rule(kind, rule)) if each.rule == rule)
    overdue, going = retention.overdue(kind, before, scope), retention.due(kind, before, scope)
    return RulePreview(
        goes=retention.of_scope(kind, scope).preview(before),
        newest=_time(going.last()),
        along=_along(going) if kind == RetentionRule.Kind.THREADS else {},
        pinned=_count(overdue.filter(scope.pinned).exclude(scope.held)),
        held=_count(overdue.filter(scope.held)),
    )


def goes_in_all(kind: str, rules: Sequence[Rule], *, now: datetime) -> int:
    """How many rows of the kind would go by all of these rules together, each counted up to ``MOST``."""
    return sum(
        _count(retention.due(kind, now - scope.rule.kept, scope)) for scope in scopes(kind, rules) if scope.rule.kept
    )


def with_rule(kind: str, rule: Rule) -> list[Rule]:
    """The rules of the kind as they are once this one is stored."""
    return [*without_rule(kind, rule.id), rule]


def without_rule(kind: str, id: int | None) -> list[Rule]:
    """The rules of the kind as they are once that one is deleted."""
    return [each for each in rules_of(kind, retention.configured_days(kind, {})) if each.id is None or each.id != id]


def _of_tables(kind: str, before: datetime) -> Expired:
    if kind == RetentionRule.Kind.EVENTS:
        return expired.tables(partitions.EVENTS, partitions.events_over(before))
    return expired.tables(partitions.ACCESSES, retention.accesses_over(before))


def _along(threads: QuerySet[Thread]) -> dict[str, int]:
    ids = list(threads.values_list("id", flat=True)[:MOST_THREADS])
    return {
        "turns": Message.objects.filter(thread__in=ids).count(),
        "files": File.objects.filter(thread__in=ids).count(),
        "model requests": ContextSnapshot.objects.filter(thread__in=ids).count(),
    }


def _count(rows: QuerySet[Any]) -> int:
    return rows.order_by()[:MOST].count()


def _time(row: Any) -> datetime | None:
    if row is None:
        return None
    at: datetime = row.updated_at if isinstance(row, Thread) else time_of(row.pk)
    return at
