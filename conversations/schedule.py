"""Who is to be consolidated now, and tasks for it: at most one for a user. What else is due. Any number of workers may sweep at
the same time.
"""

import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.tasks import Task, TaskResultStatus
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from conversations.accounts import mailing
from conversations.datasets import runs
from conversations.files import progress, storage
from conversations.holds import release
from conversations.models import AccountDeletion, Budget, File
from conversations.regression import replays
from conversations.runtime import clock
from conversations.runtime.leases import LEASE
from conversations.runtime.sql_files import read_statements
from conversations.tasks import (
    advance_experiments,
    advance_replays,
    close_temporary,
    delete_accounts,
    enqueue_reading,
    lint_context,
    read_file,
    release_holds,
    remove_bytes,
    retain,
    send_mail,
    warn_of_budgets,
)
from conversations.threads import temporary
from memory.backends import get_backend
from memory.backends.mirroring import mirror_due
from memory.consolidation import consolidation_state
from memory.models import Consolidation, StaleIndex
from memory.tasks import consolidate_user, index_stale, mirror

log = logging.getLogger("openbook.worker")

SWEEPING = 0x73776565  # "swee": PostgreSQL's advisory locks are known by number
WORKER = "worker "
"""What the lease of a worker's name begins with."""
WORKER_LEASE = timedelta(seconds=5)
"""Nobody else takes it, and a task that is run twice does no harm, so it may run out sooner than others."""
IDLE = timedelta(minutes=10)
LONGEST_SESSION = timedelta(days=1)
RECENTLY = timedelta(hours=1)
CLOSE_EVERY = timedelta(seconds=10)
RETAIN_EVERY, MIRROR_EVERY, REMOVE_EVERY = timedelta(minutes=10), timedelta(seconds=10), timedelta(seconds=10)
INDEX_EVERY = timedelta(seconds=10)
LINT_EVERY, NIGHT = timedelta(hours=20), range(2, 6)
"""Once a night, within these hours of the server’s time zone."""
MAIL_EVERY = timedelta(seconds=2)
REPLAY_EVERY = timedelta(seconds=2)
REST = timedelta(minutes=1)
FILE_REST, LONGEST_FILE_REST = timedelta(seconds=1), timedelta(minutes=10)
"""After the first task to read a file that failed; after many of them."""
MOST_AT_ONCE = 100
MOST_WORKERS = 5
"""After so many have ended in the middle of a task it is not tried again."""
WAITING = [TaskResultStatus.READY, TaskResultStatus.RUNNING]

OTHERS: list[tuple[Task[[], None], timedelta, Callable[[datetime], bool]]] = [
    (remove_bytes, REMOVE_EVERY, lambda now: storage.due(now).exists()),
    (retain, RETAIN_EVERY, lambda now: True),
    (lint_context, LINT_EVERY, lambda now: timezone.localtime(now).hour in NIGHT),
    (advance_replays, REPLAY_EVERY, lambda now: replays.due().exists()),
    (advance_experiments, REPLAY_EVERY, lambda now: runs.due().exists()),
    (close_temporary, CLOSE_EVERY, lambda now: temporary.due(now).exists()),
    (delete_accounts, REST, lambda now: AccountDeletion.objects.filter(due_at__lte=now).exists()),
    (warn_of_budgets, REST, lambda now: Budget.objects.exists()),
    (release_holds, REMOVE_EVERY, lambda now: release.due().exists()),
    (send_mail, MAIL_EVERY, lambda now: mailing.due(now).exists()),
    (index_stale, INDEX_EVERY, lambda now: StaleIndex.objects.exists()),
]
"""What is enqueued where it is due, and not more often than every so long."""

SQL = read_statements(__file__)


def sweep(*, at: datetime | None = None, since: datetime | None = None) -> int:
    """Enqueue what is due. Returns how many users got a task.

    Looked at are those who were active after ``since``, by default in the last hour, and those for whom something is wanted.
    """
    now = at or clock.now()
    with transaction.atomic():
        if not _alone():
            return 0
        users = _due(now, since or now - RECENTLY - IDLE)
        for user_id in users:
            consolidate_user.enqueue(user_id)
        for file in _unread(now):
            enqueue_reading(file)
        for task, every, is_due in OTHERS:
            if is_due(now) and _is_time(task, now - every):
                _enqueue(task)
        if not get_backend().is_local and _is_time(mirror, now - MIRROR_EVERY) and mirror_due(most=1):
            _enqueue(mirror)
    return len(users)


def put_back() -> None:
    """Give the tasks that dead workers left to others: of those whose lease has run out. Costs little."""
    with transaction.atomic():
        if _alone():
            _put_back(clock.now())


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
        values: dict[str, Any] = {"worker": WORKER, "lease": LEASE, "most": MOST_WORKERS, "now": now}
        cursor.execute(SQL["put_back"], values)
        found = cursor.fetchall()
        cursor.execute(SQL["forget_leases"])
    for status, path, argument in found:
        log.warning("a worker ended in the middle of a task", extra={"task": path, "status": status})
        if status == TaskResultStatus.FAILED and path == consolidate_user.module_path:
            consolidation_state.record_failure(int(argument), f"{MOST_WORKERS} workers ended in the middle of it")
        if status == TaskResultStatus.FAILED and path == read_file.module_path:
            progress.give_up(UUID(argument))


def _unread(now: datetime) -> list[File]:
    """Those that wait for being read without a task: its worker was told to end, or could not reach the storage."""
    values: dict[str, Any] = {
        "task": read_file.module_path,
        "now": now,
        "rest": FILE_REST,
        "longest_rest": LONGEST_FILE_REST,
        "most": MOST_AT_ONCE,
    }
    with connection.cursor() as cursor:
        cursor.execute(SQL["unread"], values)
        return list(File.objects.filter(id__in=[file_id for (file_id,) in cursor.fetchall()]).order_by("created_at"))


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
        cursor.execute(SQL["due"], values)
        return [user_id for (user_id,) in cursor.fetchall()]


def _enqueue(task: Task[[], None]) -> None:
    """Bearing the time that the next one is reckoned from, whatever this machine's clock says."""
    DBTaskResult.objects.filter(id=task.enqueue().id).update(enqueued_at=clock.now())


def _is_time(task: Task[[], None], since: datetime) -> bool:
    """Whether none waits, nor was enqueued since then."""
    return not _tasks(task.module_path).filter(Q(enqueued_at__gt=since) | Q(status__in=WAITING)).exists()


def _tasks(path: str) -> QuerySet[DBTaskResult[Any, Any]]:
    return DBTaskResult.objects.filter(task_path=path)
