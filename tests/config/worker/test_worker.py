"""Workers as real processes that get killed, told to end, and lose the database. Tables that a test locks hold them up."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import psycopg
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.tasks import TaskResultStatus
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from config.backups import runs
from config.worker import loop
from conversations import schedule
from conversations.models import File, FilePart, Lease
from conversations.runtime import leases
from conversations.tasks import FILES, read_file
from memory.models import ThreadSummary
from memory.tasks import consolidate_user
from tests.conversations.factories import make_file, make_thread
from tests.locks import LOCKS
from tests.processes import ServerProcess, database_url, started
from tests.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)

TASKS, SUMMARIES, PARTS = "django_tasks_database_dbtaskresult", "memory_threadsummary", "conversations_filepart"
LONG = "".join(f"# Plan {number}\n\n{'The ferry leaves at nine. ' * 200}\n\n" for number in range(500)).encode()
STUCK_SECONDS = 15.0


@contextmanager
def locked(table: str) -> Iterator[psycopg.Connection]:
    """Nobody writes to the table meanwhile, or until the connection is rolled back."""
    with psycopg.connect(database_url()) as holder:
        holder.execute(f"LOCK TABLE {table} IN SHARE MODE")
        yield holder
        holder.rollback()


def waits_for(table: str) -> bool:
    return answers(f"SELECT EXISTS ({LOCKS} AND NOT granted AND relation = '{table}'::regclass)")


def answers(question: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(question)
        return bool(cursor.fetchone()[0])


def kill(victim: ServerProcess) -> None:
    """With what it has asked the database for: nobody would see the end of a statement that is under way."""
    victim.kill()
    lose_connections()

    Lease.objects.update(lease_until=timezone.now())  # as seconds later


def lose_connections() -> None:
    theirs = "datname = current_database() AND application_name = 'openbook leases'"
    answers(f"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE {theirs}")  # noqa: S608
    answers(f"SELECT count(pg_terminate_backend(pid)) FROM ({LOCKS} AND NOT granted) AS waiting")  # noqa: S608


def killed_before_the_claim(victim: ServerProcess) -> None:
    with locked(TASKS):
        until(lambda: waits_for(TASKS))
        kill(victim)


def killed_in_the_middle(victim: ServerProcess) -> None:
    with locked(SUMMARIES):
        until(lambda: waits_for(SUMMARIES))
        kill(victim)


def killed_before_it_is_marked_as_done(victim: ServerProcess) -> None:
    with locked(SUMMARIES) as holder:
        until(lambda: waits_for(SUMMARIES))
        with locked(TASKS):
            holder.rollback()
            until(lambda: waits_for(TASKS))
            kill(victim)


@pytest.mark.once("killed_in_the_middle")
@pytest.mark.parametrize("killed", [killed_before_the_claim, killed_in_the_middle, killed_before_it_is_marked_as_done])
def test_what_a_killed_worker_was_doing_is_done_by_another_and_once(
    killed: Callable[[ServerProcess], None], user: User
) -> None:
    make_thread(user, ["I moved to Porto.", "How nice."])
    schedule.consolidate_now([user.pk])
    with started("work", "--skip-checks", DATABASE_URL=database_url()) as victim:
        killed(victim)
    with loop.life() as life:
        while life.step():
            pass
        if killed is not killed_before_the_claim:
            assert [status for status, _ in consolidations()] == ["RUNNING"]  # all leases may have been lost
        life.lease.unbroken_since -= 2 * leases.BEAT_SECONDS
        until(lambda: not life.step() and consolidations() == [("SUCCESSFUL", life.name)])
    assert list(ThreadSummary.objects.values_list("first_position", "last_position")) == [(1, 2)]


def consolidations() -> list[tuple[str, str]]:
    """How each task to consolidate stands, and its last worker."""
    found = DBTaskResult.objects.filter(task_path=consolidate_user.module_path)
    return [(task.status, (task.worker_ids or [""])[-1]) for task in found]


@pytest.mark.operate
def test_a_file_at_which_a_worker_is_killed_waits_for_no_more_than_15_seconds(user: User) -> None:
    noticed = schedule.WORKER_LEASE.total_seconds() + loop.LOOK_SECONDS + loop.SWEEP_SECONDS
    assert noticed <= STUCK_SECONDS, "by the clock of a machine that has time"
    environment = {"DATABASE_URL": database_url(), "OPENBOOK_FILES_DIR": str(settings.OPENBOOK_FILES_DIR)}
    file = make_file(user, LONG, name="plan.md", media_type="text/markdown")
    read_file.enqueue(str(file.id))
    with ExitStack() as stack:
        readers = [
            stack.enter_context(started("work", "--skip-checks", "--queue", FILES, **environment)) for _ in range(2)
        ]
        until(lambda: File.objects.filter(id=file.id, attempt=1, parts_read__gt=0).exists())
        with locked(PARTS):
            until(lambda: waits_for(PARTS))
            until(lambda: Lease.objects.filter(name__startswith=schedule.WORKER).count() == len(readers))
            reader_of(file, readers).kill()
        until(lambda: not File.objects.filter(id=file.id, state=File.State.READING).exists())
    file.refresh_from_db()
    assert (file.state, file.attempt) == (File.State.READY, 2)
    assert file.parts_read == FilePart.objects.filter(file=file).count()


def reader_of(file: File, workers: Sequence[ServerProcess]) -> ServerProcess:
    """The one that holds its task."""
    task = DBTaskResult.objects.get(args_kwargs__args=[str(file.id)], status=TaskResultStatus.RUNNING)
    (worker,) = (each for each in workers if f".{each.pid}." in task.worker_ids[-1])
    return worker


@pytest.mark.wide
def test_a_worker_outlives_the_database_and_ends_when_told_to_in_the_middle_of_a_task(user: User) -> None:
    make_thread(user, ["I moved to Porto.", "How nice."])
    schedule.consolidate_now([user.pk])
    with locked(SUMMARIES), started("work", "--skip-checks", DATABASE_URL=database_url()) as running:
        until(lambda: waits_for(SUMMARIES))
        lose_connections()
        until(lambda: TaskResultStatus.FAILED in [status for status, _ in consolidations()])
        schedule.consolidate_now([user.pk])  # unless it has been found by itself
        until(lambda: waits_for(SUMMARIES))
        assert running.terminate() == 0
        assert "Porto" not in running.output
    assert sorted(status for status, _ in consolidations()) == [TaskResultStatus.FAILED, TaskResultStatus.SUCCESSFUL]
    assert ThreadSummary.objects.count() == 0
    assert schedule.sweep(at=timezone.now() + schedule.IDLE) == 1


def test_nothing_is_done_until_a_restore_has_come_to_its_end(user: User) -> None:
    with runs.recorded(runs.KIND.RESTORE):
        consolidate_user.enqueue(user.pk)
        with started("work", DATABASE_URL=database_url()) as worker:
            until(lambda: "a restore into this database has not come to its end" in worker.output)
            assert not Lease.objects.exists()
            assert DBTaskResult.objects.get().status == TaskResultStatus.READY
            assert worker.terminate() == 0
