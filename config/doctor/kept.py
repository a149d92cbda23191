"""Whether what is kept can be had again: the last backup, and the last drill that proved one."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.utils import timezone

from config.doctor.examination import reading
from config.doctor.findings import Finding, ok, warning
from conversations.keep import runs
from conversations.models import MaintenanceRun

# As deploy/prometheus/alerts.yaml has it
OLD_BACKUP, OLD_DRILL = timedelta(days=2), timedelta(days=35)


def look_at_backup() -> Sequence[Finding]:
    with reading():
        last = runs.latest(runs.KIND.BACKUP)
    return [backup(last, timezone.now())]


def backup(last: MaintenanceRun | None, now: datetime) -> Finding:
    """``last``: the one that succeeded last."""
    advice = "Make one each night: docs/operate/backup-old.md."
    if last is None:
        return warning("none was ever made by `manage.py backup`", advice)
    words = f"the last was made {ago(now - last.began_at)}"
    return warning(words, advice) if now - last.began_at > OLD_BACKUP else ok(words)


def look_at_drill() -> Sequence[Finding]:
    with reading():
        last, is_kept = runs.latest(runs.KIND.DRILL), runs.latest(runs.KIND.BACKUP) is not None
    return [drill(last, timezone.now())] if is_kept else []


def drill(last: MaintenanceRun | None, now: datetime) -> Finding:
    advice = "Prove one each month: docs/operate/drill-old.md."
    if last is None:
        return warning("no backup was ever proven by `manage.py drill`", advice)
    words = f"a backup was last proven {ago(now - last.began_at)}"
    return warning(words, advice) if now - last.began_at > OLD_DRILL else ok(words)


def ago(age: timedelta) -> str:
    hours = age / timedelta(hours=1)
    return f"{hours:.0f} hours ago" if hours < 48 else f"{hours / 24:.0f} days ago"
