"""What is deleted after a while, and what stays."""

import io
import json
import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.utils import timezone
from django_tasks_db.models import DBTaskResult
from pytest_django import Settings

from config.settings import env_days
from conversations.context.record import snapshots
from conversations.context.record.snapshot_codec import NamedText, pack_texts
from conversations.context.render.rendering import sha256
from conversations.models import ContextBlock, ContextSnapshot, Reply, Thread
from conversations.runtime.ids import lowest_uuid7, uuid7
from conversations.threads.deletion import allow_deletion
from conversations.upkeep import expired, retention
from memory.tasks import consolidate_user
from tests.conversations.factories import make_file, make_reply, make_snapshot, make_thread, make_user

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


def make_quiet(thread: Thread, age: timedelta) -> Thread:
    Thread.objects.filter(id=thread.id).update(updated_at=timezone.now() - age)
    return thread


def test_threads_without_a_turn_leave_where_a_setting_says_so(thread: Thread, settings: Settings) -> None:
    quiet, other = make_quiet(thread, 400 * DAY), make_quiet(make_thread(thread.user, ["Hello?"]), 364 * DAY)
    busy = make_quiet(make_thread(make_user("bob"), ["Hello?"]), 500 * DAY)
    make_reply(busy, status=Reply.Status.RUNNING)
    retention.apply()
    assert set(Thread.objects.all()) == {quiet, other, busy}
    settings.OPENBOOK_THREAD_DAYS = 365
    retention.apply()
    assert set(Thread.objects.all()) == {other, busy}


def preview(**days: int) -> dict[str, dict[str, Any]]:
    """By kind, as the command tells it."""
    output = io.StringIO()
    arguments = [f"--days={kind}={number}" for kind, number in days.items()]
    call_command("retention", *arguments, "--json", stdout=output)
    return {each["kind"]: each for each in json.loads(output.getvalue())}


def test_a_preview_tells_what_would_go_and_deletes_nothing(thread: Thread, settings: Settings) -> None:
    settings.OPENBOOK_SNAPSHOT_DAYS = 0
    make_request(thread, 50 * DAY, "a text")
    newest = make_request(thread, 40 * DAY, "another")
    file = make_file(thread.user, b"in no message", id=uuid_at(timezone.now() - 2 * DAY))
    make_quiet(thread, 60 * DAY)
    make_quiet(make_thread(thread.user, ["Hello?"]), 70 * DAY)
    kept = ("threads", "snapshots", "accesses")
    assert [(preview()[kind]["days"], preview()[kind]["count"]) for kind in kept] == [(None, 0)] * 3

    told = preview(threads=65, snapshots=45)
    assert (told["unsent_files"]["count"], told["unsent_files"]["bytes"]) == (1, file.size)
    assert [told[kind]["count"] for kind in kept] == [1, 1, 0]
    assert datetime.fromisoformat(told["threads"]["oldest"]).date() == (timezone.now() - 70 * DAY).date()
    assert 0 < told["threads"]["bytes"] < told["snapshots"]["bytes"] < 10_000
    assert preview(snapshots=30)["snapshots"]["count"] == 1, "the newest of a thread stays"
    assert stored_requests(thread)[0][-1] == newest

    settings.OPENBOOK_SNAPSHOT_DAYS = 45
    assert preview()["snapshots"] == told["snapshots"]
    retention.apply()
    assert [preview()[kind]["count"] for kind in ("snapshots", "unsent_files")] == [0, 0]
    assert stored_requests(thread)[0] == [newest]


def test_the_preview_in_words(thread: Thread) -> None:
    make_quiet(thread, 400 * DAY)
    output = io.StringIO()
    call_command("retention", "--days", "threads=365", stdout=output)
    assert "kept for 365 days (OPENBOOK_THREAD_DAYS)\n  1 would go now, the oldest of " in output.getvalue()
    assert "kept for good (OPENBOOK_ACCESS_DAYS)\n  nothing goes" in output.getvalue()


@pytest.mark.parametrize("text", ["threads", "threads=", "threads=-1", "threads=1000000", "events=3"])
def test_a_preview_of_no_such_kind_is_refused(text: str) -> None:
    with pytest.raises(CommandError, match="threads=DAYS, snapshots=DAYS, files=DAYS, feedback=DAYS, "):
        call_command("retention", f"--days={text}")


@pytest.mark.parametrize("value", ["-1", "2.5", "a year", "100000"])
def test_a_setting_that_is_no_number_of_days_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBOOK_THREAD_DAYS", value)
    with pytest.raises(ImproperlyConfigured, match=r"OPENBOOK_THREAD_DAYS is .* set it to a number of days"):
        env_days("OPENBOOK_THREAD_DAYS")


def test_many_are_counted_up_to_a_bound(thread: Thread, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expired, "MOST_THREADS", 2)
    for age in (400, 500, 600):
        make_quiet(make_thread(thread.user, ["Hello?"]), age * DAY)
    told = preview(threads=365)["threads"]
    assert (told["count"], told["is_bounded"]) == (2, True)
    assert datetime.fromisoformat(told["oldest"]).date() == (timezone.now() - 600 * DAY).date()
