"""Files are read by real children, stored as it goes on; what goes wrong costs one file, and nothing is stored twice."""

import io
import shutil
import uuid
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.tasks import TaskResultStatus
from django.utils import timezone
from django_tasks_db.models import DBTaskResult
from PIL import Image
from pytest_django import Settings

from artifacts.reading.left_out import LeftOutObject
from artifacts.reading.limits import Limits
from artifacts.reading.problems import FileProblem
from artifacts.reading.process import Found, LeftOutEntry, Outline, Part
from config.worker import loop
from conversations import schedule
from conversations.context.tokens.estimate import estimate_tokens
from conversations.files import progress, storage, store
from conversations.files.uploads import clean_name
from conversations.models import BytesToRemove, File, FilePart
from conversations.tasks import FILES, TaskFailed, read_file
from tests.conversations.factories import make_file, make_user
from tests.uploads import stored

pytestmark = pytest.mark.django_db

SECTIONS = 30
LONG = "".join(f"# Section {number}\n\n{'The ferry leaves at nine. ' * 400}\n\n" for number in range(SECTIONS)).encode()


@pytest.fixture(autouse=True)
def _folder(settings: Settings) -> Iterator[None]:
    shutil.rmtree(settings.OPENBOOK_FILES_DIR, ignore_errors=True)
    yield
    shutil.rmtree(settings.OPENBOOK_FILES_DIR, ignore_errors=True)


def markdown(content: bytes = LONG) -> File:
    return make_file(make_user(), content, name="plan.md", media_type="text/markdown")


def picture() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (40, 30), "teal").save(file, "PNG")
    return file.getvalue()


def error_of(file: File) -> dict[str, Any]:
    file.refresh_from_db()
    return file.error or {}


def parts_of(file: File) -> list[FilePart]:
    return list(store.parts_of(file))


def test_a_file_is_read_to_its_parts_and_counted() -> None:
    file = markdown()
    progress.read_file(file.id)
    file.refresh_from_db()
    parts = parts_of(file)
    assert (file.state, file.error, file.parts_read, file.attempt) == ("ready", None, len(parts), 1)
    assert [part.number for part in parts] == list(range(1, len(parts) + 1))
    assert {f"Section {number}" for number in range(SECTIONS)} <= {part.heading for part in parts} | {
        part.label.removeprefix('section "').rstrip('"') for part in parts
    }
    assert [part.token_count for part in parts] == [estimate_tokens(part.text) for part in parts]
    assert file.token_count == sum(part.token_count for part in parts)
    assert list(stored()) == [f"kept/{file.place}"], "no folder to work in is left"


def test_pictures_are_kept_in_the_storage_and_claimed() -> None:
    file = make_file(make_user(), picture(), name="shot.png", kind="image", media_type="image/png")
    progress.read_file(file.id)
    (part,) = parts_of(file)
    assert (part.width, part.height) == (40, 30)
    file.refresh_from_db()
    small = stored()[f"kept/{file.thumbnail}"]
    assert (small[:4], len(small)) == (b"RIFF", file.thumbnail_size)
    assert set(stored()) == {f"kept/{file.place}", f"kept/{part.picture}", f"kept/{file.thumbnail}"}
    with storage.open_bytes(part.picture) as kept, Image.open(kept) as image:
        assert image.size == (40, 30)
    assert store.room_of(file.user).used == sum(map(len, stored().values()))
    assert not BytesToRemove.objects.exists()


@pytest.mark.parametrize("content", [b"%PDF-1.7\nnothing of the kind", picture()[:60]])
def test_a_file_that_cannot_be_read_says_why_and_has_no_parts(content: bytes) -> None:
    file = make_file(make_user(), content, name="report.pdf", kind="pdf", media_type="application/pdf")
    progress.read_file(file.id)
    file.refresh_from_db()
    assert (file.state, file.parts_read, parts_of(file)) == ("failed", 0, [])
    assert error_of(file)["type"] == "file"
    assert error_of(file)["message"]


def test_what_stood_there_before_a_problem_stays_and_the_problem_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress, "SHORT_LIMITS", Limits(parts=3))
    file = markdown()
    progress.read_file(file.id)
    file.refresh_from_db()
    assert (file.state, error_of(file)["code"], file.parts_read, len(parts_of(file))) == (
        "ready",
        "too_many_parts",
        3,
        3,
    )


@pytest.mark.parametrize("problem", [None, FileProblem("damaged", "The rest is damaged.")])
def test_what_no_part_holds_is_kept_with_the_file_and_begun_anew_with_it(
    monkeypatch: pytest.MonkeyPatch, problem: FileProblem | None
) -> None:
    charts: LeftOutObject = {"what": "chart\n", "why": "not_read", "count": 2, "places": ['sheet "Q2"'] * 30}

    def found(*_: object) -> Iterator[Found]:
        yield Outline(title="", total=None)
        yield Part(number=1, label="part 1", heading="", text="Some words.")
        yield LeftOutEntry(entry=charts)
        if problem:
            raise problem

    monkeypatch.setattr(progress, "_found", found)
    file = make_file(make_user(), left_out=[charts | {"what": "film"}], attempt=1)
    progress.read_file(file.id)
    file.refresh_from_db()
    assert (file.state, file.parts_read, (file.error or {}).get("code")) == ("ready", 1, problem and problem.code)
    assert file.left_out == [charts | {"what": "chart", "places": charts["places"][:20]}]
    File.objects.filter(pk=file.pk).update(state=File.State.READING)
    progress.give_up(file.id)
    file.refresh_from_db()
    assert (file.state, file.left_out) == ("failed", [])


def test_a_reading_that_was_left_in_the_middle_is_begun_anew_and_nothing_is_there_twice() -> None:
    file = markdown()
    progress.read_file(file.id)
    first = [(part.number, part.text) for part in parts_of(file)]
    File.objects.update(state=File.State.READING)  # as a worker leaves it that was killed before the last step
    left = storage.scratch_root() / f"{file.id}.1"
    left.mkdir()
    (left / "page.png").write_bytes(b"left")
    progress.read_file(file.id)
    file.refresh_from_db()
    assert (file.state, file.attempt, file.parts_read) == ("ready", 2, len(first))
    assert [(part.number, part.text) for part in parts_of(file)] == first
    assert list(stored()) == [f"kept/{file.place}"]


def began_anew(file: File) -> None:
    File.objects.update(attempt=99)


def deleted(file: File) -> None:
    File.objects.all().delete()


@pytest.mark.parametrize("happened", [began_anew, deleted])
def test_whoever_reads_for_an_earlier_attempt_stores_nothing_more(
    happened: Callable[[File], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "STORE_SECONDS", 0)
    file, batches = markdown(), progress._gathered

    def meanwhile(*args: object) -> Iterator[object]:
        """The same parts, and with the third something happens to the row."""
        for number, parts in enumerate(batches(*args), 1):  # type: ignore[arg-type]
            if number == 3:
                happened(file)
            yield parts

    monkeypatch.setattr(progress, "_gathered", meanwhile)
    progress.read_file(file.id)
    assert FilePart.objects.count() == (2 if happened is began_anew else 0)
    assert not File.objects.exclude(state="reading").exists()


@pytest.mark.django_db(transaction=True)
def test_what_breaks_on_the_server_costs_one_file_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    file, other = markdown(), markdown(b"# Other\n\nwords\n")
    (storage.scratch_root().parent / "kept" / file.place).unlink()
    (storage.scratch_root().parent / "kept" / file.place).mkdir()  # what nobody can read
    for each in (file, other):
        read_file.enqueue(str(each.id))
    with pytest.raises(TaskFailed):
        read_file.call(str(file.id))
    with loop.life(FILES) as life:
        while life.step():
            pass
    states = dict(File.objects.values_list("id", "state"))
    assert states == {file.id: "failed", other.id: "ready"}
    assert error_of(file)["code"] == "failed"


SHUT_DOWN = """
CREATE FUNCTION shut_down() RETURNS trigger LANGUAGE plpgsql AS
$$BEGIN RAISE EXCEPTION 'terminating connection due to administrator command' USING ERRCODE = '57P01'; END$$;
CREATE TRIGGER shut_down BEFORE INSERT ON conversations_filepart EXECUTE FUNCTION shut_down()
"""


def test_a_database_that_breaks_off_fails_no_file() -> None:
    file = markdown()
    with connection.cursor() as cursor:
        cursor.execute(SHUT_DOWN)
    with pytest.raises(OperationalError):
        progress.read_file(file.id)
    file.refresh_from_db()
    assert (file.state, file.error) == ("reading", None)
    with connection.cursor() as cursor:
        cursor.execute("DROP FUNCTION shut_down CASCADE")
    progress.read_file(file.id)
    file.refresh_from_db()
    numbers = [part.number for part in parts_of(file)]
    assert (file.state, numbers) == ("ready", list(range(1, len(numbers) + 1)))


def test_a_file_that_is_gone_is_no_failure() -> None:
    read_file.call(str(uuid.uuid4()))
    assert not File.objects.exists()


def test_a_file_whose_worker_was_told_to_end_gets_another_task() -> None:
    file = markdown()
    for _ in range(2):
        schedule.sweep()
    assert waiting(file) == [TaskResultStatus.READY]
    DBTaskResult.objects.update(status=TaskResultStatus.SUCCESSFUL)
    schedule.sweep()
    assert waiting(file) == [TaskResultStatus.READY, TaskResultStatus.SUCCESSFUL]


def test_a_file_that_could_not_be_reached_is_read_again_after_longer_and_longer_rests() -> None:
    file, now = markdown(), timezone.now()
    File.objects.update(attempt=5)  # workers that ended do not count
    schedule.sweep(at=now)
    for seconds in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600):
        DBTaskResult.objects.update(status=TaskResultStatus.FAILED, finished_at=now)
        schedule.sweep(at=now + timedelta(seconds=seconds - 1))
        assert TaskResultStatus.READY not in waiting(file)
        schedule.sweep(at=now + timedelta(seconds=seconds))
        assert waiting(file).count(TaskResultStatus.READY) == 1


def waiting(file: File) -> list[str]:
    found = DBTaskResult.objects.filter(task_path=read_file.module_path, args_kwargs__args=[str(file.id)])
    return sorted(found.values_list("status", flat=True))


def test_a_file_at_which_workers_die_again_and_again_is_given_up() -> None:
    file = markdown()
    read_file.enqueue(str(file.id))
    DBTaskResult.objects.update(status=TaskResultStatus.RUNNING, worker_ids=[*"abcde"])
    schedule.put_back()
    file.refresh_from_db()
    assert (file.state, error_of(file)["code"], waiting(file)) == ("failed", "failed", [TaskResultStatus.FAILED])


@pytest.mark.django_db(transaction=True)
def test_a_worker_of_one_queue_leaves_the_others(user: User) -> None:
    file = markdown(b"# Plan\n\nwords\n")
    read_file.enqueue(str(file.id))
    with loop.life("default") as life:
        while life.step():
            pass
    assert File.objects.get().state == "reading"
    with loop.life(FILES) as life:
        while life.step():
            pass
    assert File.objects.get().state == "ready"


def test_names_of_any_text_are_clean() -> None:
    assert clean_name("\ud800\0/..") == "file"
    assert clean_name("a" * 400) == "a" * 199 + "…"
