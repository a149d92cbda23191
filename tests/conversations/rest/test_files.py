"""Files over REST: taken in, looked at, taken along, deleted; and what is refused, in words, leaves nothing."""

import asyncio
import hashlib
import shutil
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from unittest.mock import ANY

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient
from django.utils import timezone
from django_tasks_db.models import DBTaskResult
from pytest_django import Settings

from conversations.files import storage
from conversations.models import BytesToRemove, File, FilePart, UserLimits
from conversations.rest import attachments
from conversations.runtime.db import in_database
from conversations.tasks import read_file
from tests.conversations.factories import make_file, make_reply, make_thread_with_file
from tests.conversations.rest.client import Api, ApiResponse
from tests.uploads import FORM, form, stored

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine", "files_folder")]

NOTES = b"# Harbour\n\nThe ferry leaves at nine.\n"


@pytest.fixture
def files_folder(settings: Settings) -> Iterator[None]:
    """Empty, and emptied."""
    shutil.rmtree(settings.OPENBOOK_FILES_DIR, ignore_errors=True)
    yield
    shutil.rmtree(settings.OPENBOOK_FILES_DIR, ignore_errors=True)


async def upload(api: Api, content: bytes = NOTES, name: str = "notes.md") -> ApiResponse:
    return await api.send("POST", "files/", form(content, name), FORM)


def tasks() -> list[Any]:
    found = DBTaskResult.objects.filter(task_path=read_file.module_path)
    return list(found.values_list("queue_name", "args_kwargs__args"))


async def test_an_upload_is_stored_described_and_waits_for_being_read(api: Api, user: User) -> None:
    answer = await upload(api)
    assert (answer.status, answer.body) == (
        201,
        {
            "id": ANY,
            "name": "notes.md",
            "kind": "text",
            "media_type": "text/markdown",
            "bytes": len(NOTES),
            "picture_bytes": 0,
            "status": "reading",
            "error": None,
            "left_out": [],
            "title": "",
            "pages": None,
            "pages_read": 0,
            "parts": 0,
            "tokens": 0,
            "thread": None,
            "project": None,
            "created_at": ANY,
        },
    )
    file = await File.objects.aget()
    assert (str(file.id), file.user_id, bytes(file.sha256)) == (
        answer.body["id"],
        user.pk,
        hashlib.sha256(NOTES).digest(),
    )
    assert await in_database(stored)() == {f"kept/{file.place}": NOTES}
    assert await in_database(tasks)() == [("files", [str(file.id)])]
    assert await BytesToRemove.objects.acount() == 0
    assert (await api.get(f"files/{file.id}/")).body == answer.body
    assert (await api.get("files/")).body["results"] == [answer.body]


async def test_files_are_for_their_owner_alone_also_on_the_disk(api: Api, settings: Settings) -> None:
    await upload(api, name="My secret diary.md")
    root = settings.OPENBOOK_FILES_DIR
    paths = [root, *root.rglob("*")]
    assert {oct(path.stat().st_mode & 0o777) for path in paths if path.is_dir()} == {"0o700"}
    assert [oct(path.stat().st_mode & 0o777) for path in paths if path.is_file()] == ["0o600"]
    assert [path for path in paths if "diary" in path.name.lower()] == []


async def test_two_go_up_at_once(api: Api) -> None:
    answers = await asyncio.gather(*(upload(api, b"number %d" % number, f"{number}.txt") for number in range(2)))
    assert [answer.status for answer in answers] == [201, 201]
    assert sorted((await in_database(stored)()).values()) == [b"number 0", b"number 1"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("/etc/cron.d/x.txt", "x.txt"),
        ("a\tb\x01.txt", "ab.txt"),
        ("invoice\N{RIGHT-TO-LEFT OVERRIDE}fdp.exe.txt", "invoicefdp.exe.txt"),
        ("  ...hidden ", "hidden"),
        (
            "e\N{COMBINING ACUTE ACCENT}t\N{COMBINING ACUTE ACCENT}.txt",
            "\N{LATIN SMALL LETTER E WITH ACUTE}t\u0301.txt",
        ),
        ("x" * 300 + ".markdown", "x" * 190 + "….markdown"),
        ("💥" * 150 + ".csv", "💥" * 150 + ".csv"),
        ("<script>alert(1)</script>.txt", "script>.txt"),
        ("no ending", "no ending"),
    ],
)
async def test_names_are_cleaned_and_lead_nowhere(api: Api, given: str, kept: str) -> None:
    answer = await upload(api, name=given)
    assert (answer.status, answer.body["name"]) == (201, kept)
    (path,) = await in_database(stored)()
    assert path.startswith("kept/")


async def test_what_is_refused_says_what_to_do_and_leaves_nothing(api: Api) -> None:
    cases: list[tuple[bytes, str, tuple[int, str], str]] = [
        (form(b"\x7fELF" + bytes(99), "report.pdf"), FORM, (400, "unknown_type"), "PDF, Word"),
        (form(b"", "empty.txt"), FORM, (400, "empty"), "empty"),
        (form(NOTES, field="document"), FORM, (400, "invalid_upload"), "Send it as `file`"),
        (form(NOTES, name=""), FORM, (400, "invalid_upload"), "with a file name"),
        (form(NOTES)[:-2].replace(b"--\r\n", b"\r\n") + form(NOTES), FORM, (400, "invalid_upload"), "call of its own"),
        (b"", FORM, (400, "invalid_upload"), "holds no file"),
        (b"nothing of the kind", FORM, (400, "invalid_upload"), "holds no file"),
        (form(NOTES), "multipart/form-data", (400, "invalid_upload"), "boundary"),
        (b'{"file": "notes"}', "application/json", (415, "unsupported_media_type"), "media type"),
    ]
    for body, kind, code, words in cases:
        answer = await api.send("POST", "files/", body, kind)
        assert (answer.status, answer.refusal[1]["code"]) == code, body
        assert words in answer.refusal[1]["message"], body
        await assert_nothing_is_left()


async def assert_nothing_is_left() -> None:
    await in_database(storage.remove_due)(timezone.now())
    assert await in_database(stored)() == {}
    assert (await File.objects.acount(), await BytesToRemove.objects.acount(), await in_database(tasks)()) == (0, 0, [])


async def test_what_is_too_large_is_refused(api: Api, settings: Settings) -> None:
    settings.OPENBOOK_MAX_FILE_MB = 1
    answer = await upload(api, b"x" * (2**20 + 1))
    assert answer.code == (413, "invalid_request", "file_too_large")
    assert answer.refusal[1]["details"] == {"limit": 2**20}
    await assert_nothing_is_left()
    assert (await upload(api, b"x" * 2**20)).status == 201


async def test_a_persons_files_have_so_much_room_together(api: Api, others_api: Api, user: User) -> None:
    await UserLimits.objects.acreate(user=user, files_mb=1)
    assert (await upload(api, b"x" * 2**19)).status == 201
    answer = await upload(api, b"y" * (2**19 + 1))
    assert answer.code == (413, "invalid_request", "files_full")
    assert answer.refusal[1]["details"] == {"limit": 2**20, "used": 2**19}
    assert "delete files" in answer.refusal[1]["message"]
    assert (await upload(others_api, b"y" * (2**19 + 1))).status == 201
    await api.call("DELETE", f"files/{(await api.get('files/')).body['results'][0]['id']}/")
    assert (await upload(api, b"y" * (2**19 + 1))).status == 201


async def test_of_uploads_at_once_no_more_are_taken_than_there_is_room_for(api: Api, user: User) -> None:
    await UserLimits.objects.acreate(user=user, files_mb=1)
    answers = await asyncio.gather(*(upload(api, b"x" * 400_000) for _ in range(4)))
    assert sorted(answer.status for answer in answers) == [201, 201, 413, 413]
    await in_database(storage.remove_due)(timezone.now())
    assert len(await in_database(stored)()) == 2


async def test_so_many_may_wait_for_being_read(api: Api, user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conversations.files.uploads.MOST_READING", 2)
    assert [(await upload(api)).status for _ in range(3)] == [201, 201, 429]
    await File.objects.all().aupdate(state=File.State.READY)
    assert (await upload(api)).status == 201


async def test_a_page_uploads_with_its_session_and_the_header_against_forgery(user: User) -> None:
    client = AsyncClient(enforce_csrf_checks=True)
    await client.aforce_login(user)
    browser = Api()
    browser.client = client
    assert (await upload(browser)).status == 403
    await assert_nothing_is_left()
    client.cookies["csrftoken"] = "c" * 32
    browser.headers = {"X-CSRFToken": "c" * 32}
    assert (await upload(browser)).status == 201


async def test_the_bytes_come_back_as_they_were_and_are_shown_by_nothing(api: Api, user: User) -> None:
    page = b"<!doctype html><script>alert(document.cookie)</script>" + bytes(range(32, 127)) * 9_000
    file = await in_database(make_file)(user, page, name="page (1).html", media_type="text/html")
    response: Any = await api.client.get(f"/api/v1/files/{file.id}/content/", headers=api.headers)
    assert b"".join([piece async for piece in response]) == page
    told = {name.lower(): value for name, value in response.headers.items()}
    assert (
        told.items()
        >= {
            "content-type": "text/html",
            "content-length": str(len(page)),
            "content-disposition": 'attachment; filename="page (1).html"',
            "content-security-policy": "sandbox; default-src 'none'",
            "x-content-type-options": "nosniff",
            "cache-control": "no-store",
            "accept-ranges": "bytes",
        }.items()
    )


async def test_ranges(api: Api, user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    cases: list[tuple[str, int, bytes, str | None]] = [
        ("bytes=0-3", 206, b"0123", "bytes 0-3/10"),
        ("bytes=7-", 206, b"789", "bytes 7-9/10"),
        ("bytes=-2", 206, b"89", "bytes 8-9/10"),
        ("bytes=-99", 206, b"0123456789", "bytes 0-9/10"),
        ("bytes=8-99", 206, b"89", "bytes 8-9/10"),
        ("bytes=10-", 416, b"", "bytes */10"),
        ("bytes=-0", 416, b"", "bytes */10"),
        ("bytes=5-2", 200, b"0123456789", None),
        ("bytes=0-1,3-4", 200, b"0123456789", None),
        ("bytes=-", 200, b"0123456789", None),
        ("lines=1-2", 200, b"0123456789", None),
    ]
    for asked, status, content, told in cases:
        monkeypatch.setattr(attachments, "PIECE", 4)
        file = await in_database(make_file)(user, b"0123456789")
        answer = await api.get(f"files/{file.id}/content/", Range=asked)
        assert (answer.status, answer.body.encode(), answer.headers.get("content-range")) == (status, content, told), (
            asked
        )


async def test_parts_are_listed_without_their_texts_and_read_one_by_one(api: Api, user: User) -> None:
    file = await in_database(make_file)(user, NOTES, state="ready", parts=["The ferry leaves at nine.", "It is red."])
    first = {
        "number": 1,
        "label": "section 1",
        "heading": "",
        "page": None,
        "tokens": ANY,
        "picture": False,
        "width": None,
        "height": None,
    }
    listed = (await api.get(f"files/{file.id}/parts/")).body["results"]
    assert listed == [first, first | {"number": 2, "label": "section 2"}]
    read = (await api.get(f"files/{file.id}/parts/2/")).body
    assert read == listed[1] | {"text": "It is red."}
    for number in ("0", "3", "-1", "x", "1" * 30, "²"):
        assert (await api.get(f"files/{file.id}/parts/{number}/")).code == (404, "not_found", "part_not_found")


async def test_pictures_are_shown_and_can_do_nothing(api: Api, user: User) -> None:
    picture = b"\x89PNG\r\n\x1a\n and so on"
    file = await in_database(make_file)(user, b"...", state="ready", parts=["", "words"], picture=picture)
    answer = await api.get(f"files/{file.id}/parts/1/picture/")
    assert (answer.status, answer.headers["content-type"], answer.headers["content-length"]) == (
        200,
        "image/png",
        str(len(picture)),
    )
    assert answer.headers["content-disposition"] == 'inline; filename="1.png"'
    assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert (await api.get(f"files/{file.id}/parts/2/picture/")).code == (404, "not_found", "picture_not_found")


async def test_while_a_reply_runs_only_files_that_are_in_no_message_are_deleted(api: Api, user: User) -> None:
    thread, sent = await in_database(make_thread_with_file)(user, ["words"], turns=["Read this."])
    chosen = await in_database(make_file)(user, NOTES)
    lease = timezone.now() + timedelta(seconds=30)
    await in_database(make_reply)(thread, status="running", lease_until=lease)
    assert (await api.call("DELETE", f"files/{chosen.id}/")).status == 204
    assert (await api.call("DELETE", f"files/{sent.id}/")).code == (409, "conflict", "reply_in_progress")


async def test_what_is_deleted_goes_with_its_parts_and_all_its_bytes(api: Api, user: User) -> None:
    file = await in_database(make_file)(user, NOTES, state="ready", parts=["words"], picture=b"\x89PNG")
    assert len(await in_database(stored)()) == 2
    assert (await api.call("DELETE", f"files/{file.id}/")).status == 204
    assert (await api.get(f"files/{file.id}/")).code == (404, "not_found", "file_not_found")
    assert await FilePart.objects.acount() == 0
    await assert_nothing_is_left()
