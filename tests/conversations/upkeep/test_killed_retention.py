"""A worker that is really killed while it deletes by the rules: another goes on, and nothing goes twice or by mistake."""

import uuid
from collections import Counter
from datetime import timedelta

import psycopg
import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from conversations.holds import actions
from conversations.holds.actions import HoldSubject
from conversations.models import AuditEvent, File, Message, Thread
from tests.config.worker.test_worker import answers, kill
from tests.conversations.factories import make_file, make_thread, make_user
from tests.locks import LOCKS
from tests.processes import database_url, started
from tests.waiting import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.operate]

OLD = 12
AT = 5
"""How many are deleted before the one in which the worker is killed."""


def is_somebody_waiting() -> bool:
    return answers(f"SELECT EXISTS ({LOCKS} AND NOT granted AND locktype IN ('transactionid', 'tuple'))")


def all_threads() -> set[uuid.UUID]:
    return set(Thread.objects.values_list("id", flat=True))


def old_threads(user: User, count: int, **values: object) -> list[Thread]:
    """The oldest first, each with a file."""
    threads = []
    for number in range(count):
        thread = make_thread(user, ["Hello?", "Hello."])
        make_file(user, b"The ferry leaves at nine.", thread=thread)
        at = timezone.now() - timedelta(days=90, minutes=-number)
        Thread.objects.filter(id=thread.id).update(updated_at=at, **values)
        threads.append(thread)
    return threads


def test_what_a_killed_worker_has_left_is_deleted_by_the_next_and_once(user: User) -> None:
    going = [thread.id for thread in old_threads(user, OLD)]
    held = make_user("held")
    staying = {each.id for each in [*old_threads(user, 1, pinned=True), *old_threads(held, 1)]}
    staying.add(make_thread(user, ["Just now."]).id)
    actions.begin(HoldSubject(user=held), reason="A lawsuit", by="root")
    environment = {"DATABASE_URL": database_url(), "OPENBOOK_THREAD_DAYS": "30"}
    with psycopg.connect(database_url()) as holder:
        holder.execute("SELECT FROM conversations_file WHERE thread_id = %s FOR NO KEY UPDATE", [going[AT]])
        with started("work", "--skip-checks", **environment) as victim:
            until(lambda: all_threads() == staying | {*going[AT:]} and is_somebody_waiting())
            kill(victim)
        holder.rollback()
    assert all_threads() == staying | {*going[AT:]}
    with started("work", "--skip-checks", **environment):
        until(lambda: not Thread.objects.filter(id__in=going).exists())
    assert all_threads() == staying
    assert {*Message.objects.values_list("thread_id", flat=True)} == staying
    assert File.objects.count() == 2
    deleted = AuditEvent.objects.filter(kind="thread_deleted").values_list("target_id", flat=True)
    assert Counter(deleted) == {str(id): 1 for id in going}
