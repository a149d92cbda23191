"""When backups, drills and restores ran, and how they ended."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import ProgrammingError
from django.utils import timezone
from psycopg.errors import UndefinedTable

from conversations.models import MaintenanceRun

KIND = MaintenanceRun.Kind


@contextmanager
def recorded(kind: MaintenanceRun.Kind) -> Iterator[dict[str, Any]]:
    """The run, with the details that the block puts down; it has failed where the block raises."""
    run = MaintenanceRun.objects.create(kind=kind, began_at=timezone.now())
    details: dict[str, Any] = {}
    succeeded = False
    try:
        yield details
        succeeded = True
    finally:
        MaintenanceRun.objects.filter(id=run.id).update(ended_at=timezone.now(), succeeded=succeeded, details=details)


def latest(kind: MaintenanceRun.Kind) -> MaintenanceRun | None:
    """The last that succeeded."""
    return MaintenanceRun.objects.filter(kind=kind, succeeded=True).order_by("-began_at").first()


def is_being_restored() -> bool:
    """Whether a restore began here and has not succeeded; on an empty database none has."""
    try:
        return MaintenanceRun.objects.filter(kind=KIND.RESTORE).exclude(succeeded=True).exists()
    except ProgrammingError as error:
        if isinstance(error.__cause__, UndefinedTable):
            return False
        raise
