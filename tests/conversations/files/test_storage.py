"""Bytes go when the rows go that name them, whatever deletes these; and nothing stays that no row names."""

import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone
from django_tasks_db.models import DBTaskResult
from pytest_django import Settings

from conversations import schedule
from conversations.accounts import lifecycle
from conversations.errors import FileNotFound, Unavailable
from conversations.files import storage, store
from conversations.models import AccountDeletion, BytesToRemove, File, Thread
from conversations.runtime.ids import lowest_uuid7
from conversations.tasks import remove_bytes
from conversations.threads import deletion
from conversations.upkeep import retention
from tests.conversations.factories import keep_bytes, make_file, make_thread
from tests.uploads import stored

pytestmark = pytest.mark.django_db

PNG = b"\x89PNG"


@pytest.fixture(autouse=True)
def _folder(settings: Settings) -> Iterator[None]:
    shutil.rmtree(settings.OPENBOOK_FILES_DIR, ignore_errors=True)
    yield
    shutil.rmtree(settings.OPENBOOK_FILES_DIR, ignore_errors=True)


def delete_thread(thread: Thread) -> None:
    deletion.delete_thread(thread)


def delete_account(thread: Thread) -> None:
    now = timezone.now()
    AccountDeletion.objects.create(user=thread.user, asked_at=now, due_at=now)
    lifecycle.delete_due(now)


def delete_rows(thread: Thread) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM conversations_file WHERE thread_id = %s", [thread.id])


def truncate(thread: Thread) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # which the test's own transaction has put off
        cursor.execute("TRUNCATE conversations_file CASCADE")


@pytest.mark.parametrize("delete", [delete_thread, delete_account, delete_rows, truncate])
def test_bytes_go_with_their_rows(delete: Callable[[Thread], None], user: User, other_user: User) -> None:
    thread = make_thread(user, ["What does it say?"])
    for _ in range(2):
        make_file(user, b"secret words", thread=thread, state="ready", parts=["secret", "words"], picture=PNG)
    others = make_file(other_user, b"of somebody else", state="ready")
    kept = {f"kept/{others.place}": b"of somebody else"} if delete is not truncate else {}
    assert len(stored()) == 5
    delete(thread)
    assert list(File.objects.values_list("id", flat=True)) == ([others.id] if kept else [])
    assert storage.remove_due(timezone.now() + timedelta(seconds=1)) == (4 if kept else 5)
    assert stored() == kept
    assert not BytesToRemove.objects.exists()


def test_what_is_uploaded_and_sent_with_nothing_goes_after_a_day(user: User) -> None:
    now = timezone.now()
    make_file(user, b"in no message", id=lowest_uuid7(now - store.ORPHANED - timedelta(seconds=1)))
    sent = make_file(user, thread=make_thread(user), id=lowest_uuid7(now - 2 * store.ORPHANED))
    new = make_file(user)
    retention.apply()
    assert set(File.objects.all()) == {sent, new}
    storage.remove_due(timezone.now() + timedelta(seconds=1))
    assert b"in no message" not in stored().values()


def test_bytes_that_no_row_came_to_name_go_in_a_while() -> None:
    keep_bytes(b"its server was killed")
    assert storage.remove_due(timezone.now() + storage.UNCLAIMED - timedelta(seconds=1)) == 0
    assert storage.remove_due(timezone.now() + storage.UNCLAIMED) == 1
    assert stored() == {}


def test_no_row_names_bytes_that_are_about_to_go() -> None:
    place = keep_bytes(b"its server slept")
    BytesToRemove.objects.update(due_at=timezone.now() + storage.MARGIN)
    with pytest.raises(Unavailable), transaction.atomic():
        storage.claim([place])
    assert BytesToRemove.objects.get().place == place


def test_what_is_gone_already_counts_as_removed_and_what_cannot_be_removed_is_tried_again(settings: Settings) -> None:
    gone, stuck = keep_bytes(b"gone"), keep_bytes(b"stuck")
    kept: Path = settings.OPENBOOK_FILES_DIR / "kept"
    (kept / gone).unlink()
    (kept / stuck).unlink()
    (kept / stuck / "in the way").mkdir(parents=True)
    now = timezone.now() + storage.UNCLAIMED
    assert storage.remove_due(now) == 1
    (kept / stuck / "in the way").rmdir()
    assert storage.remove_due(now) == 0
    assert storage.remove_due(now + storage.PAUSE) == 1


def test_a_worker_is_given_the_task_to_remove_and_once(user: User) -> None:
    now = timezone.now()
    file = make_file(user)
    schedule.sweep(at=now)
    deletion.delete_file(file)
    for _ in range(2):
        schedule.sweep(at=now + timedelta(seconds=1))
    assert DBTaskResult.objects.filter(task_path=remove_bytes.module_path).count() == 1
    assert remove_bytes.call() is None
    assert stored() == {}


def test_what_dead_processes_left_in_the_folder_to_work_in_goes(settings: Settings) -> None:
    for name in ("upload-x", "01a2.1/page.png"):
        path = storage.scratch_root() / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"left")
    storage.remove_scratch()
    assert len(stored()) == 2
    storage.remove_scratch(seconds=0)
    assert list((settings.OPENBOOK_FILES_DIR / "scratch").iterdir()) == []


def test_bytes_that_are_gone_are_not_found() -> None:
    with pytest.raises(FileNotFound):
        storage.open_bytes("00/gone")
