"""Replays that staff start and workers run, slice by slice."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from conversations import audit
from conversations.audit import AuditKind, Details
from conversations.context.reasons import Reason
from conversations.context.record.assistant_versions import at_version
from conversations.models import Assistant, AssistantVersion, Replay
from conversations.regression import slices
from conversations.regression.conditions import Condition, parse
from conversations.regression.replaying import Change, count_of, replay_requests, requests_of
from conversations.regression.report import Report
from conversations.runtime import clock


@transaction.atomic
def start(
    assistant: Assistant,
    version: AssistantVersion | None,
    *,
    since: datetime,
    rule: Reason | None = None,
    sample: int | None = None,
    conditions: Sequence[str] = (),
    author: User | None,
) -> Replay:
    """Of a version, of this release, or of this release without a ``rule``. Raises ``InvalidCondition``."""
    now = clock.now()
    row = Replay.objects.create(
        assistant=assistant,
        version=version,
        rule=rule or "",
        since=since,
        sample=sample,
        conditions=[parse(text).text for text in conditions],
        requests=count_of(assistant, since=since, until=now, sample=sample),
        author=author,
        created_at=now,
    )
    _record(row, "started")
    return row


def cancel(id: UUID) -> bool:
    """Whether it was running."""
    with transaction.atomic():
        row = slices.cancel(Replay, id)
        if row:
            _record(row, "cancelled")
    return row is not None


def due() -> QuerySet[Replay]:
    return slices.running(Replay)


def advance(is_stopped: Callable[[], bool]) -> None:
    """Run the oldest for a slice of time."""
    if row := due().select_related("assistant", "version").order_by("id").first():
        slices.advance(row, ReplayWork, is_stopped)


class ReplayWork:
    def __init__(self, row: Replay) -> None:
        self._row, self._report = row, Report.of(row.figures)

    def steps(self) -> Iterator[UUID]:
        row = self._row
        wanted = at_version(row.assistant, row.version) if row.version else None
        change = Change(assistant=row.assistant, wanted=wanted, rule=Reason(row.rule) if row.rule else None)
        ids = requests_of(row.assistant, since=row.since, until=row.created_at, sample=row.sample, after=row.last)
        return replay_requests(ids, change, self._report)

    def values(self) -> dict[str, Any]:
        return {"figures": self._report.stored}

    def keep(self) -> None:
        """All of it stands in the row."""


def conditions_of(row: Replay) -> list[Condition]:
    return [parse(text) for text in row.conditions]


def failed(row: Replay, report: Report) -> list[str]:
    """The conditions that it fails by."""
    return [each.text for each in conditions_of(row) if each.fails(report)]


def _record(row: Replay, act: str) -> None:
    details: Details = {"act": act, "assistant": row.assistant_id, "version": row.version_id, "requests": row.requests}
    audit.record(AuditKind.REPLAY_CHANGED, target=row, details=details)
