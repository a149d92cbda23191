"""One look at the requests of the last thirty days: what is found is kept as rows, and what is no more is mended."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from conversations import audit
from conversations.audit import AuditKind
from conversations.context.record.assistant_versions import setting_changed_at
from conversations.linter.cache_planner import Plan
from conversations.linter.figures import Finding, added_up, rates_of
from conversations.linter.rules import RULES, Window
from conversations.models import CacheForecast, ContextSnapshot, LintFinding
from conversations.providers.price_list import price_list
from conversations.runtime.ids import lowest_uuid7
from conversations.runtime.values import dataclass
from conversations.upkeep import hourly_figures

MONTH = timedelta(days=30)
State = LintFinding.State
REPLYING = (ContextSnapshot.Purpose.REPLY, ContextSnapshot.Purpose.ARTIFACT)
SHOWN_BY = 5
"""Requests without a finding, since its setting was changed, after which it is mended."""


def lint(now: datetime) -> Sequence[Finding]:
    """Look, and store what was found. What costs the most comes first."""
    result = look(now - MONTH, now)
    store(result, now)
    return result.findings


@dataclass(frozen=True, kw_only=True)
class LintResult:
    """What costs the most first; and plans of the prompt cache by assistant."""

    findings: Sequence[Finding]
    plans: Mapping[int, Plan]


def look(since: datetime, now: datetime) -> LintResult:
    """At the requests since then. Stores nothing."""
    start = since.replace(minute=0, second=0, microsecond=0)
    known = price_list()
    rates = rates_of(hourly_figures.hours(start, now), known, now)
    findings: list[Finding] = []
    with transaction.atomic():
        window = Window(since, now, known)
        for rule in RULES:
            each = added_up(rule.slug, rule.rows(window), price=rule.price, setting=rule.setting, rates=rates)
            findings += [finding for finding in each if finding.count >= window.least]
        plans = window.plans
        transaction.set_rollback(True)  # its tables are of no further use, and a nested transaction would keep them
    in_order = sorted(findings, key=lambda finding: (-(finding.cost or 0), -finding.tokens, finding.key))
    return LintResult(findings=in_order, plans=plans)


@transaction.atomic
def store(result: LintResult, now: datetime) -> None:
    """What its setting has mended is found no more, though older requests still show it. Where there was no request to look at,
    nothing is known to be mended."""
    rows = {(row.rule, row.assistant_id, row.subject): row for row in LintFinding.objects.select_for_update()}
    for finding in result.findings:
        if is_mended(finding):
            continue
        row = rows.pop(finding.key, None)
        if row is None:
            row = LintFinding(
                rule=finding.rule, assistant_id=finding.assistant, subject=finding.subject, first_seen_at=now
            )
            row.state_since = now
        elif row.state == State.MENDED:
            row.reason, row.accepted_by = "", None
            move(row, State.OPEN, now)
        row.setting, row.count, row.tokens_month, row.cost_month = (
            finding.setting,
            finding.count,
            finding.tokens,
            finding.cost,
        )
        row.example_id, row.details, row.seen_at = UUID(finding.example), dict(finding.details), now
        row.save()
    _store_plans(result.plans, now)
    if ContextSnapshot.objects.filter(id__gte=lowest_uuid7(now - MONTH)).exists():
        for row in rows.values():
            if row.state != State.MENDED:
                move(row, State.MENDED, now)
                row.save()


def is_mended(finding: Finding) -> bool:
    """Whether its setting was changed after the newest request that shows it, and requests were made since."""
    changed_at = setting_changed_at(finding.assistant, finding.setting)
    if changed_at is None or UUID(finding.example) >= lowest_uuid7(changed_at):
        return False
    since = ContextSnapshot.objects.filter(
        id__gte=lowest_uuid7(changed_at), thread__assistant=finding.assistant, purpose__in=REPLYING
    )
    return since[:SHOWN_BY].count() == SHOWN_BY


def _store_plans(plans: Mapping[int, Plan], now: datetime) -> None:
    CacheForecast.objects.exclude(assistant__in=plans).delete()
    CacheForecast.objects.bulk_create(
        (
            CacheForecast(assistant_id=assistant, made_at=now, requests=plan.requests, costs=plan.by_name)
            for assistant, plan in plans.items()
        ),
        update_conflicts=True,
        unique_fields=["assistant"],
        update_fields=["made_at", "requests", "costs"],
    )


@transaction.atomic
def accept(id: UUID, reason: str, *, by: User, now: datetime) -> None:
    """Let it stay as it is for a reason; without one it is open again. What is mended stays mended."""
    row = LintFinding.objects.select_for_update().exclude(state=State.MENDED).filter(pk=id).first()
    if row is None:
        return
    row.reason, row.accepted_by = reason, by if reason else None
    move(row, State.ACCEPTED if reason else State.OPEN, now)
    row.save(update_fields=["reason", "accepted_by", "state", "state_since"])


def move(row: LintFinding, state: str, now: datetime) -> None:
    """Into another state, on record. The row is not saved by this."""
    row.state, row.state_since = State(state), now
    audit.record(AuditKind.FINDING_CHANGED, target=row, details={"act": state, "rule": row.rule})
