"""Who gets a task, when, and how failures are put off."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections
from django.tasks import TaskResultStatus
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from config.worker.loop import EVER, OneTask
from conversations import schedule
from conversations.models import Lease
from memory.models import Consolidation, Preferences
from memory.tasks import consolidate_user
from tests.conversations.factories import make_thread, make_user
from tests.memory.factories import make_thread_summary

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
SECRET = "my cat is called Turing"


def ago(**duration: float) -> datetime:
    return NOW - timedelta(**duration)


def tasks_of(user: User) -> list[str]:
    found = DBTaskResult.objects.filter(task_path=consolidate_user.module_path, args_kwargs__args=[user.pk])
    return list(found.order_by("enqueued_at").values_list("status", flat=True))


def make_active(user: User, at: datetime, **values: Any) -> None:
    make_thread(user, ["Hello?"], created_at=at, updated_at=at, session_started_at=at, **values)


@pytest.mark.parametrize(
    ("active", "state", "is_due"),
    [
        pytest.param(ago(minutes=9), {}, False, id="still there"),
        pytest.param(ago(minutes=10), {}, True, id="idle"),
        pytest.param(ago(minutes=10), {"through": ago(minutes=10)}, False, id="done"),
        pytest.param(ago(minutes=10), {"through": ago(minutes=11)}, True, id="more since"),
        pytest.param(ago(minutes=2), {"through": ago(days=9)}, False, id="just back after days"),
        pytest.param(ago(days=9), {"through": ago(days=8)}, False, id="long done"),
        pytest.param(ago(days=9), {"through": ago(days=8), "wanted_at": ago(minutes=9)}, False, id="just imported"),
        pytest.param(ago(days=9), {"through": ago(days=8), "wanted_at": ago(minutes=10)}, True, id="imported"),
        pytest.param(ago(hours=1), {"failures": 1, "not_before": ago(minutes=-1), "wanted_at": NOW}, False, id="pause"),
        pytest.param(ago(days=9), {"failures": 1, "not_before": NOW, "wanted_at": NOW}, True, id="tried again"),
        pytest.param(ago(hours=1), {"ended_at": ago(seconds=9), "parts_done": 0}, False, id="nothing could be done"),
        pytest.param(ago(hours=1), {"ended_at": ago(seconds=9), "parts_done": 3}, True, id="a slice of many"),
    ],
)
def test_a_user_is_due_when_idle_and_behind(active: datetime, state: dict[str, Any], is_due: bool, user: User) -> None:
    make_active(user, active)
    if state:
        Consolidation.objects.create(user=user, **state)
    assert (schedule.sweep(at=NOW), tasks_of(user)) == ((1, [TaskResultStatus.READY]) if is_due else (0, []))


def test_who_never_pauses_is_due_after_a_day(user: User, other_user: User) -> None:
    for each, began in [(user, ago(days=1)), (other_user, ago(hours=23))]:
        make_thread(each, ["Hello?"], updated_at=ago(minutes=1), session_started_at=began)
    assert (schedule.sweep(at=NOW), tasks_of(user), tasks_of(other_user)) == (1, [TaskResultStatus.READY], [])


def test_a_stale_summary_makes_its_user_due_at_once(user: User, other_user: User) -> None:
    for each, remembers in [(user, True), (other_user, False)]:
        Consolidation.objects.create(user=each, through=NOW)
        thread = make_thread(each, ["Hello?"], updated_at=ago(minutes=1), remembers=remembers)
        make_thread_summary(thread, ago(minutes=1), stale_since=ago(seconds=1))
    assert (schedule.sweep(at=NOW), tasks_of(user), tasks_of(other_user)) == (1, [TaskResultStatus.READY], [])


def test_what_is_not_to_be_remembered_makes_nobody_due(user: User, other_user: User) -> None:
    Preferences.objects.create(user=user, remembers=False)
    make_active(user, ago(minutes=20))
    make_active(other_user, ago(minutes=20), remembers=False)
    assert schedule.sweep(at=NOW) == 0


def test_a_backlog_of_long_ago_is_found_by_a_whole_sweep(user: User) -> None:
    make_active(user, ago(days=400))
    assert (schedule.sweep(at=NOW), schedule.sweep(at=NOW, since=EVER)) == (0, 1)


@pytest.mark.parametrize("status", [TaskResultStatus.READY, TaskResultStatus.RUNNING])
def test_nobody_gets_a_second_task(status: str, user: User) -> None:
    make_active(user, ago(minutes=10))
    schedule.sweep(at=NOW)
    DBTaskResult.objects.update(status=status, worker_ids=["this worker"])
    Lease.objects.create(name="worker this worker", holder=uuid4(), lease_until=timezone.now() + timedelta(seconds=5))
    schedule.put_back()
    assert (schedule.sweep(at=NOW), schedule.consolidate_now([user.pk]), tasks_of(user)) == (0, 0, [status])


@pytest.mark.django_db(transaction=True)
def test_workers_that_sweep_at_once_enqueue_a_user_once() -> None:
    users = [make_user() for _ in range(3)]
    for user in users:
        make_active(user, ago(minutes=10))

    def sweep(_: int) -> int:
        try:
            return schedule.sweep(at=NOW)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(sweep, range(16))) == 3
    assert [tasks_of(user) for user in users] == [[TaskResultStatus.READY]] * 3


def test_a_task_that_ends_one_worker_after_the_other_has_failed(user: User) -> None:
    schedule.consolidate_now([user.pk])
    DBTaskResult.objects.update(status=TaskResultStatus.RUNNING, worker_ids=["one", "two", "three", "four", "five"])
    schedule.put_back()
    assert tasks_of(user) == [TaskResultStatus.FAILED]
    assert Consolidation.objects.get().error == "5 workers ended in the middle of it"


@pytest.fixture
def refusing_database(transactional_db: None) -> Iterator[None]:
    """It stores no summaries, and says so with a text of the user's."""
    with connection.cursor() as cursor:
        cursor.execute(f"""
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '{SECRET}'; END $$
        """)
        cursor.execute("CREATE TRIGGER refuse BEFORE INSERT ON memory_threadsummary EXECUTE FUNCTION refuse()")
        yield
        cursor.execute("DROP FUNCTION IF EXISTS refuse() CASCADE")


def run() -> None:
    """What waits for a worker."""
    while DBTaskResult.objects.filter(status=TaskResultStatus.READY).exists():
        OneTask("this worker").run()


@pytest.mark.django_db(transaction=True)
def test_failures_are_put_off_longer_each_time_until_it_works(refusing_database: None, user: User) -> None:
    make_active(user, timezone.now() - schedule.IDLE)
    pauses = []
    for _ in range(5):
        assert schedule.sweep() == 1
        run()
        state = Consolidation.objects.get()
        assert state.not_before
        assert state.ended_at
        pauses.append(round((state.not_before - state.ended_at).total_seconds() / 60))
        assert schedule.sweep() == 0
        Consolidation.objects.update(not_before=timezone.now())
    assert (pauses, state.failures) == ([1, 5, 30, 60, 60], 5)
    with connection.cursor() as cursor:
        cursor.execute("DROP FUNCTION refuse() CASCADE")
    assert schedule.sweep() == 1
    run()
    state = Consolidation.objects.get()
    assert (state.failures, state.error, state.not_before, state.wanted_at) == (0, "", None, None)
    assert schedule.sweep() == 0


@pytest.mark.django_db(transaction=True)
def test_what_a_failed_task_leaves_behind_tells_nothing_of_the_user(
    refusing_database: None, user: User, caplog: pytest.LogCaptureFixture
) -> None:
    make_active(user, timezone.now() - schedule.IDLE)
    schedule.sweep()
    run()
    task = DBTaskResult.objects.get(status=TaskResultStatus.FAILED)
    error = Consolidation.objects.get().error
    assert task.traceback.splitlines()[-1] == f"conversations.tasks.TaskFailed: {error}"
    assert error.startswith("ProgrammingError at ")
    assert SECRET not in f"{task.traceback} {error} {caplog.text}"
