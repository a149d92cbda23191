"""What is indexed rests on the path that was read."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections, transaction

from conversations import threads
from conversations.models import Message, Thread
from memory.index import word_index
from memory.index.index_turns import said_turn
from memory.models import IndexedPassage
from tests.conversations.factories import make_thread

pytestmark = pytest.mark.django_db(transaction=True)

BLOCKED = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')"


@pytest.fixture
def other() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool
        pool.submit(connections.close_all).result()


def read_and_store(thread: Thread, path: int) -> None:
    rows = Message.objects.filter(thread=thread).values("thread_id", "depth", "position", "role", "text", "created_at")
    word_index.store(thread.user_id, [said_turn({**row, "path": path}) for row in rows])


def is_blocked() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # else a transaction sees the first look for good
        cursor.execute(BLOCKED)
        return bool(cursor.fetchall()[0][0])


def test_whoever_indexes_waits_for_a_move_and_then_stores_nothing_of_the_path_before(
    user: User, other: ThreadPoolExecutor
) -> None:
    thread = make_thread(user, turns=["I have a cat.", "Nice."])
    IndexedPassage.objects.all().delete()
    with transaction.atomic():
        moved = threads.locked(user, thread.id, moves_path=True)
        Thread.objects.filter(id=thread.id).update(path_version=moved.path_version + 1)
        stored = other.submit(read_and_store, thread, moved.path_version)
        while not is_blocked():
            assert not stored.done()
    stored.result()
    assert not IndexedPassage.objects.exists()
    read_and_store(thread, moved.path_version + 1)
    assert IndexedPassage.objects.count() == 2
