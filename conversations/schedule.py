"""Who is to be consolidated now, and tasks for it: at most one for a user. Any number of workers may sweep at the same time."""

import logging
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.tasks import Task, TaskResultStatus
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from conversations.models import AccountDeletion
from conversations.tasks import delete_accounts, retain
from memory.backends import get_backend
from memory.backends.mirroring import mirror_due
from memory.consolidation import consolidation_state
from memory.models import Consolidation
from memory.tasks import consolidate_user, mirror

log = logging.getLogger("openbook.worker")

SWEEPING, WORKING = 0x73776565, 0x776F726B  # "swee", "work": PostgreSQL's advisory locks are known by number
IDLE = timedelta(minutes=10)
LONGEST_SESSION = timedelta(days=1)
RECENTLY = timedelta(hours=1)
RETAIN_EVERY, MIRROR_EVERY = timedelta(minutes=10), timedelta(seconds=10)
REST = timedelta(minutes=1)
MOST_AT_ONCE = 100
MOST_WORKERS = 3
WAITING = [TaskResultStatus.READY, TaskResultStatus.RUNNING]

# Candidates are ranges of indexes; what is asked of each of them is one step in another. Who is in a session that has gone on
# for a day is not waited for. An attempt that had nothing to do, though something is – a reply is running –, is not repeated
# at once.
DUE = """
WITH candidate AS (
    SELECT user_id FROM conversations_thread WHERE updated_at > %(since)s
    UNION SELECT user_id FROM memory_consolidation WHERE wanted_at IS NOT NULL
    UNION SELECT user_id FROM memory_threadsummary WHERE stale_since IS NOT NULL
), waiting AS MATERIALIZED (
    SELECT (args_kwargs -> 'args' ->> 0)::int AS user_id FROM django_tasks_database_dbtaskresult
    WHERE status IN ('READY', 'RUNNING') AND task_path = %(task)s
)
SELECT candidate.user_id
FROM candidate
LEFT JOIN memory_consolidation AS state ON state.user_id = candidate.user_id
LEFT JOIN memory_preferences AS preferences ON preferences.user_id = candidate.user_id
LEFT JOIN LATERAL (
    SELECT updated_at, coalesce(session_started_at, updated_at) AS session FROM conversations_thread
    WHERE user_id = candidate.user_id AND remembers AND updated_at <= %(now)s ORDER BY updated_at DESC LIMIT 1
) AS newest ON true
WHERE coalesce(preferences.remembers, true)
  AND coalesce(state.not_before <= %(now)s, true)
  AND coalesce(state.ended_at <= %(now)s - %(rest)s OR state.parts_done > 0 OR state.failures > 0, true)
  AND (
      newest.updated_at > coalesce(state.through, '-infinity')
      AND (newest.updated_at <= %(now)s - %(idle)s
           OR greatest(newest.session, state.through) <= %(now)s - %(longest_session)s)
      OR state.wanted_at <= %(now)s - %(idle)s
      OR state.wanted_at IS NOT NULL AND state.failures > 0
      OR EXISTS (SELECT FROM memory_threadsummary AS part JOIN conversations_thread AS thread ON thread.id = part.thread_id
                 WHERE part.user_id = candidate.user_id AND part.stale_since IS NOT NULL AND thread.remembers)
  )
  AND candidate.user_id NOT IN (SELECT user_id FROM waiting)
  AND NOT EXISTS (SELECT FROM conversations_accountdeletion WHERE user_id = candidate.user_id)
ORDER BY newest.updated_at LIMIT %(most)s
"""

# Each worker holds the lock of its name for as long as it lives. A task whose worker ended again and again may be why it did.
PUT_BACK = """
UPDATE django_tasks_database_dbtaskresult AS task
SET status = CASE WHEN jsonb_array_length(worker_ids) < %(most)s THEN 'READY' ELSE 'FAILED' END,
    finished_at = CASE WHEN jsonb_array_length(worker_ids) < %(most)s THEN NULL ELSE %(now)s::timestamptz END
WHERE status = 'RUNNING' AND NOT EXISTS (
    SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 2 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND classid = %(class)s AND objid::bigint = hashtext(task.worker_ids ->> -1)::bigint & 4294967295
)
RETURNING status, task_path, args_kwargs -> 'args' ->> 0
"""


def sweep(*, at: datetime | None = None, since: datetime | None = None) -> int:
    """Put back what dead workers left, and enqueue what is due. Returns how many users got a task.

    Looked at are those who were active after ``since``, by default in the last hour, and those for whom something is wanted.
    """
    now = at or timezone.now()
    with transaction.atomic():
        if not _alone():
            return 0
        _put_back(now)
        users = _due(now, since or now - RECENTLY - IDLE)
        for user_id in users:
            consolidate_user.enqueue(user_id)
        if _is_time(retain, now - RETAIN_EVERY):
            retain.enqueue()
        if AccountDeletion.objects.filter(due_at__lte=now).exists() and _is_time(delete_accounts, now - REST):
            delete_accounts.enqueue()
        if not get_backend().is_local and _is_time(mirror, now - MIRROR_EVERY) and mirror_due(most=1):
            mirror.enqueue()
    return len(users)


def consolidate_now(user_ids: Iterable[int]) -> int:
    """Enqueue these users, whatever is due. Returns how many had no task yet."""
    wanted = set(user_ids)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [SWEEPING])
        Consolidation.objects.filter(user_id__in=wanted).update(not_before=None)
        waiting = _tasks(consolidate_user.module_path).filter(status__in=WAITING)
        for args in waiting.values_list("args_kwargs__args", flat=True):
            wanted -= set(args)
        for user_id in wanted:
            consolidate_user.enqueue(user_id)
    return len(wanted)


def _alone() -> bool:
    """Whether this transaction is the only one that sweeps."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [SWEEPING])
        return bool(cursor.fetchone()[0])


def _put_back(now: datetime) -> None:
    with connection.cursor() as cursor:
        cursor.execute(PUT_BACK, {"class": WORKING, "most": MOST_WORKERS, "now": now})
        found = cursor.fetchall()
    for status, path, argument in found:
        log.warning("a worker ended in the middle of a task", extra={"task": path, "status": status})
        if status == TaskResultStatus.FAILED and path == consolidate_user.module_path:
            consolidation_state.record_failure(int(argument), f"{MOST_WORKERS} workers ended in the middle of it")


def _due(now: datetime, since: datetime) -> list[int]:
    values: dict[str, Any] = {
        "now": now,
        "since": since,
        "idle": IDLE,
        "rest": REST,
        "longest_session": LONGEST_SESSION,
        "most": MOST_AT_ONCE,
        "task": consolidate_user.module_path,
    }
    with connection.cursor() as cursor:
        cursor.execute(DUE, values)
        return [user_id for (user_id,) in cursor.fetchall()]


def _is_time(task: Task[[], None], since: datetime) -> bool:
    """Whether none waits, nor was enqueued since then."""
    return not _tasks(task.module_path).filter(Q(enqueued_at__gt=since) | Q(status__in=WAITING)).exists()


def _tasks(path: str) -> QuerySet[DBTaskResult[Any, Any]]:
    return DBTaskResult.objects.filter(task_path=path)
