"""Whether what is kept can be had again: the last backup, and the last drill that proved one."""

from collections.abc import Sequence
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext

from config.backups import runs
from config.doctor.examination import reading
from config.doctor.findings import Finding, ok, warning
from config.observability import limits
from conversations.models import MaintenanceRun
from conversations.runtime.wording import filled
from conversations.staff.display import duration


def look_at_backup() -> Sequence[Finding]:
    with reading():
        last = runs.latest(runs.KIND.BACKUP)
        has_failed = last is not None and runs.has_failed_since(last)
    return [backup(last, timezone.now(), has_failed=has_failed)]


def backup(last: MaintenanceRun | None, now: datetime, *, has_failed: bool) -> Finding:
    """``last``: the one that succeeded last; ``has_failed``: one since."""
    if last is None:
        advice = gettext("Make one each night: docs/operate/backup-old.md.")
        return warning(gettext("none was ever made by `manage.py backup`"), advice)
    age = (now - last.began_at).total_seconds()
    words = filled("the last was made {time} ago", time=duration(age))
    return _judged(words, has_failed, is_old=age > limits.BACKUP_SECONDS, page="docs/operate/backup-old.md")


def look_at_drill() -> Sequence[Finding]:
    with reading():
        last, is_kept = runs.latest(runs.KIND.DRILL), runs.latest(runs.KIND.BACKUP) is not None
        has_failed = last is not None and runs.has_failed_since(last)
    return [drill(last, timezone.now(), has_failed=has_failed)] if is_kept else []


def drill(last: MaintenanceRun | None, now: datetime, *, has_failed: bool) -> Finding:
    if last is None:
        advice = gettext("Prove one each month: docs/operate/drill-old.md.")
        return warning(gettext("no backup was ever proven by `manage.py drill`"), advice)
    age = (now - last.began_at).total_seconds()
    words = filled("a backup was last proven {time} ago", time=duration(age))
    return _judged(words, has_failed, is_old=age > limits.DRILL_SECONDS, page="docs/operate/drill-old.md")


def _judged(words: str, has_failed: bool, *, is_old: bool, page: str) -> Finding:
    if has_failed:
        advice = filled("Run it by hand and read what it says: {page}.", page=page)
        return warning(filled("{words}; one has failed since", words=words), advice)
    return warning(words, filled("See why there was none since: {page}.", page=page)) if is_old else ok(words)
