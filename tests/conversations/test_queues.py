"""Whoever floods a queue that people share keeps nobody else waiting for more than one item."""

import asyncio
import json
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django_tasks_db.models import DBTaskResult

from artifacts.reading.limits import Limits
from config.worker.loop import OneTask
from conversations import schedule, tasks
from conversations.errors import PictureNotFound
from conversations.files import drawing, progress, thumbnails
from conversations.models import File
from tests.conversations.factories import make_file

pytestmark = pytest.mark.django_db(transaction=True)


def given(user: User, content: bytes = b"Hello", **values: Any) -> File:
    file = make_file(user, name="a.txt", content=content, state=File.State.READING, **values)
    tasks.enqueue_reading(file)
    return file


def order(queue: str = tasks.FILES) -> list[uuid.UUID]:
    """Of the files that wait, as a worker takes them."""
    waiting = DBTaskResult.objects.ready().filter(queue_name=queue)
    return [uuid.UUID(task.args_kwargs["args"][0]) for task in waiting]


def work_off(queue: str) -> None:
    """All that waits there."""
    while True:
        worker = OneTask("worker", queue)
        worker.run()
        if not worker.found:
            return


def test_people_take_turns_with_their_files(user: User, other_user: User) -> None:
    mine = [given(user).id for _ in range(5)]
    theirs = [given(other_user).id for _ in range(2)]
    assert order() == [mine[0], theirs[0], mine[1], theirs[1], *mine[2:]]


def test_a_large_file_leaves_the_short_queue_to_others(user: User, other_user: User) -> None:
    large = given(user, size=progress.SHORT_BYTES + 1)
    small = given(other_user)
    assert (order(), order(tasks.LONG_FILES)) == ([small.id], [large.id])
    OneTask("files", tasks.FILES).run()
    small.refresh_from_db()
    assert small.state == File.State.READY
    schedule.sweep()
    assert order(tasks.LONG_FILES) == [large.id]
    work_off("default")
    large.refresh_from_db()
    assert large.state == File.State.READY


def test_a_file_that_takes_longer_than_others_may_wait_is_read_among_the_long(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "SHORT_LIMITS", Limits(seconds=0.0))
    file = given(user)
    OneTask("files", tasks.FILES).run()
    file.refresh_from_db()
    assert (file.state, order(), order(tasks.LONG_FILES)) == (File.State.READING, [], [file.id])
    OneTask("worker", "default").run()
    file.refresh_from_db()
    assert (file.state, file.attempt) == (File.State.READY, 2)


def test_what_a_person_waits_for_comes_before_long_files(user: User) -> None:
    given(user, size=progress.SHORT_BYTES + 1)
    tasks.remove_bytes.enqueue()
    ready = DBTaskResult.objects.ready().filter(queue_name__in=["default", tasks.LONG_FILES])
    assert [json.dumps(task.task_path).split(".")[-1].strip('"') for task in ready] == ["remove_bytes", "read_file"]


async def test_of_each_person_one_picture_is_drawn_at_a_time(user: User, other_user: User) -> None:
    async with drawing.turn_of(user.pk):
        async with asyncio.timeout(60), drawing.turn_of(other_user.pk):
            pass
        second = asyncio.ensure_future(drawing.turn_of(user.pk).__aenter__())
        await asyncio.sleep(0)
        assert not second.done()
        second.cancel()


def test_a_small_picture_that_can_not_be_drawn_is_tried_a_few_times(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = make_file(user, b"%PDF-1.7 broken", name="a.pdf", kind="pdf", state=File.State.READY)
    for failures in range(1, thumbnails.MOST_TRIES + 1):
        with pytest.raises(PictureNotFound):
            thumbnails.place_of(file)
        file.refresh_from_db()
        assert file.thumbnail_failures == failures
    monkeypatch.setattr("artifacts.reading.process.thumbnail", None)  # not called any more
    with pytest.raises(PictureNotFound):
        thumbnails.place_of(file)
