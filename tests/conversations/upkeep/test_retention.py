"""What is deleted after a while, and what stays."""

import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from django_tasks_db.models import DBTaskResult
from pytest_django import Settings

from conversations.context import snapshots
from conversations.context.rendering import sha256
from conversations.context.snapshot_codec import NamedText, pack_texts
from conversations.models import ContextBlock, ContextSnapshot, Reply, Thread
from conversations.runtime.ids import lowest_uuid7, uuid7
from conversations.threads.deletion import allow_deletion
from conversations.upkeep import retention
from memory.tasks import consolidate_user
from tests.conversations.factories import make_reply, make_snapshot, make_thread

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


def make_request(thread: Thread, age: timedelta, *texts: str, **values: Any) -> ContextSnapshot:
    """Of a reply that ended so long ago; it names these texts beside what each request does."""
    at = timezone.now() - age
    blocks = [ContextBlock(thread=thread, sha256=sha256(text), text=text) for text in texts]
    ContextBlock.objects.bulk_create(blocks, ignore_conflicts=True)
    named = [NamedText(name="recalled", sha256=sha256(text).hex(), tokens=1) for text in texts]
    snapshot = make_snapshot(reply=make_reply(thread))
    with allow_deletion():
        values |= {"id": uuid_at(at), "created_at": at, "additions": pack_texts(named)}
        ContextSnapshot.objects.filter(pk=snapshot.pk).update(**values)
    return ContextSnapshot.objects.get(pk=values["id"])


def uuid_at(at: datetime) -> uuid.UUID:
    return uuid.UUID(int=lowest_uuid7(at).int + (uuid7().int & (1 << 80) - 1))


def stored_requests(thread: Thread) -> tuple[list[ContextSnapshot], list[str]]:
    """Requests and texts."""
    texts = ContextBlock.objects.filter(thread=thread).order_by("text").values_list("text", flat=True)
    return list(ContextSnapshot.objects.filter(thread=thread).order_by("id")), list(texts)


@pytest.fixture
def thread(user: User, settings: Settings) -> Thread:
    settings.OPENBOOK_SNAPSHOT_DAYS = 30
    return make_thread(user, ["Hello?", "Hello.", "Who are you?"])


def test_old_requests_leave_with_the_texts_that_no_other_names(thread: Thread) -> None:
    make_request(thread, 31 * DAY, "alone", "shared")
    young = make_request(thread, 29 * DAY, "shared", "new")
    other = make_request(make_thread(thread.user, ["Hello?"]), 40 * DAY, "alone")
    retention.apply()
    assert (stored_requests(thread), stored_requests(other.thread)) == (
        ([young], ["new", "shared"]),
        ([other], ["alone"]),
    )
    assert snapshots.rebuild(young)


def test_the_newest_request_of_each_purpose_stays(thread: Thread) -> None:
    make_request(thread, 50 * DAY, "first")
    reply = make_request(thread, 40 * DAY, "second")
    rewriting = make_request(thread, 39 * DAY, "third", purpose=ContextSnapshot.Purpose.REWRITE)
    make_request(thread, 38 * DAY, "fourth", purpose=ContextSnapshot.Purpose.CONSOLIDATION, reply=None)
    notes = make_request(thread, 37 * DAY, "fifth", purpose=ContextSnapshot.Purpose.CONSOLIDATION, reply=None)
    retention.apply()
    assert stored_requests(thread) == ([reply, rewriting, notes], ["fifth", "second", "third"])


def test_nothing_leaves_while_a_reply_runs_or_unless_it_is_asked_for(thread: Thread, settings: Settings) -> None:
    requests = [make_request(thread, age * DAY, "a text") for age in (50, 40)]
    running = make_reply(thread, status=Reply.Status.RUNNING)
    retention.apply()
    assert stored_requests(thread) == (requests, ["a text"])
    running.delete()
    settings.OPENBOOK_SNAPSHOT_DAYS = 0
    retention.apply()
    assert stored_requests(thread) == (requests, ["a text"])


def test_finished_tasks_leave_when_they_are_old() -> None:
    now = timezone.now()
    for status, days in [("SUCCESSFUL", 8), ("FAILED", 8), ("SUCCESSFUL", 6), ("READY", 8)]:
        task = consolidate_user.enqueue(days)
        DBTaskResult.objects.filter(id=task.id).update(status=status, finished_at=now - days * DAY)
    retention.apply()
    assert sorted(DBTaskResult.objects.values_list("status", "args_kwargs__args__0")) == [
        ("READY", 8),
        ("SUCCESSFUL", 6),
    ]
