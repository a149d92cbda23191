"""Replays that staff start and workers run, slice by slice: the others have their turn between, and a killed one goes on."""

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from conversations import audit
from conversations.audit import AuditKind, Details
from conversations.context.record.assistant_versions import at_version
from conversations.models import Assistant, AssistantVersion, Replay
from conversations.providers.errors import place_of
from conversations.regression.conditions import Condition, parse
from conversations.regression.replaying import Change, count_of, replay_requests, requests_of
from conversations.regression.report import Report
from conversations.runtime import clock
from conversations.runtime.db import is_away

SLICE, SAVED_EVERY = 20.0, 1.0
"""In seconds."""
State = Replay.State


@transaction.atomic
def start(
    assistant: Assistant,
    version: AssistantVersion | None,
    *,
    since: datetime,
    sample: int | None = None,
    conditions: Sequence[str] = (),
    author: User | None,
) -> Replay:
    """Raises ``InvalidCondition``."""
    now = clock.now()
    row = Replay.objects.create(
        assistant=assistant,
        version=version,
        since=since,
        sample=sample,
        conditions=[parse(text).text for text in conditions],
        requests=count_of(assistant, since=since, until=now, sample=sample),
        author=author,
        created_at=now,
    )
    _record(row, "started")
    return row


@transaction.atomic
def cancel(id: UUID) -> bool:
    """Whether it was running."""
    row = Replay.objects.select_for_update().filter(pk=id, state=State.RUNNING).first()
    if row is None:
        return False
    Replay.objects.filter(pk=id).update(state=State.CANCELLED, ended_at=clock.now())
    _record(row, "cancelled")
    return True


def due() -> QuerySet[Replay]:
    return Replay.objects.filter(state=State.RUNNING)


def advance(is_stopped: Callable[[], bool]) -> None:
    """Run the oldest for a slice of time."""
    row = due().select_related("assistant", "version").order_by("id").first()
    if row is None:
        return
    try:
        _advance(row, is_stopped)
    except Exception as error:
        if not is_away(error):
            due().filter(pk=row.pk).update(state=State.FAILED, problem=place_of(error)[:200], ended_at=clock.now())
        raise


def _advance(row: Replay, is_stopped: Callable[[], bool]) -> None:
    wanted = at_version(row.assistant, row.version) if row.version else None
    report = Report.of(row.figures)
    ids = requests_of(row.assistant, since=row.since, until=row.created_at, sample=row.sample, after=row.last)
    began = saved = time.monotonic()
    for id in replay_requests(ids, Change(assistant=row.assistant, wanted=wanted), report):
        now = time.monotonic()
        is_over = is_stopped() or now - began > SLICE
        if is_over or now - saved > SAVED_EVERY:
            if not _save(row, report, last=id) or is_over:
                return
            saved = now
    _save(row, report, last=row.last, state=State.DONE, ended_at=clock.now())


def _save(row: Replay, report: Report, *, last: UUID | None, **values: object) -> bool:
    """Whether it may go on: it was not cancelled, and no other worker has it."""
    mine = due().filter(pk=row.pk, last=row.last)
    row.last = last
    return bool(mine.update(figures=report.stored, last=last, **values))


def conditions_of(row: Replay) -> list[Condition]:
    return [parse(text) for text in row.conditions]


def failed(row: Replay, report: Report) -> list[str]:
    """The conditions that it fails by."""
    return [each.text for each in conditions_of(row) if each.fails(report)]


def _record(row: Replay, act: str) -> None:
    details: Details = {"act": act, "assistant": row.assistant_id, "version": row.version_id, "requests": row.requests}
    audit.record(AuditKind.REPLAY_CHANGED, target=row, details=details)
