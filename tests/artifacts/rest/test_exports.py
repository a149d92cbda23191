"""Artifacts and threads as files over REST: named, attached, and importable again."""

import io
import json
import zipfile
from typing import Any

import pytest
from django.contrib.auth.models import User

from artifacts import services
from conversations.import_export.thread_folder import pages, zipped
from conversations.models import Message, Thread, text_blocks
from conversations.runtime.db import in_database
from tests.artifacts.factories import make_artifact
from tests.conversations.factories import chain, make_thread
from tests.conversations.rest.client import Api
from tests.statements import statements

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

CALL = {"type": "tool_use", "id": "t1", "name": "save_artifact", "input": {"title": "План", "content": "x" * 900}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "Saved as version 1."}]}


async def bytes_of(api: Api, path: str) -> tuple[bytes, dict[str, str]]:
    response = await api._response("GET", path, b"", "application/json", {})
    assert response.status_code == 200
    content = b"".join([part async for part in response]) if response.streaming else response.content
    return content, {name.lower(): value for name, value in response.headers.items()}


async def test_an_artifact_is_exported_as_a_file_to_keep(user: User, api: Api) -> None:
    thread = await in_database(make_thread)(user)
    artifact = await in_database(make_artifact)(thread, "# Old", "# Новое", title="План/1")
    path = f"artifacts/{artifact.id}/export/"
    body, headers = await bytes_of(api, f"{path}?version=1")
    assert body == b"# Old"
    assert {name: headers[name] for name in ("content-type", "content-disposition", "content-security-policy")} == {
        "content-type": "text/markdown; charset=utf-8",
        "content-disposition": "attachment; filename*=utf-8''%D0%9F%D0%BB%D0%B0%D0%BD-1.md",
        "content-security-policy": "sandbox; default-src 'none'",
    }
    page, headers = await bytes_of(api, f"{path}?as=html")
    assert ('<h1 dir="auto">Новое</h1>' in page.decode(), headers["x-content-type-options"]) == (True, "nosniff")
    assert (await bytes_of(api, f"{path}?as=pdf"))[0].startswith(b"%PDF-")
    assert (await api.get(f"{path}?as=rtf")).code == (400, "invalid_request", "export_unknown")
    assert (await api.get(f"{path}?version=3")).code == (404, "not_found", "version_not_found")
    assert (await api.get(f"{path}?version=x")).code == (404, "not_found", "version_not_found")


def filled(user: User) -> Thread:
    thread = make_thread(user, title="Отчёт: Q3", message_count=2, last_position=2)
    question, answer = chain(thread, ["Write a plan", "I write.\n\nHere it is."])
    thought = {"type": "thinking", "thinking": "They want\na plan."}
    answer.content = [thought, *text_blocks("I write."), CALL, RESULT, *text_blocks("Here it is.")]
    Message.objects.bulk_create([question, answer])
    make_artifact(thread, "# One", "# Two", title="План")
    make_artifact(thread, "x = 1", title="план", kind="code", language="python")
    make_artifact(thread, "a,b", title="Table", kind="table")
    services.delete(make_artifact(thread, "gone", title="Gone"), at=thread.created_at)
    return thread


async def test_a_thread_is_exported_with_all_versions_and_can_be_imported_again(
    user: User, api: Api, others_api: Api
) -> None:
    thread = await in_database(filled)(user)
    body, headers = await bytes_of(api, f"threads/{thread.id}/export/")
    assert headers["content-disposition"].endswith("%D0%9E%D1%82%D1%87%D1%91%D1%82-%20Q3.zip")
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        assert archive.testzip() is None
        files = {name.removeprefix("Отчёт- Q3/"): archive.read(name).decode() for name in archive.namelist()}
    talk, document = files.pop("conversation.md"), json.loads(files.pop("conversation.json"))
    assert files == {
        "artifacts/План.md": "# Two",
        "artifacts/План/v1.md": "# One",
        "artifacts/план (2).py": "x = 1",
        "artifacts/Table.csv": "a,b",
    }
    said = talk.split("UTC")[-1].strip()
    notes = "> Tool `save_artifact`: План\n\n> Result: Saved as version 1."
    assert said == f"> Thinking: They want a plan.\n\nI write.\n\n{notes}\n\nHere it is."
    assert "**You** · " in talk
    assert (await others_api.post("import/?ids=new", document)).status == 201
    stored = [each async for each in Thread.objects.filter(title="Отчёт: Q3").order_by("created_at")]
    assert [each.message_count for each in stored] == [2, 2]


async def test_a_zip_takes_the_same_statements_however_much_is_in_it(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[int, list[str]] = {}
    for artifacts in (1, 9):
        thread = await in_database(make_thread)(user, ["Hello", "Hi"] * artifacts)
        for number in range(artifacts):
            await in_database(make_artifact)(thread, "one", "two", title=f"A{number}")
        with statements(monkeypatch) as asked[artifacts]:
            files = b"".join([piece async for piece in zipped(thread)])
        assert len(zipfile.ZipFile(io.BytesIO(files)).namelist()) == 2 + 2 * artifacts
    assert len(asked[1]) == len(asked[9]) == 15


def test_versions_are_read_in_pages_of_bounded_size() -> None:
    sizes: list[Any] = [(1, 900_000), (2, 200_000), (3, 5_000_000), *((number, 1) for number in range(4, 250))]
    assert [(page[0], len(page)) for page in pages(sizes)] == [(1, 1), (2, 1), (3, 1), (4, 200), (204, 46)]
