"""What a page shows of files: pages as pictures, small pictures, and which parts each reply was given."""

import asyncio
import io
import shutil
from collections.abc import Iterator
from typing import Any
from unittest.mock import ANY

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from PIL import Image
from pytest_django import Settings

from artifacts.reading import process
from conversations.context.files.excerpts import read_ranges
from conversations.files import drawing, storage, thumbnails
from conversations.models import BytesToRemove, File, UserLimits
from conversations.runtime.db import in_database
from tests.artifacts.reading.helpers import SAMPLES
from tests.conversations.factories import make_file
from tests.conversations.rest.client import Api
from tests.uploads import FORM, form, stored

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine", "files_folder")]

REPORT = (SAMPLES / "report.pdf").read_bytes()
PDF: dict[str, Any] = {
    "name": "report.pdf",
    "kind": "pdf",
    "media_type": "application/pdf",
    "state": "ready",
    "pages_total": 2,
}


@pytest.fixture
def files_folder(settings: Settings) -> Iterator[None]:
    """Empty, and emptied."""
    shutil.rmtree(settings.OPENBOOK_FILES_DIR, ignore_errors=True)
    yield
    shutil.rmtree(settings.OPENBOOK_FILES_DIR, ignore_errors=True)


async def picture_of(api: Api, path: str) -> Image.Image:
    response: Any = await api.client.get(f"/api/v1/{path}", headers=api.headers)
    content = b"".join([piece async for piece in response]) if response.streaming else response.content
    assert response.status_code == 200, content
    assert response.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert response.headers["Cache-Control"] == "private, no-cache"
    return Image.open(io.BytesIO(content))


async def test_a_page_is_drawn_when_it_is_asked_for_with_those_after_it(
    api: Api, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = await in_database(make_file)(user, REPORT, **PDF)
    for page in (1, 2):
        assert max((await picture_of(api, f"files/{file.id}/pages/{page}/")).size) == 1_568
        monkeypatch.setattr(drawing, "_draw", None)  # the second one is there already
    assert list(await in_database(stored)()) == [f"kept/{file.place}"], "nothing is left to work in"
    for number in ("0", "3", "x", "²", "1" * 30):
        answer = await api.get(f"files/{file.id}/pages/{number}/")
        assert answer.code == (404, "not_found", "picture_not_found")


async def test_whoever_has_a_page_gets_its_tag_alone(api: Api, user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    file = await in_database(make_file)(user, REPORT, **PDF)
    tag = (await api.get(f"files/{file.id}/pages/1/")).headers["etag"]
    monkeypatch.setattr(drawing, "page_picture", None)
    known = await api.get(f"files/{file.id}/pages/1/", **{"If-None-Match": tag})
    assert (known.status, known.body) == (304, "")
    await api.call("DELETE", f"files/{file.id}/")
    gone = await api.get(f"files/{file.id}/pages/1/", **{"If-None-Match": tag})
    assert gone.code == (404, "not_found", "file_not_found")


async def test_pages_that_are_asked_for_at_once_are_drawn_by_one_process(
    api: Api, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = await in_database(make_file)(user, REPORT, **PDF)
    drawn: list[int] = []
    draw = drawing._draw

    def counted(file: File, page: int) -> dict[int, bytes]:
        drawn.append(page)
        return draw(file, page)

    monkeypatch.setattr(drawing, "_draw", counted)
    answers = await asyncio.gather(*(api.get(f"files/{file.id}/pages/{page}/") for page in (1, 2, 1, 2)))
    assert ([answer.status for answer in answers], len(drawn)) == ([200] * 4, 1 if drawn[0] == 1 else 2)


async def test_a_page_that_cannot_be_drawn_says_why(api: Api, user: User) -> None:
    file = await in_database(make_file)(user, b"%PDF-1.7\nnothing follows", **PDF)
    answer = await api.get(f"files/{file.id}/pages/1/")
    assert answer.code == (404, "not_found", "picture_not_found")
    assert "damaged" in answer.refusal[1]["message"]
    text = await in_database(make_file)(user, state="ready")
    assert "Only pages of PDFs" in (await api.get(f"files/{text.id}/pages/1/")).refusal[1]["message"]


def test_so_many_bytes_of_pages_are_held_the_last_ones() -> None:
    held = drawing.HeldPictures(10)
    file = File().id
    for page in (1, 2, 1, 3):
        held.put((file, page), b"four")
        held.get((file, 1))
    assert [held.get((file, page)) for page in (1, 2, 3)] == [b"four", None, b"four"]


@pytest.mark.parametrize("content", [b"", REPORT], ids=["picture", "PDF"])
async def test_a_small_picture_is_made_once_and_goes_with_its_file(
    api: Api, user: User, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    if content:
        file = await in_database(make_file)(user, content, **PDF)
    else:
        photo = io.BytesIO()
        Image.new("RGB", (1200, 800), "teal").save(photo, "JPEG")
        known: dict[str, Any] = {"name": "photo.jpg", "kind": "image", "media_type": "image/jpeg", "state": "ready"}
        file = await in_database(make_file)(user, photo.getvalue(), **known)
    for _ in range(2):
        picture = await picture_of(api, f"files/{file.id}/thumbnail/")
        assert (picture.format, max(picture.size)) == ("WEBP", 400)
        monkeypatch.setattr(process, "thumbnail", None)
    await file.arefresh_from_db()
    assert set(await in_database(stored)()) == {f"kept/{file.place}", f"kept/{file.thumbnail}"}
    assert not await BytesToRemove.objects.aexists()
    await api.call("DELETE", f"files/{file.id}/")
    await in_database(storage.remove_due)(timezone.now())
    assert await in_database(stored)() == {}


async def test_a_small_picture_that_takes_the_place_of_another_removes_it(user: User, settings: Settings) -> None:
    file = await in_database(make_file)(user, REPORT, **PDF)

    def replaced() -> set[str]:
        first = thumbnails.place_of(file)
        path = settings.OPENBOOK_FILES_DIR / "another.webp"
        path.write_bytes(b"RIFF, smaller")
        second = thumbnails.store(file, path)
        storage.remove_due(timezone.now())
        return {f"kept/{file.place}", f"kept/{second}"} - {first}

    assert set(await in_database(stored)()) != (expected := await in_database(replaced)())
    assert set(await in_database(stored)()) == expected


async def test_small_pictures_count_among_a_persons_bytes(api: Api, user: User) -> None:
    file = await in_database(make_file)(user, b"x" * 2**19, state="ready")
    await UserLimits.objects.acreate(user=user, files_mb=1)
    await File.objects.filter(id=file.id).aupdate(thumbnail_size=2**18)
    answer = await api.send("POST", "files/", form(b"y" * (2**18 + 1)), FORM)
    assert answer.code == (413, "invalid_request", "files_full")
    assert answer.refusal[1]["details"] == {"limit": 2**20, "used": 2**19 + 2**18}


async def test_of_a_text_there_is_no_small_picture(api: Api, user: User) -> None:
    file = await in_database(make_file)(user, state="ready")
    assert (await api.get(f"files/{file.id}/thumbnail/")).code == (404, "not_found", "picture_not_found")


async def test_each_reply_tells_what_it_was_given_of_a_file_and_why_not_the_rest(api: Api, user: User) -> None:
    filler = "Nothing else of any interest happened that quarter, as everybody could tell. " * 60
    texts = [filler + ("The ferry is painted crimson." if page == 30 else "") for page in range(1, 41)]
    file = await in_database(make_file)(user, REPORT, parts=texts, **PDF)
    other = await in_database(make_file)(user, state="ready", parts=["The harbour."])
    asked = {"content": "Which page tells of the crimson ferry?", "files": [str(file.id)]}
    thread = (await api.post("threads/new/messages/", asked)).body["thread"]
    await api.post(f"threads/{thread}/messages/", {"content": "And this?", "files": [str(other.id)]})
    newest, first = (await api.get(f"files/{file.id}/given/")).body["replies"]
    assert first | {"given": ANY, "left_out": ANY} == {
        "reply": ANY,
        "request": ANY,
        "position": 2,
        "created_at": ANY,
        "question": "Which page tells of the crimson ferry?",
        "words": ANY,
        "given": ANY,
        "left_out": ANY,
    }
    given = set(read_ranges(first["given"]))
    left_out = [number for row in first["left_out"] for number in read_ranges(row["parts"])]
    assert 30 in given
    assert sorted([*given, *left_out]) == list(range(1, 41)), "each part once"
    assert {row["reason"] for row in first["left_out"]} <= {"unrelated", "over_budget"}
    assert given <= set(read_ranges(newest["given"])), "what stood in the turn before stays there"
    assert [each["position"] for each in (await api.get(f"files/{other.id}/given/")).body["replies"]] == [4]
    unsent = await in_database(make_file)(user, state="ready", parts=["The harbour."])
    assert (await api.get(f"files/{unsent.id}/given/")).body == {"replies": []}
