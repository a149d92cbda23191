"""When backups, drills and restores ran, and how they ended."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from django.db import connection
from django.utils import timezone

from conversations import audit
from conversations.models import AuditEvent, AuditKind, MaintenanceRun
from conversations.runtime.db import run

KIND = MaintenanceRun.Kind
EVENTS = {KIND.BACKUP: AuditKind.BACKUP_MADE, KIND.RESTORE: AuditKind.BACKUP_RESTORED}
MARK = "conversations_restoring"
"""A table without columns: a restore began on the schema of 0.1.0, which has none for runs."""


@contextmanager
def recorded(kind: MaintenanceRun.Kind) -> Iterator[dict[str, Any]]:
    """The run, with the details that the block puts down; it has failed where the block raises. On the schema of 0.1.0 there
    is no table for it: a restore leaves a mark there until it has succeeded."""
    details: dict[str, Any] = {}
    if MaintenanceRun._meta.db_table not in connection.introspection.table_names():
        with _marked() if kind is KIND.RESTORE else nullcontext():
            yield details
        return
    begun = MaintenanceRun.objects.create(kind=kind, began_at=timezone.now())
    succeeded = False
    try:
        yield details
        succeeded = True
    finally:
        MaintenanceRun.objects.filter(id=begun.id).update(ended_at=timezone.now(), succeeded=succeeded, details=details)
        _record(kind, begun, succeeded=succeeded)


def _record(kind: MaintenanceRun.Kind, begun: MaintenanceRun, *, succeeded: bool) -> None:
    """In the audit record, where the schema has one."""
    if kind in EVENTS and AuditEvent._meta.db_table in connection.introspection.table_names():
        outcome = audit.Outcome.SUCCESS if succeeded else audit.Outcome.FAILURE
        audit.record(EVENTS[kind], actor=None, target=begun, outcome=outcome)


def latest(kind: MaintenanceRun.Kind) -> MaintenanceRun | None:
    """The last that succeeded."""
    return MaintenanceRun.objects.filter(kind=kind, succeeded=True).order_by("-began_at").first()


def has_failed_since(last: MaintenanceRun) -> bool:
    return MaintenanceRun.objects.filter(kind=last.kind, succeeded=False, began_at__gt=last.began_at).exists()


def is_being_restored() -> bool:
    """Whether a restore began here and has not succeeded; on an empty database none has."""
    tables = set(connection.introspection.table_names())
    if MARK in tables:
        return True
    return (
        MaintenanceRun._meta.db_table in tables
        and MaintenanceRun.objects.filter(kind=KIND.RESTORE).exclude(succeeded=True).exists()
    )


@contextmanager
def _marked() -> Iterator[None]:
    """It stays where the block raises."""
    run(f"CREATE TABLE IF NOT EXISTS {MARK} ()")
    yield
    run(f"DROP TABLE {MARK}")
